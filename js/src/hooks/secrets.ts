/** Texts that must not be shown. */

import type { Check } from "../arguments/members.js";
import type { Call } from "../call/call.js";
import type { Outcome } from "../call/outcome.js";
import type { Result } from "../call/result.js";
import type { Text } from "../wire/text.js";

const REDACTED = "[redacted]";

/** Wants an array: one text alone would be taken letter by letter. */
export const checkSecrets: Check = (texts, name) => {
  if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string")) {
    throw new TypeError(`outlast: ${name} must be an array of strings`);
  }
};

/** Texts that must not be shown, and what is shown instead. */
export class Secrets {
  readonly #texts: readonly string[];

  constructor(texts: readonly string[] = []) {
    this.#texts = texts.filter(Boolean);
  }

  /** A text without them. */
  redact(text: string): string {
    return without(text, this.#texts);
  }

  /** A call without them: its label may have some. */
  call(call: Call): Call {
    return call.label ? { ...call, label: this.redact(call.label) } : call;
  }

  /** A result without them. */
  clean(result: Result): Result {
    if (this.#texts.length === 0) {
      return result;
    }
    const { stdout, stderr, message } = result;
    return {
      ...result,
      stdout: this.#cleaned(stdout),
      stderr: this.#cleaned(stderr),
      message: this.#cleaned(message),
    };
  }

  /** An outcome without them; the result in it as it is, since it is the caller's. */
  outcome(outcome: Outcome): Outcome {
    return {
      ...outcome,
      message: this.redact(outcome.message),
      lastError: this.redact(outcome.lastError),
    };
  }

  #cleaned(text: Text | undefined): Text | undefined {
    if (text === undefined || typeof text === "string") {
      return text && this.redact(text);
    }
    // Each byte is a character of latin1, so that what is no UTF-8 stays as it is.
    const latin1 = this.#texts.map((secret) => Buffer.from(secret).toString("latin1"));
    return Buffer.from(without(Buffer.from(text).toString("latin1"), latin1), "latin1");
  }
}

/** A text in which each stretch that secrets cover is replaced. One may be a part of another
 * or overlap it, so all are looked for in the text as it came. */
function without(text: string, secrets: readonly string[]): string {
  const found = secrets.flatMap((secret) => places(text, secret)).sort((a, b) => a[0] - b[0]);
  let clean = "";
  let done = 0;
  for (const [start, end] of found) {
    if (start >= done) {
      clean += text.slice(done, start) + REDACTED;
    }
    done = Math.max(done, end);
  }
  return clean + text.slice(done);
}

function places(text: string, secret: string): [number, number][] {
  const all: [number, number][] = [];
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
    all.push([at, at + secret.length]);
  }
  return all;
}
