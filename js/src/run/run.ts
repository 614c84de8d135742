/** Carries out a call: Node drives, the plugin decides. */

import { setImmediate } from "node:timers/promises";
import type { Action, Readiness, Retry, Stop, Wake } from "../call/action.js";
import type { Call } from "../call/call.js";
import { type CallError, errorOf, OutlastError, PluginError } from "../call/errors.js";
import type { Outcome } from "../call/outcome.js";
import { type Result, succeeded } from "../call/result.js";
import { line } from "../evidence/failures.js";
import { putBack } from "../evidence/methods.js";
import type { Doubt, Requests } from "../evidence/requests.js";
import type { Decider } from "../policy/decider.js";
import { Session } from "../policy/session.js";
import type { How } from "../watch/readiness.js";
import { makeAttempt } from "./attempt.js";
import type { Attempter, Repairer, RunOptions } from "./options.js";
import { type Own, Task } from "./task.js";
import { CallWatch } from "./wait.js";

/** A call that has ended. */
export interface Ended {
  readonly outcome: Outcome;
  /** What the last attempt threw. */
  readonly raised: { readonly error: unknown } | undefined;
  /** The error for a call that did not succeed. Its cause is the reason of the abort, or what
   * the last attempt threw. */
  error(): CallError;
}

/** Carries out a call, as {@link Policy.run} tells, without a look at `check`. */
export async function run(
  policy: Decider,
  attempt: Attempter,
  call: Call,
  options: RunOptions,
  own: Own = {},
): Promise<Ended> {
  const task = new Task(policy, call, options, own);
  const driver = new Driver(task, attempt, options.repair);
  try {
    const outcome = await driver.run();
    task.ended();
    const { raised } = driver;
    const aborted = outcome.type === "cancelled" && task.signal.aborted;
    const cause = aborted ? { cause: task.signal.reason } : raised && { cause: raised.error };
    return {
      outcome,
      raised,
      error: () => withRaised(errorOf(outcome, task.label, cause), raised),
    };
  } catch (error) {
    task.ended(error);
    throw withRaised(error, driver.raised);
  }
}

/** An error of this package with what the last attempt threw, so that it hides nothing. */
function withRaised<E>(error: E, raised: Ended["raised"]): E {
  if (raised && raised.error !== error && error instanceof OutlastError) {
    error.raised = raised.error;
  }
  return error;
}

/** As many characters of a last error as the plugin gives bytes. */
const MAX_LAST_ERROR = 1024;

/** What of a server the policy is told. */
type Noticed = Readiness | "down" | "notReady";

/** The outcome of a call that may make no further attempt. What is known of a write is what the
 * policy says of a call that is given up here. */
function givenUp(
  given: Outcome,
  { kind, budget }: Retry,
  { reason, text }: { reason: string; text: string },
): Outcome {
  const { attempts, effects, result } = given;
  const unknown = effects === "unknown";
  const told = unknown ? "a write may have been applied" : "nothing was applied";
  const made = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  const message = `${kind}: gave up after ${made}: ${text}; ${told}`;
  const type = unknown ? "indeterminate" : "exhausted";
  const lastError = Buffer.from(result?.message || result?.stderr || "")
    .toString()
    .slice(0, MAX_LAST_ERROR);
  return { ...given, type, kind, budget, reason, message, lastError };
}

/** What an outcome says of the server to those who wait for it. */
function answeredBy({ type }: Outcome): How {
  if (type === "cancelled") {
    return "left";
  }
  return type === "exhausted" || type === "indeterminate" ? "failed" : "answered";
}

class Driver {
  /** What the last attempt threw. */
  raised: { error: unknown } | undefined;
  readonly #task: Task;
  readonly #attempter: Attempter;
  readonly #repairer: Repairer | undefined;
  #session: Session | undefined;
  #failed: number | undefined; // when the first failure was seen, by `performance.now()`
  #doubt: Doubt | undefined; // of the last attempt
  readonly #unsent: Requests[] = []; // of the attempts that were seen to send nothing
  #result: Result | undefined; // of the last of them
  #last: Requests | undefined; // that one, as long as there was no repair after it
  #late: Result | undefined; // the last one's, if they have sent something after that
  #watch: CallWatch | undefined; // of the server, since the last attempt
  #turn: CallWatch | undefined; // the last, which waits to hear how the attempt went
  #saidWhy = false; // less is looked at than was asked for

  constructor(task: Task, attempter: Attempter, repairer: Repairer | undefined) {
    this.#task = task;
    this.#attempter = attempter;
    this.#repairer = repairer;
  }

  async run(): Promise<Outcome> {
    try {
      const outcome = await this.#run();
      this.#lookAway();
      this.#went(answeredBy(outcome));
      return outcome;
    } finally {
      this.#lookAway();
      this.#went("left");
      for (const attempt of this.#unsent) {
        attempt.end();
      }
    }
  }

  async #run(): Promise<Outcome> {
    const task = this.#task;
    if (task.signal.aborted && !task.first) {
      return task.cancelled(0);
    }
    let last: Retry | undefined;
    for (;;) {
      const result = last?.repair
        ? await this.#repair(last)
        : await this.#attempt(last?.attempt ?? 1);
      const now = task.now();
      if (!this.#session && succeeded(result)) {
        return task.succeeded(result, now);
      }
      if (task.signal.aborted) {
        return this.#cancelled(now, result);
      }
      const action = await this.#wait(
        await this.#limited(await this.#decide(result, now), now),
        now,
      );
      if (action.type === "stop") {
        return task.stopped(action.outcome, this.#doubt);
      }
      await this.#lookBack();
      if (task.signal.aborted) {
        return this.#cancelled(task.now(), this.#late);
      }
      last = action;
    }
  }

  async #attempt(attempt: number): Promise<Result> {
    const task = this.#task;
    if (this.#late) {
      return this.#late; // in the place of an attempt
    }
    this.raised = undefined;
    this.#lookAway();
    const since = this.#failed ?? performance.now();
    const made = await makeAttempt(task, this.#attempter, attempt, since);
    const { result, unsent } = made;
    this.raised = made.raised;
    this.#doubt = made.doubt;
    if (unsent) {
      this.#unsent.push(unsent);
      this.#last = unsent;
      this.#result = result;
    }
    if (succeeded(result)) {
      this.#went("answered");
    } else {
      this.#failed ??= performance.now();
    }
    task.tellAttempt(attempt, result, task.now());
    return result;
  }

  /** Whether the attempts before have sent something in the meantime. What others sent is looked
   * at for the last one: for those before it, it was. What a repair sent does not count. */
  async #lookBack(): Promise<void> {
    if (this.#unsent.length === 0) {
      return;
    }
    await setImmediate(); // what an attempt left to the next turn goes now
    putBack();
    for (const attempt of this.#unsent) {
      const doubt = attempt.doubt(attempt !== this.#last || this.#task.onlyRequest);
      if (doubt) {
        this.#doubt = doubt;
        this.#late = { ...this.#result, sent: "unknown", started: undefined, ended: undefined };
      }
    }
  }

  /** Repairs, and gets the result of that. */
  async #repair({ kind, repairForce: force }: Retry): Promise<Result> {
    const task = this.#task;
    this.#last = undefined;
    task.tell({ type: "repairing", kind, force, at: task.now() });
    if (!this.#repairer) {
      return { message: "this call has no way to repair" };
    }
    try {
      return await this.#repairer(force, { signal: task.signal });
    } catch (error) {
      return { message: line(error) }; // a repair that cannot be made has failed
    }
  }

  async #decide(result: Result, now: number): Promise<Retry | Stop> {
    const session = await this.#open(result);
    return session.next(result, { now });
  }

  /** The session, and the plugin loaded. Nothing of either is there before the first
   * failure. */
  async #open(result: Result): Promise<Session> {
    const task = this.#task;
    const { plugin } = task.policy;
    try {
      await plugin.load();
      const loading = plugin.takeLoading();
      if (loading) {
        task.tell({ type: "loaded", took: loading.took });
      }
      this.#session ??= await this.#begin();
      return this.#session;
    } catch (error) {
      if (error instanceof PluginError) {
        error.result = result; // nothing takes it from the caller
      }
      throw error;
    }
  }

  async #begin(): Promise<Session> {
    const task = this.#task;
    await task.choosePolicy();
    const session = new Session(task.policy, task.call, { seed: task.seed });
    session.onReplaced = (error) => task.tell({ type: "instanceReplaced", error });
    return session;
  }

  /** Stops in the place of an attempt that the caller does not allow. */
  async #limited(action: Action, now: number): Promise<Action> {
    const refusal = action.type === "retry" ? this.#task.refuses(action.attempt) : undefined;
    if (action.type === "stop" || !refusal) {
      return action;
    }
    const { outcome } = await this.#session!.cancelled(undefined, { now });
    return { type: "stop", outcome: givenUp(outcome, action, refusal) };
  }

  /** Waits until the next attempt or repair is due, and gets what the policy wants then. A
   * delay counts from the event that led to the action, so the time to load the plugin and to
   * decide is part of it. */
  async #wait(first: Action, since: number): Promise<Action> {
    const task = this.#task;
    let action = first;
    let seen = since;
    let again = false;
    while (action.type === "retry" && action.delay > 0 && !task.signal.aborted) {
      const noticed = await this.#waitOnce(action, seen, again);
      if (!noticed || task.signal.aborted) {
        return action;
      }
      seen = task.now();
      again = true;
      action = await this.#tell(noticed, seen);
    }
    return action;
  }

  /** Waits, and gets what was noticed of the server that the policy is to be told. */
  async #waitOnce(action: Retry, seen: number, again: boolean): Promise<Noticed | undefined> {
    const { kind, budget, attempt, remaining, wake } = action;
    const task = this.#task;
    if (!again) {
      this.#went("failed"); // else the wait goes on, or spreads those who were woken
    }
    const at = task.now();
    const watch = wake && this.#watchFor(wake);
    const watched = watch && wake.by;
    task.tell({
      ...{ type: "waiting", kind, budget, attempt, delay: action.delay, remaining },
      ...{ watched, again, at },
    });
    const decided = Math.max(0, at - seen); // a clock may go backwards
    const delay = action.delay - decided;
    if (delay <= 0) {
      return undefined;
    }
    const over = task.waits();
    if (!watch) {
      await task.clock.sleep(delay, over);
      return undefined;
    }
    const after = wake.after - decided;
    const woken = await watch.wait(task.clock, { delay, wake: { ...wake, after } }, over);
    this.#unwatched(watch.why);
    // Of attempts that are counted none is left out: the last one would wait for the deadline.
    const mayLeaveOut = !woken && !task.isCounted && !over.aborted;
    return mayLeaveOut ? watch.leftOut((await task.policy.dialect()).minor) : woken;
  }

  /** Tells of what was noticed of the server, and asks the policy what to do then. */
  async #tell(noticed: Noticed, now: number): Promise<Action> {
    const task = this.#task;
    if (noticed === "down" || noticed === "notReady") {
      task.tell({ type: "leftOut", notReady: noticed === "notReady", at: now });
      return this.#session![noticed]({ now });
    }
    this.#lookAway(); // it must be seen away again before it can come back
    task.tell({ type: "woken", by: noticed, at: now });
    return this.#session!.woken(noticed, { now });
  }

  /** Tells once why less is looked at than was asked for. */
  #unwatched(why: string | undefined): void {
    if (why && !this.#saidWhy) {
      this.#saidWhy = true;
      this.#task.tell({ type: "unwatched", why, at: this.#task.now() });
    }
  }

  #watchFor(wake: Wake): CallWatch | undefined {
    const { ready } = this.#task;
    if (!this.#watch && ready) {
      this.#went("left");
      this.#watch = new CallWatch(ready, wake);
    }
    return this.#watch;
  }

  /** Ends the watch: an attempt follows, or the call's end. */
  #lookAway(): void {
    this.#watch?.stop();
    this.#turn = this.#watch ?? this.#turn;
    this.#watch = undefined;
  }

  /** Tells the last watch, once, how the attempt after it ended. */
  #went(how: How): void {
    this.#turn?.went(how);
    this.#turn = undefined;
  }

  /** The end of a call that was given up: what is known of a write, the policy says. */
  async #cancelled(now: number, result?: Result): Promise<Outcome> {
    const task = this.#task;
    if (!this.#session && !task.call.write) {
      return task.cancelled(1, result);
    }
    try {
      const session = this.#session ?? (await this.#open(result ?? {}));
      return task.stopped((await session.cancelled(result, { now })).outcome);
    } catch (error) {
      if (error instanceof OutlastError && !this.#session?.state) {
        return task.cancelled(1, result);
      }
      throw error;
    }
  }
}
