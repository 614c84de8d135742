/** A call and what it takes to carry it out. */

import { type Call, checkCall } from "./call.js";
import { type Clock, currentClock } from "./clock.js";
import type { CallEvent } from "./events.js";
import { getHooks, type Hook, tell } from "./hooks.js";
import { type Outcome, outcomeWith } from "./outcome.js";
import type { Policy } from "./policy.js";
import type { Requests } from "./requests.js";
import { type Result, succeeded } from "./result.js";
import { resultAfter } from "./result-of.js";
import type { RunOptions } from "./run.js";
import { Secrets } from "./secrets.js";
import { checkedSeed } from "./session.js";
import { checkMembers, show } from "./wire.js";

/** An event without what all events have. */
type Untold<E> = E extends CallEvent ? Omit<E, "call" | "policy"> : never;

/** The options of a run, and of what is built on it. */
export const RUN_OPTIONS = [
  "signal",
  "clock",
  "seed",
  "repair",
  "resultOf",
  "onlyRequest",
  "observe",
  "secrets",
  "check",
] as const;

/** A call and what it takes to carry it out. */
export class Task {
  readonly policy: Policy;
  readonly call: Call;
  readonly seed: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly #options: RunOptions;
  readonly #secrets: Secrets;
  readonly #observe: readonly Hook[];

  /** @throws TypeError or RangeError if an argument is wrong. */
  constructor(policy: Policy, call: Call, options: RunOptions) {
    checkCall(call);
    checkMembers(options, RUN_OPTIONS, "the options of a run");
    this.policy = policy;
    this.call = call;
    this.seed = checkedSeed(options.seed);
    this.clock = options.clock ?? currentClock();
    this.signal = options.signal ?? new AbortController().signal;
    checkClock(this.clock);
    checkSignal(this.signal);
    this.#options = options;
    this.#secrets = new Secrets(options.secrets);
    this.#observe = options.observe ? [options.observe] : [];
  }

  /** What the call is called, for an error. */
  get label(): string | undefined {
    return this.#secrets.call(this.call).label;
  }

  now(): number {
    return this.clock.now();
  }

  /** The result that an attempt's error stands for. */
  resultOf(error: unknown, requests: Requests): Result | undefined {
    const { resultOf, onlyRequest } = this.#options;
    const own = resultOf && requests.within(() => resultOf(error));
    return own ?? resultAfter(error, requests, { onlyRequest, read: !this.call.write });
  }

  /** Tells hooks of an event. */
  tell(event: Untold<CallEvent>): void {
    const hooks = [...getHooks(), ...this.#observe];
    if (hooks.length > 0) {
      tell({ ...event, call: this.#secrets.call(this.call), policy: this.policy.name }, hooks);
    }
  }

  /** Tells of an attempt that ended. */
  tellAttempt(attempt: number, result: Result, at: number): void {
    const clean = this.#secrets.clean(result);
    this.tell({ type: "attemptEnded", attempt, at, ok: succeeded(result), result: clean });
  }

  /** The call's end: tells of it, and gives the outcome to the caller. */
  stopped(said: Outcome): Outcome {
    const outcome = this.#secrets.outcome(said);
    const { result } = outcome;
    const told = result ? { ...outcome, result: this.#secrets.clean(result) } : outcome;
    this.tell({ type: "stopped", outcome: told, at: this.now() });
    return outcome;
  }

  /** The end of a call whose first attempt succeeded. The plugin is not asked: it could not
   * say anything else. */
  succeeded(result: Result, now: number): Outcome {
    const began = this.call.started ?? result.started ?? now;
    const elapsed = Math.max(0, now - began);
    return this.stopped(outcomeWith("ok", { attempts: 1, elapsed, result }));
  }

  /** The end of a call that was aborted before the plugin could be asked. */
  cancelled(attempts: 0 | 1, result?: Result): Outcome {
    const unknown = this.call.write && attempts > 0;
    const effects = unknown ? "a write may have been applied" : "nothing was applied";
    const now = this.now();
    const began = this.call.started ?? result?.started ?? now;
    return this.stopped(
      outcomeWith("cancelled", {
        effects: unknown ? "unknown" : "none",
        attempts,
        elapsed: Math.max(0, now - began),
        message: `cancelled ${attempts ? "in" : "before"} the first attempt; ${effects}`,
        result,
      }),
    );
  }
}

function checkSignal(signal: AbortSignal): void {
  const { aborted, addEventListener, removeEventListener } = Object(signal) as AbortSignal;
  const hears = typeof addEventListener === "function" && typeof removeEventListener === "function";
  if (typeof aborted !== "boolean" || !hears) {
    throw new TypeError(`outlast: signal is ${show(signal)}, and must be an AbortSignal`);
  }
}

function checkClock(clock: Clock): void {
  const { now, sleep } = Object(clock) as Clock;
  if (typeof now !== "function" || typeof sleep !== "function") {
    throw new TypeError("outlast: clock must have the functions now and sleep");
  }
}
