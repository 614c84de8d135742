/** Functions that ride out a restart. */

import { anything, checkMembers, type Members } from "./arguments/members.js";
import type { Call } from "./call/call.js";
import { OutlastError } from "./call/errors.js";
import type { Outcome } from "./call/outcome.js";
import { type Result, succeeded } from "./call/result.js";
import { discard, isResponse, resultOfResponse } from "./evidence/response.js";
import { isName } from "./policy/source.js";
import { Policy } from "./policy.js";
import {
  type AttemptContext,
  CALL_OPTIONS,
  type CallOptions,
  FAILURE_OPTIONS,
  type FailureOptions,
} from "./run/options.js";
import { run } from "./run/run.js";

/** Maps a value that a function returned to the failure that it stands for; `undefined`:
 * the function succeeded. */
export type Judge<T> = (
  value: T,
  context: AttemptContext,
) => Result | undefined | Promise<Result | undefined>;

/** How a function is called again. */
export interface RetryOptions<T> extends CallOptions, FailureOptions {
  /** Decides: a policy, or the name of a built-in one. `network` unless given. */
  readonly policy?: Policy | string | undefined;
  /** Maps returned values that stand for a failure to results. When the policy stops at
   * such a value, it is returned. Unless given, an answer of `fetch` with a status from 400
   * on stands for a failure, and nothing else does. */
  readonly judge?: Judge<T> | undefined;
  /** Throw the function's own error when the policy stops, not a {@link CallError}.
   * {@link outcomeOf} has its outcome. False unless given. */
  readonly reraise?: boolean | undefined;
}

export const RETRY_OPTIONS: Members<RetryOptions<unknown>> = {
  ...CALL_OPTIONS,
  ...FAILURE_OPTIONS,
  policy: anything,
  judge: anything,
  reraise: anything,
};

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
  checkMembers(options, RETRY_OPTIONS, "the options of retry");
  const { policy = "network", judge = judgeResponse, reraise = false, ...rest } = options;
  const decides = await policyOf(policy);
  let last: { value: T } | undefined;
  const attempt = async (context: AttemptContext): Promise<Result> => {
    discard(last?.value);
    last = undefined;
    const value = await work(context);
    last = { value };
    return (await judge(value, context)) ?? { exitCode: 0 };
  };
  const { outcome, raised, error } = await run(decides, attempt, call, rest);
  if (last && !raised && outcome.type !== "cancelled") {
    remember(last.value, () => outcome);
    return last.value;
  }
  discard(last?.value);
  if (raised && reraise && !(outcome.type === "cancelled" && rest.signal?.aborted)) {
    remember(raised.error, () => outcome);
    throw raised.error;
  }
  throw error();
}

const named = new Map<string, Promise<Policy>>();

/** A policy that may be given by its name. One that comes with outlast is loaded once. */
export async function policyOf(policy: Policy | string): Promise<Policy> {
  if (typeof policy !== "string") {
    return policy;
  }
  if (!isName(policy)) {
    return Policy.load(policy);
  }
  let loaded = named.get(policy);
  if (!loaded) {
    loaded = Policy.load(policy);
    named.set(policy, loaded);
    loaded.catch(() => named.delete(policy));
  }
  return loaded;
}

/** Answers of `fetch` with a status from 400 on stand for a failure. */
export async function judgeResponse(
  value: unknown,
  { signal }: Pick<AttemptContext, "signal">,
): Promise<Result | undefined> {
  if (!isResponse(value) || value.status < 400) {
    return undefined;
  }
  const result = await resultOfResponse(value, { signal });
  return succeeded(result) ? undefined : result;
}

const outcomes = new WeakMap<object, () => Outcome>();

/** Remembers how the call ended that ended with this. */
export function remember(of: unknown, outcome: () => Outcome): void {
  if (typeof of === "object" && of !== null) {
    outcomes.set(of, outcome);
  }
}

/** The outcome of the call that an error ended, or that gave an object such as an answer of
 * `fetch`; none if it ended none. */
export function outcomeOf(of: unknown): Outcome | undefined {
  if (typeof of !== "object" || of === null) {
    return undefined;
  }
  try {
    return of instanceof OutlastError && "outcome" in of
      ? (of.outcome as Outcome)
      : outcomes.get(of)?.();
  } catch {
    return undefined; // its members throw
  }
}
