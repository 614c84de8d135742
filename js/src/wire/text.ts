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
  if (bytes.length <= 2 * MAX_TEXT_BYTES) {
    const whole = Buffer.from(utf8(bytes));
    if (whole.length <= MAX_TEXT_BYTES) {
      return { [name]: whole.toString() };
    }
    return { [`${name}_head`]: head(whole), [`${name}_tail`]: tail(whole) };
  }
  // Replaced bytes only make a text longer, so its ends are enough to look at.
  const first = Buffer.from(utf8(bytes.subarray(0, MAX_TEXT_BYTES)));
  const last = Buffer.from(utf8(bytes.subarray(bytes.length - MAX_TEXT_BYTES)));
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

/**
 * Bytes as a string: U+FFFD stands for each byte that is not UTF-8. A decoder that
 * replaces would make one of several bytes.
 */
export function utf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return replaced(view(bytes));
  }
}

function replaced(bytes: Buffer): string {
  const parts: string[] = [];
  let valid = 0; // where the bytes begin that are good and not yet in parts
  for (let i = 0; i < bytes.length; ) {
    const length = character(bytes, i);
    if (length > 0) {
      i += length;
      continue;
    }
    parts.push(bytes.toString("utf8", valid, i), "\ufffd");
    valid = ++i;
  }
  parts.push(bytes.toString("utf8", valid));
  return parts.join("");
}

/** How many bytes the character at a place has; 0 if there is none (RFC 3629, section 4). */
function character(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) {
    return 1;
  }
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (at + length > bytes.length) {
    return 0;
  }
  for (let i = 1; i < length; i++) {
    if (!continues(bytes[at + i])) {
      return 0;
    }
  }
  const second = length > 2 ? bytes[at + 1]! : 0x80;
  const overlong = (first === 0xe0 && second < 0xa0) || (first === 0xf0 && second < 0x90);
  const surrogate = first === 0xed && second > 0x9f;
  const beyond = first === 0xf4 && second > 0x8f;
  return overlong || surrogate || beyond ? 0 : length;
}
