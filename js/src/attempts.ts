/** A call as a loop over its attempts. */

import { AsyncResource } from "node:async_hooks";
import { checkMembers, type Members } from "./arguments/members.js";
import type { Call } from "./call/call.js";
import { checkResult, type Result } from "./call/result.js";
import { discard } from "./evidence/response.js";
import type { CallEvent } from "./hooks/events.js";
import { judgeResponse, policyOf, RETRY_OPTIONS, type RetryOptions } from "./retry.js";
import type { AttemptContext } from "./run/options.js";
import { run } from "./run/run.js";

/** How the attempts of a loop are made. */
export type LoopOptions = Omit<RetryOptions<never>, "judge" | "reraise">;

const { judge: _, reraise: __, ...OPTIONS } = RETRY_OPTIONS;

/** One attempt of a loop. It has succeeded unless its body says otherwise. */
export interface Attempt {
  /** Its number, counted from 1. */
  readonly number: number;
  /** Aborted when the caller gives up, or the attempt's time is over. */
  readonly signal: AbortSignal;
  /**
   * Does the attempt's work. What it sends is watched.
   *
   * @returns What the work gave. `undefined` if it failed in a way that the policy knows, by an
   *     error or an answer of `fetch` with a status from 400 on, or if the attempt had failed
   *     before: the loop then goes on with the next attempt, or throws how the call ended.
   * @throws What the work threw, if that stands for no result.
   */
  run<T>(work: () => T | Promise<T>): Promise<T | undefined>;
  /**
   * The attempt has failed, with this result. An error that was caught elsewhere than in
   * {@link run} is one by `resultOf`.
   */
  failed(result: Result): void;
}

/**
 * The attempts of a call, to be made by the body of a loop:
 *
 *     for await (const attempt of attempts({ remote: true, write: false })) {
 *       const answer = await attempt.run(() => fetch(url, { signal: attempt.signal }));
 *       if (answer) {
 *         return answer.json();
 *       }
 *     }
 *
 * An attempt whose body ends without a failure is the last one. So is one whose body leaves the
 * loop: if it had failed, the call is given up. Between two attempts the loop waits, as the
 * policy says.
 *
 * @param call What the call is.
 * @throws CallError out of the loop if the policy stopped. Its cause is the last error.
 */
export async function* attempts(
  call: Call,
  options: LoopOptions = {},
): AsyncGenerator<Attempt, void, void> {
  checkMembers(options, OPTIONS as Members<LoopOptions>, "the options of attempts");
  const { policy = "network", signal, ...rest } = options;
  const decides = await policyOf(policy);
  const left = new AbortController();
  let current: LoopAttempt | undefined;
  let next = new Later<LoopAttempt>();
  const over = new Later<undefined>();
  over.promise.catch(() => {}); // whoever waits for it hears
  const attempter = ({ attempt, signal }: AttemptContext) => {
    const made = new LoopAttempt(attempt, signal, over.promise);
    next.resolve(made);
    return made.ended.promise;
  };
  const judged = ({ type }: CallEvent) => {
    if (type === "attemptEnded") {
      current?.judged.resolve();
    }
  };
  const given = { ...rest, signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal };
  const going = run(decides, attempter, call, given, { hooks: [judged] });
  going.then(() => over.resolve(undefined), over.reject);
  try {
    for (;;) {
      current = await Promise.race([next.promise, over.promise]);
      if (!current) {
        break;
      }
      next = new Later();
      yield current;
      current.end();
    }
  } finally {
    if (current?.end() === false) {
      left.abort(); // the loop was left after a failure
    }
    await over.promise.catch(() => {}); // what it throws, the loop or its body does
  }
  const { outcome, error } = await going;
  if (!outcome.ok) {
    throw error();
  }
}

/** A promise, and what settles it. */
class Later<T> {
  resolve!: (value: T) => void;
  reject!: (error: unknown) => void;
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

class LoopAttempt implements Attempt {
  /** Its result, or what it threw. */
  readonly ended = new Later<Result>();
  /** It is known what that stands for. */
  readonly judged = new Later<void>();
  #hasFailed = false;
  readonly #context = new AsyncResource("outlast.attempt");

  /** @param over The call's end. */
  constructor(
    readonly number: number,
    readonly signal: AbortSignal,
    readonly over: Promise<unknown>,
  ) {}

  async run<T>(work: () => T | Promise<T>): Promise<T | undefined> {
    if (this.#hasFailed) {
      return undefined;
    }
    try {
      const value = await this.#context.runInAsyncScope(work);
      const result = await judgeResponse(value, this);
      if (!result) {
        return value;
      }
      discard(value);
      this.failed(result);
    } catch (error) {
      this.#hasFailed = true;
      this.ended.reject(error);
    }
    await Promise.race([this.judged.promise, this.over]);
    return undefined;
  }

  failed(result: Result): void {
    checkResult(result);
    this.#hasFailed = true;
    this.ended.resolve(result);
  }

  /** Its body has ended. Gives whether it has succeeded. */
  end(): boolean {
    if (!this.#hasFailed) {
      this.ended.resolve({ exitCode: 0 });
    }
    return !this.#hasFailed;
  }
}
