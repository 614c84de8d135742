/** Functions that ride out a restart. */

import type { Call } from "./call.js";
import { errorOf, OutlastError } from "./errors.js";
import type { Outcome } from "./outcome.js";
import { Policy } from "./policy.js";
import { discard, isResponse, resultOfResponse } from "./response.js";
import { type Result, succeeded } from "./result.js";
import type { AttemptContext, RunOptions } from "./run.js";
import { Secrets } from "./secrets.js";
import { RUN_OPTIONS } from "./task.js";
import { checkMembers } from "./wire.js";

/** Maps a value that a function returned to the failure that it stands for; `undefined`:
 * the function succeeded. */
export type Judge<T> = (
  value: T,
  context: AttemptContext,
) => Result | undefined | Promise<Result | undefined>;

/** How a function is called again. */
export interface RetryOptions<T> extends Omit<RunOptions, "check"> {
  /** Decides: a policy, or the name of a built-in one. `omnigraph` unless given. */
  readonly policy?: Policy | string | undefined;
  /** Maps returned values that stand for a failure to results. When the policy stops at
   * such a value, it is returned. Unless given, an answer of `fetch` with a status from 400
   * on stands for a failure, and nothing else does. */
  readonly judge?: Judge<T> | undefined;
  /** Throw the function's own error when the policy stops, not a {@link CallError}.
   * {@link outcomeOf} has its outcome. False unless given. */
  readonly reraise?: boolean | undefined;
}

/**
 * Lets a function ride out a server's restart: it is called again as long as the policy
 * says so.
 *
 * @param work The function. Which of its errors are failures that a policy knows is up to
 *     `resultOf`; any other comes out unchanged, and at once.
 * @param call What the call is.
 * @returns What the function returned.
 * @throws CallError if the policy stopped, in the subclass that belongs to the outcome. Its
 *     cause is the function's own error, or the reason of the abort.
 * @throws PluginError if the plugin cannot be used.
 */
export async function retry<T>(
  work: (context: AttemptContext) => T | Promise<T>,
  call: Call,
  options: RetryOptions<T> = {},
): Promise<T> {
  checkMembers(options, OPTIONS, "the options of retry");
  const { policy = "omnigraph", judge = judgeResponse, reraise = false, ...rest } = options;
  const decides = typeof policy === "string" ? await Policy.load(policy) : policy;
  let last: { value: T } | { error: unknown } | undefined;
  const attempt = async (context: AttemptContext): Promise<Result> => {
    discard(last && "value" in last ? last.value : undefined);
    last = undefined;
    try {
      const value = await work(context);
      last = { value };
      return (await judge(value, context)) ?? { exitCode: 0 };
    } catch (error) {
      last = { error };
      throw error;
    }
  };
  const outcome = await decides.run(attempt, call, rest);
  const label = new Secrets(rest.secrets).call(call).label;
  return settle(outcome, last, label, reraise, rest.signal);
}

const OPTIONS = [...RUN_OPTIONS.filter((name) => name !== "check"), "policy", "judge", "reraise"];

function settle<T>(
  outcome: Outcome,
  last: { value: T } | { error: unknown } | undefined,
  label: string | undefined,
  reraise: boolean,
  signal: AbortSignal | undefined,
): T {
  if (last && "value" in last && outcome.type !== "cancelled") {
    remember(last.value, outcome);
    return last.value;
  }
  const raised = last && "error" in last ? last : undefined;
  if (outcome.type === "cancelled" && signal?.aborted) {
    discard(last && "value" in last ? last.value : undefined);
    throw errorOf(outcome, label, { cause: signal.reason });
  }
  if (raised && reraise) {
    remember(raised.error, outcome);
    throw raised.error;
  }
  throw errorOf(outcome, label, raised && { cause: raised.error });
}

/** Answers of `fetch` with a status from 400 on stand for a failure. */
async function judgeResponse(
  value: unknown,
  { signal }: AttemptContext,
): Promise<Result | undefined> {
  if (!isResponse(value) || value.status < 400) {
    return undefined;
  }
  const result = await resultOfResponse(value, { signal });
  return succeeded(result) ? undefined : result;
}

const outcomes = new WeakMap<object, Outcome>();

function remember(of: unknown, outcome: Outcome): void {
  if (typeof of === "object" && of !== null) {
    outcomes.set(of, outcome);
  }
}

/** The outcome of the call that an error ended, or that gave an object such as an answer of
 * `fetch`; none if it ended none. */
export function outcomeOf(of: unknown): Outcome | undefined {
  if (of instanceof OutlastError && "outcome" in of) {
    return of.outcome as Outcome;
  }
  return typeof of === "object" && of !== null ? outcomes.get(of) : undefined;
}
