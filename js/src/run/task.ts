/** A call and what it takes to carry it out. */

import { checkMembers } from "../arguments/members.js";
import { type Call, checkCall } from "../call/call.js";
import { type Outcome, readOutcome } from "../call/outcome.js";
import { checkResult, type Result, succeeded } from "../call/result.js";
import type { Claim, Doubt, Requests } from "../evidence/requests.js";
import { type Attempted, abortedResult, resultAfter } from "../evidence/result-of.js";
import type { CallEvent } from "../hooks/events.js";
import type { Hook } from "../hooks/hook.js";
import { getHooks } from "../hooks/hooks.js";
import { Secrets } from "../hooks/secrets.js";
import type { Decider } from "../policy/decider.js";
import { randomSeed } from "../policy/session.js";
import { either, NEVER } from "../time/abort.js";
import { type Clock, currentClock, systemClock } from "../time/clock.js";
import { isWatcher, type Watcher } from "../watch/readiness.js";
import { watcherOf } from "../watch/watcher.js";
import type { WireOutcome } from "../wire/types.js";
import type { First } from "./first.js";
import type { TimeLimit } from "./limit.js";
import { retriesAreOff } from "./off.js";
import { type ErrorKind, RUN_OPTIONS, type RunOptions } from "./options.js";
import { Telling, type Untold } from "./telling.js";

/** What this package itself says of a call. */
export interface Own {
  /** Base name of the program that the call runs; none: it runs a function. */
  readonly command?: string;
  /** Are told of it besides those that are chosen. */
  readonly hooks?: readonly Hook[];
  /** The first attempt, if it has been made. */
  readonly first?: First | undefined;
  /** That each attempt makes one request. */
  readonly onlyRequest?: Claim;
  /** Is asked as a wait begins for what else ends it: the next attempt is made then. */
  waits?(): AbortSignal | undefined;
  /** Whether the last attempt has used up what it sent, so that it cannot be made again. */
  isSpent?(): boolean;
}

/** A call and what it takes to carry it out. */
export class Task {
  policy: Decider;
  readonly call: Call;
  readonly seed: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Looks at the server. */
  readonly ready: Watcher | undefined;
  readonly #options: RunOptions;
  readonly #own: Own;
  readonly #secrets: Secrets;
  readonly #telling: Telling;

  /** @throws TypeError or RangeError if an argument is wrong. */
  constructor(policy: Decider, call: Call, options: RunOptions, own: Own) {
    checkCall(call);
    checkMembers(options, RUN_OPTIONS, "the options of a run");
    this.policy = policy;
    this.call = call;
    this.seed = options.seed ?? randomSeed();
    this.clock = options.clock ?? currentClock();
    this.signal = options.signal ?? NEVER;
    this.ready = watcherFor(options.ready, this.clock);
    this.#options = options;
    this.#own = own;
    this.#secrets = new Secrets(options.secrets);
    const { command = "", hooks = [], first } = own;
    const told = () => ({ call: this.#secrets.call(call), command, policy: policy.name });
    this.#telling = first?.telling ?? new Telling(hooksFor(options.observe), told());
    this.#telling.join(hooks);
  }

  /** What the call is called, for an error. */
  get label(): string | undefined {
    return this.#telling.told.call.label;
  }

  /** Milliseconds that an attempt may take. */
  get attemptTimeout(): number | undefined {
    return this.#options.attemptTimeout;
  }

  /** Why the call may make no attempt with this number, in the outcome's word and one's own. */
  refuses(attempt: number): { reason: string; text: string } | undefined {
    if (this.#own.isSpent?.()) {
      return { reason: "streamed", text: "its body was a stream, which cannot be sent again" };
    }
    const most = retriesAreOff() ? 1 : (this.#options.attempts ?? Infinity);
    const text = "as many as the call may make";
    return attempt > most ? { reason: "attempts", text } : undefined;
  }

  /** The caller has said how many attempts it may make. */
  get isCounted(): boolean {
    return this.#options.attempts !== undefined;
  }

  /** The first attempt, if it has been made. */
  get first(): First | undefined {
    return this.#own.first;
  }

  now(): number {
    return this.clock.now();
  }

  /** A wait begins; gives what ends it. */
  waits(): AbortSignal {
    return either(this.#options.signal, this.#own.waits?.()) ?? NEVER;
  }

  /** The caller's word that each attempt makes one request. */
  get onlyRequest(): Claim {
    return this.#options.onlyRequest === true || (this.#own.onlyRequest ?? false);
  }

  /**
   * The result that an attempt's error stands for.
   *
   * @throws The error, if it stands for none.
   */
  resultOf(error: unknown, requests: Requests, { expired, abandoned }: TimeLimit): Result {
    const attempted = { requests, onlyRequest: this.onlyRequest };
    const mapped = this.#mapped(error, requests) ?? resultAfter(error, attempted);
    const result = mapped ?? this.#away(error, attempted);
    if (!result && !expired && !this.signal.aborted) {
      throw error;
    }
    if (expired) {
      const { message, sent } = result ?? abortedResult(error, attempted);
      return { timedOut: true, message, sent: abandoned ? "unknown" : sent };
    }
    return result ?? abortedResult(error, attempted);
  }

  /** The result of an error that the caller says to mean that the server is away. */
  #away(error: unknown, attempted: Attempted): Result | undefined {
    const isOne = this.#options.on?.some((kind) => isOfKind(error, kind));
    return isOne ? { ...abortedResult(error, attempted), failure: "unconnected" } : undefined;
  }

  /** The result that the caller's function maps it to. What is wrong with that has the error as
   * its cause. */
  #mapped(error: unknown, requests: Requests): Result | undefined {
    try {
      const result = requests.within(() => this.#options.resultOf?.(error));
      if (result) {
        checkResult(result);
      }
      return result;
    } catch (wrong) {
      if (wrong !== error && wrong instanceof Error) {
        wrong.cause ??= error;
      }
      throw wrong;
    }
  }

  /** Tells hooks of an event. */
  tell(event: Untold<CallEvent>): void {
    this.#telling.tell(event);
  }

  /** Makes an attempt, in what hooks want around it. */
  around<T>(number: number, at: number, make: () => Promise<T>): Promise<T> {
    return this.#telling.around(number, at, make);
  }

  /** Tells hooks that nothing more comes of the call.
   *
   * @param error What ended it, if it has no outcome. */
  ended(error?: unknown): void {
    this.#telling.ended(error);
  }

  /** Fixes what the call goes by, at its first failure. Tells of that, if the policy is
   * followed. */
  async choosePolicy(): Promise<void> {
    const { policy, why } = await this.policy.inForce();
    const isFollowed = policy !== this.policy;
    this.policy = await policy.with(this.#options);
    if (isFollowed) {
      const [digest, release] = [await policy.digest(), await policy.release()];
      this.tell({ type: "policyInForce", digest, release, why });
    }
  }

  /** Tells of an attempt that ended. */
  tellAttempt(attempt: number, result: Result, at: number): void {
    const clean = this.#secrets.clean(result);
    this.tell({ type: "attemptEnded", attempt, at, ok: succeeded(result), result: clean });
  }

  /** The call's end: tells of it, and gives the outcome to the caller. */
  stopped(said: Outcome, doubt?: Doubt): Outcome {
    const outcome = this.#secrets.outcome(withDoubt(said, doubt));
    const { result } = outcome;
    const told = result ? { ...outcome, result: this.#secrets.clean(result) } : outcome;
    this.tell({ type: "stopped", outcome: told, at: this.now() });
    return outcome;
  }

  /** The end of a call whose first attempt succeeded. The plugin is not asked: it could not
   * say anything else. */
  succeeded(result: Result, now: number): Outcome {
    return this.#unasked({ type: "ok", attempts: 1 }, now, result);
  }

  /** The end of a call that was aborted before the plugin could be asked. */
  cancelled(attempts: 0 | 1, result?: Result): Outcome {
    const unknown = this.call.write && attempts > 0;
    const effects = unknown ? "a write may have been applied" : "nothing was applied";
    const message = `cancelled ${attempts ? "in" : "before"} the first attempt; ${effects}`;
    const said = { effects: unknown ? "unknown" : "none", attempts, message } as const;
    return this.#unasked({ type: "cancelled", ...said }, this.now(), result);
  }

  #unasked(
    said: Omit<WireOutcome, "elapsed_us" | "history">,
    now: number,
    result: Result | undefined,
  ): Outcome {
    const began = this.call.started ?? result?.started ?? now;
    const outcome = readOutcome({ ...said, elapsed_us: 0, history: [] });
    return this.stopped({ ...outcome, elapsed: Math.max(0, now - began), result });
  }
}

function isOfKind(error: unknown, kind: ErrorKind): boolean {
  const isClass = kind === Error || kind.prototype instanceof Error;
  return isClass ? error instanceof kind : (kind as (error: unknown) => boolean)(error);
}

/** Who hears of a call that begins now. */
export function hooksFor(observe: Hook | undefined): readonly Hook[] {
  return observe ? [...getHooks(), observe] : getHooks();
}

/** What looks at the server. No look belongs to a time that is not real, unless it is the
 * caller's own. */
function watcherFor(ready: RunOptions["ready"], clock: Clock): Watcher | undefined {
  if (ready === undefined || isWatcher(ready)) {
    return ready;
  }
  const watcher = watcherOf(ready);
  return clock === systemClock ? watcher : undefined;
}

/** The outcome of a write that may have been applied, with what would have been evidence. */
function withDoubt(outcome: Outcome, doubt: Doubt | undefined): Outcome {
  const { type, message, result } = outcome;
  if (type !== "indeterminate" || !doubt || result?.exitCode != null || result?.signal) {
    return outcome;
  }
  const claim =
    " (onlyRequest: true says that the attempt makes one request, and does nothing else that may have an effect)";
  const why = `that nothing was sent was not seen: ${doubt.why}${doubt.claimable ? claim : ""}`;
  return { ...outcome, message: `${message}; ${why}` };
}
