/** Passes a request on, again if need be. */

import type { Result } from "../call/result.js";
import { retryAfterOf } from "../evidence/response.js";
import { remember } from "../retry.js";
import { currentAttempt } from "../run/attempt.js";
import type { AttemptContext } from "../run/options.js";
import { run } from "../run/run.js";
import type { Own } from "../run/task.js";
import type { Body } from "./bodies.js";
import type { Asked, Settings } from "./settings.js";

/** What came of sending a request once. */
export interface Answer<A> {
  readonly status: number;
  readonly retryAfter: string | null | undefined;
  /** What the caller gets. */
  readonly value: A;
  /** Nobody wants it. */
  drop(): void;
}

/** Whether a request is a part of an attempt that outlast makes, and so is tried again by that. */
export function isWithin(): boolean {
  return currentAttempt() !== undefined;
}

/**
 * Sends a request as often as the policy says.
 *
 * @param send Sends it once. The body is what this attempt sends.
 * @returns The first answer that is no failure, or the last one that is, if the policy stops there.
 * @throws The client's own error, if that is what the last attempt ended with.
 */
export async function pass<A, B>(
  settings: Settings,
  asked: Asked,
  body: Body<B>,
  send: (body: B, context: AttemptContext) => Promise<Answer<A>>,
): Promise<A> {
  const policy = await settings.policy();
  let last: Answer<A> | undefined;
  const drop = () => {
    last?.drop();
    last = undefined;
  };
  const { call, options, address } = settings.task(asked);
  const attempt = async (context: AttemptContext): Promise<Result> => {
    drop();
    try {
      last = await send(body.next(), context);
    } catch (error) {
      await address?.ended(error);
      throw error;
    }
    const { status, retryAfter } = last;
    const isFirst = context.attempt === 1; // after a failure a write may be in doubt
    if (status < 400 || (isFirst && !(await policy.waitsFor(status)))) {
      return { exitCode: 0 };
    }
    await address?.ended();
    return { httpStatus: status, retryAfter: retryAfterOf(retryAfter) };
  };
  const own: Own = {
    onlyRequest: "if seen",
    isSpent: () => body.isSpent,
    // An answer's connection is not held while it waits.
    hooks: [({ type }) => type === "waiting" && drop()],
  };
  try {
    const { outcome, raised, error } = await run(policy, attempt, call, options, own);
    const { signal } = options;
    const isGivenUp = outcome.type === "cancelled" && signal?.aborted === true;
    const answer = last as Answer<A> | undefined;
    if (answer && !raised && !isGivenUp) {
      remember(answer.value, outcome);
      body.end?.(false);
      return answer.value;
    }
    drop();
    const thrown = isGivenUp ? signal.reason : raised?.error;
    if (thrown === undefined || !settings.reraise) {
      throw error();
    }
    remember(thrown, outcome);
    throw thrown;
  } catch (error) {
    body.end?.(true);
    throw error;
  }
}
