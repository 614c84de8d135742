/** HTTP answers. */

import type { Result } from "./result.js";
import { MAX_TEXT_BYTES } from "./text.js";

/** An answer of `fetch`, whichever package's. */
export interface ResponseLike {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  readonly bodyUsed: boolean;
  readonly body: BodyLike | null;
  clone(): ResponseLike;
}

/** The body of an answer of `fetch`. */
export interface BodyLike {
  readonly locked: boolean;
  cancel(): Promise<unknown>;
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
    cancel(): Promise<unknown>;
  };
}

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
 * up to 64 KiB of it, and can still be read afterwards.
 */
export async function resultOfResponse(response: ResponseLike): Promise<Result> {
  const { status, headers } = response;
  if (response.ok) {
    return { httpStatus: status };
  }
  const message = await start(response);
  return { httpStatus: status, message, retryAfter: retryAfterOf(headers.get("retry-after")) };
}

/** Frees the connection of an answer that nobody will read. */
export function discard(value: unknown): void {
  if (isResponse(value) && !value.bodyUsed && !value.body?.locked) {
    value.body?.cancel().catch(() => {}); // it has failed, and nobody wants it
  }
}

async function start(response: ResponseLike): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    const reader = response.clone().body?.getReader();
    while (reader && length < MAX_TEXT_BYTES) {
      const { value, done } = await reader.read();
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
  }
  return Buffer.concat(chunks).subarray(0, MAX_TEXT_BYTES);
}

/** A Retry-After header in milliseconds (RFC 9110, section 10.2.3); none if it says nothing. */
export function retryAfterOf(header: string | null | undefined): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) {
    return Number(text) * 1000;
  }
  const when = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(when) ? undefined : Math.max(0, when - Date.now());
}
