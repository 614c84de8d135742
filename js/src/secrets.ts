/** Texts that must not be shown. */

import type { Outcome } from "./outcome.js";
import type { Result } from "./result.js";
import type { Text } from "./text.js";

const REDACTED = "[redacted]";

/** Texts that must not be shown, and what is shown instead. */
export class Secrets {
  readonly #texts: readonly string[];

  /** @throws TypeError for one text alone, which would be taken letter by letter. */
  constructor(texts: readonly string[] = []) {
    if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string")) {
      throw new TypeError("outlast: secrets must be an array of strings");
    }
    this.#texts = texts.filter(Boolean);
  }

  /** A text without them. */
  redact(text: string): string {
    return this.#texts.reduce((clean, secret) => clean.replaceAll(secret, REDACTED), text);
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
    return { ...outcome, lastError: this.redact(outcome.lastError) };
  }

  #cleaned(text: Text | undefined): Text | undefined {
    if (text === undefined || typeof text === "string") {
      return text && this.redact(text);
    }
    // Each byte is a character of latin1, so that what is no UTF-8 stays as it is.
    let clean = Buffer.from(text).toString("latin1");
    for (const secret of this.#texts) {
      clean = clean.replaceAll(Buffer.from(secret).toString("latin1"), REDACTED);
    }
    return Buffer.from(clean, "latin1");
  }
}
