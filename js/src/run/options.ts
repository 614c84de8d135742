/** What callers say of how a call is carried out. */

import { anything, type Check, type Members, optional, wants } from "../arguments/members.js";
import type { Result } from "../call/result.js";
import type { ResultOf, ResultOfOptions } from "../evidence/result-of.js";
import type { Hook } from "../hooks/hook.js";
import { checkSecrets } from "../hooks/secrets.js";
import type { Clock } from "../time/clock.js";
import { type Ready, ready } from "../watch/readiness.js";
import { duration, seed, spread } from "../wire/values.js";
import { limit } from "./limit.js";

/** What an attempt is told. */
export interface AttemptContext {
  /** Its number, counted from 1. */
  readonly attempt: number;
  /** Aborted when the caller gives up; the attempt should end then. The call waits for it,
   * since how it ended decides what is known of a write. */
  readonly signal: AbortSignal;
}

/** Makes one attempt, which should be one request. */
export type Attempter = (context: AttemptContext) => Result | Promise<Result>;

/** Repairs what the policy asks for, with force if it says so. */
export type Repairer = (
  force: boolean,
  context: Pick<AttemptContext, "signal">,
) => Result | Promise<Result>;

/** What every way to carry out a call can be told. */
export interface CallOptions {
  /** Gives the call up: a wait ends at once, a running attempt is told, and no further one
   * is made. */
  readonly signal?: AbortSignal | undefined;
  /** Tells the time, and waits; the real time unless given. */
  readonly clock?: Clock | undefined;
  /** Of the jitter, from 0 to 2^53 - 1; a random one unless given. */
  readonly seed?: number | undefined;
  /** Another window than the policy's: for how many milliseconds from its first failure on an
   * outage is waited for, above 0. */
  readonly maxWait?: number | undefined;
  /** Another spread than the policy's: how many milliseconds apart calls start that see their
   * server return, each at a moment of its own within so long; above 0, and at most 3,600,000. It
   * is for a fleet; `outlast verify --callers` says how wide. Of a policy that cuts no wait short
   * nothing is changed. */
  readonly spread?: number | undefined;
  /** How many attempts the call may make at most, the first one included. None of them is left
   * out while the server is seen to be down. The policy's own limits hold besides; the outcome's `reason` is `attempts` where this was the limit. */
  readonly attempts?: number | undefined;
  /** Repairs what the policy asks for, and gives the result of that; without it a repair
   * that is asked for has failed. */
  readonly repair?: Repairer | undefined;
  /** Looks at the server while the call waits, so that it need not sleep through its return: a
   * read goes on once the server accepts a connection, a write once its health check has been
   * answered as expected twice, and attempts that would fail are left out. While it is answered
   * 503 the server is not ready: nobody goes on, and attempts are left out for one cap of the
   * backoff at most. Not for a server behind a proxy: a look uses none. A URL is looked at only
   * in real time. */
  readonly ready?: Ready | undefined;
  /** Is told of the call's events, besides the hooks. */
  readonly observe?: Hook | undefined;
  /** Texts that no hook and no outcome's message may show. */
  readonly secrets?: readonly string[] | undefined;
}

/** Errors that stand for something: a class of errors, or what holds for them. */
// biome-ignore lint/suspicious/noExplicitAny: a class, whatever it is made of
export type ErrorKind = (abstract new (...args: any[]) => Error) | ((error: unknown) => boolean);

/** What a call whose attempts are functions can be told of their failures. */
export interface FailureOptions extends ResultOfOptions {
  /** Ends an attempt that takes more milliseconds, above 0: its signal is aborted. One that does
   * not end by that is left alone. A write that was ended so may have been applied, unless it
   * was seen that nothing was sent. No limit unless given. */
  readonly attemptTimeout?: number | undefined;
  /** Errors that mean that the server is away, besides those that outlast knows. */
  readonly on?: readonly ErrorKind[] | undefined;
  /** Maps further errors, and is asked first. */
  readonly resultOf?: ResultOf | undefined;
}

/** What a call that has an outcome can be told of it. */
export interface OutcomeOptions {
  /** Throw unless the call succeeded. */
  readonly check?: boolean | undefined;
}

/** How a call is carried out. */
export interface RunOptions extends CallOptions, FailureOptions, OutcomeOptions {}

const signal = wants("an AbortSignal", (value) => {
  const { aborted, addEventListener, removeEventListener } = Object(value) as AbortSignal;
  const hears = typeof addEventListener === "function" && typeof removeEventListener === "function";
  return typeof aborted === "boolean" && hears;
});

const clock = wants("a clock, which has the functions now and sleep", (value) => {
  const { now, sleep } = Object(value) as Clock;
  return typeof now === "function" && typeof sleep === "function";
});

const count = wants(
  "an integer above 0",
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
  RangeError,
);

const kinds = wants(
  "an array of classes of errors and functions",
  (value) => Array.isArray(value) && value.every((each) => typeof each === "function"),
);

/** A null that stands for nothing is passed on by many callers. */
function ifGiven(check: Check): Check {
  return (value, name) => value !== null && optional(check)(value, name);
}

export const CALL_OPTIONS: Members<CallOptions> = {
  signal: ifGiven(signal),
  clock: ifGiven(clock),
  seed: optional(seed),
  maxWait: optional(duration),
  spread: optional(spread),
  attempts: optional(count),
  repair: anything,
  ready: optional(ready),
  observe: anything,
  secrets: optional(checkSecrets),
};

export const FAILURE_OPTIONS: Members<FailureOptions> = {
  resultOf: anything,
  onlyRequest: anything,
  attemptTimeout: optional(limit),
  on: optional(kinds),
};

export const OUTCOME_OPTIONS: Members<OutcomeOptions> = { check: anything };

export const RUN_OPTIONS: Members<RunOptions> = {
  ...CALL_OPTIONS,
  ...FAILURE_OPTIONS,
  ...OUTCOME_OPTIONS,
};
