/** How a call ended. */

import type { WireOutcome } from "../wire/types.js";
import { millis } from "../wire/values.js";
import type { Result } from "./result.js";

/** How a call may end. */
export type OutcomeType = WireOutcome["type"];

/** Whether a write that did not succeed may have been applied. */
export type Effects = NonNullable<WireOutcome["effects"]>;

/** One attempt of a call's history. */
export interface PastAttempt {
  /** Counted from 1. */
  readonly number: number;
  /** When its end was seen, in milliseconds since the call started. */
  readonly at: number;
  /** What failure it was. */
  readonly kind: string;
}

/** How a call ended, and what led there. */
export interface Outcome {
  /** How it ended. */
  readonly type: OutcomeType;
  /** Whether it succeeded. */
  readonly ok: boolean;
  /** What the last failure was; empty if there was none. */
  readonly kind: string;
  /** `unknown` if it was a write that may have been applied. */
  readonly effects: Effects;
  /** What ended it beyond its kind, such as `window` when a budget's time was spent;
   * empty if there is nothing to say. */
  readonly reason: string;
  /** The budget that was spent, empty if none was. */
  readonly budget: string;
  /** Attempts that counted on it. */
  readonly budgetAttempts: number;
  /** Milliseconds since its window opened. */
  readonly budgetSpent: number;
  /** Attempts in all. */
  readonly attempts: number;
  /** Milliseconds since the call started. */
  readonly elapsed: number;
  /** Milliseconds that the server asked for, if that ended the call. */
  readonly retryAfter?: number | undefined;
  /** Milliseconds of the wait that would have come next, if the server's Retry-After or
   * the call's own budget did not allow it. */
  readonly refusedWait?: number | undefined;
  /** The outcome in a sentence that never quotes an attempt. */
  readonly message: string;
  /** What a person can do about it, empty if nothing is known. */
  readonly remedy: string;
  /** What the last attempt said, at most 1 KiB of it. */
  readonly lastError: string;
  /** The first four and the last four attempts that failed. */
  readonly history: readonly PastAttempt[];
  /** The last attempt's result; none if no attempt was made. */
  readonly result?: Result | undefined;
}

/** An outcome as the plugin said it. */
export function readOutcome(said: WireOutcome): Outcome {
  const { retry_after_us: retryAfter, refused_us: refused } = said;
  return {
    type: said.type,
    ok: said.type === "ok",
    kind: said.kind ?? "",
    effects: said.effects ?? "none",
    reason: said.reason ?? "",
    budget: said.budget ?? "",
    budgetAttempts: said.budget_attempts ?? 0,
    budgetSpent: millis(said.budget_spent_us ?? 0),
    attempts: said.attempts ?? 0,
    elapsed: millis(said.elapsed_us ?? 0),
    ...(retryAfter !== undefined && { retryAfter: millis(retryAfter) }),
    ...(refused !== undefined && { refusedWait: millis(refused) }),
    message: said.message ?? "",
    remedy: said.remedy ?? "",
    lastError: said.last_error ?? "",
    history: (said.history ?? []).map((past) => ({
      number: past.attempt ?? 0,
      at: millis(past.at_us),
      kind: past.kind ?? "",
    })),
  };
}
