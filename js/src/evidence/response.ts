/** HTTP answers. */

import { anything, checkMembers, type Members } from "../arguments/members.js";
import type { Result } from "../call/result.js";
import { onAbort } from "../time/abort.js";
import { MAX_TEXT_BYTES } from "../wire/text.js";

/** Milliseconds in which the body of an answer must come to be looked at (a choice: it is
 * short, and the status says most). */
const BODY_TIME = 10_000;

/** An answer of `fetch`, whichever package's. */
export interface ResponseLike {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  readonly bodyUsed: boolean;
  readonly body: BodyLike | null;
  clone(): ResponseLike;
}

/** The body of an answer of `fetch`: a web stream, or Node's, as node-fetch has it. */
export type BodyLike = WebBody | NodeBody;

/** What is used of a web stream. */
export interface WebBody {
  readonly locked: boolean;
  cancel(): Promise<unknown>;
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
    cancel(): Promise<unknown>;
  };
}

/** What is used of Node's. */
export interface NodeBody extends AsyncIterable<Uint8Array | string> {
  readonly readableHighWaterMark: number;
  destroy(): unknown;
}

/** How an answer's body is looked at. */
export interface ResponseOptions {
  /** Ends it: what has come counts. */
  readonly signal?: AbortSignal | undefined;
  /** The same after so many milliseconds; 10,000 unless given. */
  readonly timeout?: number | undefined;
}

const OPTIONS: Members<ResponseOptions> = { signal: anything, timeout: anything };

/** Whether a value is an answer of `fetch`, whichever package's. */
export function isResponse(value: unknown): value is ResponseLike {
  const maybe = value as Partial<ResponseLike> | null | undefined;
  return (
    typeof maybe === "object" &&
    maybe !== null &&
    typeof maybe.status === "number" &&
    typeof maybe.ok === "boolean" &&
    typeof maybe.clone === "function" &&
    typeof maybe.headers?.get === "function"
  );
}

/**
 * The result of an exchange that was answered. The body of one that failed is looked at,
 * up to 64 KiB of it, and can still be read afterwards. A body that does not end is not
 * waited for: what has come of it counts.
 */
export async function resultOfResponse(
  response: ResponseLike,
  options: ResponseOptions = {},
): Promise<Result> {
  checkMembers(options, OPTIONS, "the options of resultOfResponse");
  const { status, headers } = response;
  if (response.ok) {
    return { httpStatus: status };
  }
  const message = await start(response, options);
  return { httpStatus: status, message, retryAfter: retryAfterOf(headers.get("retry-after")) };
}

/** Frees the connection of an answer that nobody will read. */
export function discard(value: unknown): void {
  if (!isResponse(value) || value.bodyUsed || !value.body) {
    return;
  }
  if ("destroy" in value.body) {
    value.body.destroy();
  } else if (!value.body.locked) {
    value.body.cancel().catch(() => {}); // it has failed, and nobody wants it
  }
}

async function start(response: ResponseLike, options: ResponseOptions): Promise<Uint8Array> {
  const enough = within(options);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    const body = response.clone().body;
    // Of Node's stream that is read twice, no more comes before the other reader has taken some.
    const most = body && "destroy" in body ? body.readableHighWaterMark : MAX_TEXT_BYTES;
    const reader = body && readerOf(body);
    while (reader && length < most) {
      const { value, done } = await Promise.race([reader.read(), enough.over]);
      if (done || !value) {
        break;
      }
      chunks.push(value);
      length += value.length;
    }
    // Not waited for: of a body that is read twice it ends when both readers have.
    reader?.cancel().catch(() => {});
  } catch {
    // The status has come, and says more than that its text broke off.
  } finally {
    enough.forget();
  }
  return Buffer.concat(chunks).subarray(0, MAX_TEXT_BYTES);
}

function readerOf(body: BodyLike): ReturnType<WebBody["getReader"]> {
  if (!("destroy" in body)) {
    return body.getReader();
  }
  const chunks = body[Symbol.asyncIterator]();
  return {
    read: async () => {
      const { value, done = false } = await chunks.next();
      return { done, value: done ? undefined : Buffer.from(value as Uint8Array) };
    },
    cancel: async () => body.destroy(),
  };
}

/** Is over when a body has had its time, or nobody wants it any more. */
function within({ signal, timeout = BODY_TIME }: ResponseOptions) {
  let forget = () => {};
  const over = new Promise<{ done: true; value?: undefined }>((resolve) => {
    const end = () => resolve({ done: true });
    const forgetSignal = signal && onAbort(signal, end);
    const timer = setTimeout(end, signal?.aborted ? 0 : timeout);
    forget = () => {
      clearTimeout(timer);
      forgetSignal?.();
    };
  });
  return { over, forget };
}

/** A date as HTTP has it (RFC 9110, section 5.6.7), in its three forms. */
const DATE =
  /^[A-Z][a-z]{2,8},? (\d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d GMT|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})$/;

/** A Retry-After header in milliseconds (RFC 9110, section 10.2.3); none if it says nothing. */
export function retryAfterOf(header: string | null | undefined): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) {
    return Number(text) * 1000;
  }
  const utc = text.endsWith("GMT") ? text : `${text} GMT`;
  const when = DATE.test(text) ? Date.parse(utc) : Number.NaN;
  return Number.isNaN(when) ? undefined : Math.max(0, when - Date.now());
}
