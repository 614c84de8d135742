/** What the plugin answers. */

import type { Fault } from "../call/errors.js";
import type { WireError } from "../wire/types.js";

/** The version of the contract that this package speaks. */
const ABI_MAJOR = 1;

/** The code of an error that is a fault of the plugin: its instance is lost. */
const INTERNAL = "internal";

/** The error of an envelope. */
export class AnswerError extends Error {
  /**
   * @param code What sort of error, such as `bad_request`.
   * @param text For people.
   * @param field The member of the request that it is about, or empty.
   * @param faults Of an invalid policy: all of them.
   */
  constructor(
    readonly code: string,
    readonly text: string,
    readonly field = "",
    readonly faults: readonly Fault[] = [],
  ) {
    super([code, field, text].filter(Boolean).join(": "));
  }
}

/** Whether an error is what a sound plugin answered, not a fault of it. */
export function isAnswer(error: unknown): error is AnswerError {
  return error instanceof AnswerError && error.code !== INTERNAL;
}

interface Envelope {
  v?: unknown;
  ok?: unknown;
  error?: Partial<WireError>;
}

/**
 * What an answer has as `ok`.
 *
 * @throws AnswerError if it has an error instead; of the code `internal` if it is no
 *     envelope of this version.
 */
export function openEnvelope(answer: string): unknown {
  const { v, error, ok } = parsed(answer);
  if (v !== ABI_MAJOR) {
    throw new AnswerError(INTERNAL, `the plugin's answer has the version ${v}`, "v");
  }
  if (error) {
    const { code = INTERNAL, message = "", field, faults = [] } = error;
    throw new AnswerError(code, message, field, faults);
  }
  if (typeof ok !== "object" || ok === null) {
    throw new AnswerError(INTERNAL, "the plugin's answer has neither ok nor error");
  }
  return ok;
}

function parsed(answer: string): Envelope {
  let envelope: unknown;
  try {
    envelope = JSON.parse(answer);
  } catch (e) {
    throw new AnswerError(INTERNAL, `the plugin's answer is no JSON: ${e}`);
  }
  if (typeof envelope !== "object" || envelope === null) {
    throw new AnswerError(INTERNAL, "the plugin's answer is no envelope");
  }
  return envelope;
}
