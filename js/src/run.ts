/** Carries out a call: Node drives, the plugin decides. */

import type { Retry, Stop } from "./action.js";
import type { Call } from "./call.js";
import type { Clock } from "./clock.js";
import { errorOf, OutlastError, PluginError } from "./errors.js";
import type { Hook } from "./hooks.js";
import type { Outcome } from "./outcome.js";
import type { Policy } from "./policy.js";
import { line } from "./report.js";
import { Requests } from "./requests.js";
import { type Result, succeeded, timed } from "./result.js";
import { abortedResult, type ResultOf } from "./result-of.js";
import type { Session } from "./session.js";
import { Task } from "./task.js";

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

/** How a call is carried out. */
export interface RunOptions {
  /** Gives the call up: a wait ends at once, a running attempt is told, and no further one
   * is made. */
  readonly signal?: AbortSignal | undefined;
  /** Tells the time, and waits; the real time unless given. */
  readonly clock?: Clock | undefined;
  /** Of the jitter, from 0 to 2^53 - 1; a random one unless given. */
  readonly seed?: number | undefined;
  /** Repairs what the policy asks for, and gives the result of that; without it a repair
   * that is asked for has failed. */
  readonly repair?: Repairer | undefined;
  /** Maps further errors, and is asked first. */
  readonly resultOf?: ResultOf | undefined;
  /** Each attempt makes one request, by a client that follows no redirect and does not try
   * again by itself. Only needed of clients whose requests are not seen, see
   * {@link ResultOfOptions.onlyRequest}. False unless given. */
  readonly onlyRequest?: boolean | undefined;
  /** Is told of the call's events, besides the hooks. */
  readonly observe?: Hook | undefined;
  /** Texts that no hook and no outcome's message may show. */
  readonly secrets?: readonly string[] | undefined;
  /** Throw unless the call succeeded. */
  readonly check?: boolean | undefined;
}

/** Carries out a call, as {@link Policy.run} tells. */
export async function run(
  policy: Policy,
  attempt: Attempter,
  call: Call,
  options: RunOptions,
): Promise<Outcome> {
  const task = new Task(policy, call, options);
  const driver = new Driver(task, attempt, options.repair);
  const outcome = await driver.run();
  if (options.check && !outcome.ok) {
    throw errorOf(outcome, task.label, driver.cause(outcome));
  }
  return outcome;
}

class Driver {
  readonly #task: Task;
  readonly #attempter: Attempter;
  readonly #repairer: Repairer | undefined;
  #session: Session | undefined;
  #raised: { error: unknown } | undefined; // by the last attempt

  constructor(task: Task, attempter: Attempter, repairer: Repairer | undefined) {
    this.#task = task;
    this.#attempter = attempter;
    this.#repairer = repairer;
  }

  async run(): Promise<Outcome> {
    const task = this.#task;
    if (task.signal.aborted) {
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
      const action = await this.#decide(result, now);
      if (action.type === "stop") {
        return task.stopped(action.outcome);
      }
      await this.#wait(action, now);
      if (task.signal.aborted) {
        return this.#cancelled(task.now());
      }
      last = action;
    }
  }

  /** What an error has as its cause: the abort's reason, or the attempt's own error. */
  cause(outcome: Outcome): ErrorOptions {
    if (outcome.type === "cancelled" && this.#task.signal.aborted) {
      return { cause: this.#task.signal.reason };
    }
    return this.#raised ? { cause: this.#raised.error } : {};
  }

  /** Makes an attempt, and gets its result with its times. */
  async #attempt(attempt: number): Promise<Result> {
    const task = this.#task;
    const { signal } = task;
    const started = task.now();
    const requests = new Requests();
    let result: Result;
    try {
      this.#raised = undefined;
      result = await requests.watch(async () => this.#attempter({ attempt, signal }));
    } catch (error) {
      this.#raised = { error };
      const known = task.resultOf(error, requests);
      if (!known && !signal.aborted) {
        throw error;
      }
      result = known ?? abortedResult(error, requests);
    }
    const ended = task.now();
    result = timed(result, started, ended);
    task.tellAttempt(attempt, result, ended);
    return result;
  }

  /** Repairs, and gets the result of that. */
  async #repair({ kind, repairForce: force }: Retry): Promise<Result> {
    const task = this.#task;
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
    if (!this.#session) {
      this.#session = task.policy.session(task.call, { seed: task.seed });
      this.#session.onReplaced = (error) => task.tell({ type: "instanceReplaced", error });
    }
    try {
      await plugin.load();
    } catch (error) {
      if (error instanceof PluginError) {
        error.result = result; // nothing takes it from the caller
      }
      throw error;
    }
    const loading = plugin.takeLoading();
    if (loading) {
      task.tell({ type: "loaded", took: loading.took });
    }
    return this.#session;
  }

  /** Waits until the delay is over. It counts from the event that led to the action, so the
   * time to load the plugin and to decide is part of it. */
  async #wait(action: Retry, seen: number): Promise<void> {
    const { kind, budget, attempt, delay, remaining } = action;
    if (delay <= 0) {
      return;
    }
    const task = this.#task;
    const at = task.now();
    task.tell({ type: "waiting", kind, budget, attempt, delay, remaining, at });
    const decided = Math.max(0, at - seen); // a clock may go backwards
    if (delay > decided && !task.signal.aborted) {
      await task.clock.sleep(delay - decided, task.signal);
    }
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
