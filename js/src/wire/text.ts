/** Texts of a result, as the plugin may get them. */

/** A text as it came, which is best, or as a string. */
export type Text = Uint8Array | string;

/** The most that a result may carry of one text, in bytes of UTF-8. */
export const MAX_TEXT_BYTES = 64 << 10;

const HALF = MAX_TEXT_BYTES / 2;

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The members with which a result says a text; none for an empty one. A long text
 * is its head and its tail, which must never be joined.
 */
export function textMembers(name: string, text: Text | undefined): Record<string, string> {
  const bytes = typeof text === "string" ? Buffer.from(text) : view(text ?? new Uint8Array());
  if (bytes.length === 0) {
    return {};
  }
  // Replaced bytes only make a text longer, so its ends are enough to look at.
  const first = Buffer.from(utf8(bytes.subarray(0, MAX_TEXT_BYTES)));
  if (bytes.length <= MAX_TEXT_BYTES && first.length <= MAX_TEXT_BYTES) {
    return { [name]: first.toString() };
  }
  const last = Buffer.from(utf8(bytes.subarray(-MAX_TEXT_BYTES)));
  return { [`${name}_head`]: head(first), [`${name}_tail`]: tail(last) };
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function head(text: Buffer): string {
  let end = HALF;
  while (continues(text[end])) {
    end--;
  }
  return text.toString("utf8", 0, end);
}

function tail(text: Buffer): string {
  let start = text.length - HALF;
  while (continues(text[start])) {
    start++;
  }
  return text.toString("utf8", start);
}

/** Whether a byte is inside of a character of UTF-8. */
function continues(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Characters of UTF-8 (RFC 3629, section 4), with each byte as a character of latin1: several
 * of ASCII, or one. */
const CHARACTERS = [
  String.raw`[^\x80-\xff]+`,
  String.raw`[\xc2-\xdf][\x80-\xbf]`,
  String.raw`\xe0[\xa0-\xbf][\x80-\xbf]`,
  String.raw`[\xe1-\xec\xee\xef][\x80-\xbf]{2}`,
  String.raw`\xed[\x80-\x9f][\x80-\xbf]`,
  String.raw`\xf0[\x90-\xbf][\x80-\xbf]{2}`,
  String.raw`[\xf1-\xf3][\x80-\xbf]{3}`,
  String.raw`\xf4[\x80-\x8f][\x80-\xbf]{2}`,
].join("|");

const CHARACTERS_OR_BYTE = new RegExp(`((?:${CHARACTERS})+)|.`, "gs");

/**
 * Bytes as a string: U+FFFD stands for each byte that is not UTF-8. A decoder that
 * replaces would make one of several bytes.
 */
export function utf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    const latin1 = view(bytes).toString("latin1");
    return latin1.replace(CHARACTERS_OR_BYTE, (_, characters?: string) =>
      characters ? Buffer.from(characters, "latin1").toString() : "\ufffd",
    );
  }
}
