/** Passes a request on, again if need be. */

import type { Call } from "../call/call.js";
import { type Outcome, readOutcome } from "../call/outcome.js";
import type { Result } from "../call/result.js";
import { onClose } from "../evidence/pools.js";
import { Requests } from "../evidence/requests.js";
import { retryAfterOf } from "../evidence/response.js";
import { remember } from "../retry.js";
import { currentAttempt } from "../run/attempt.js";
import { beginFirst, endFirst } from "../run/first.js";
import type { AttemptContext } from "../run/options.js";
import { run } from "../run/run.js";
import type { Own } from "../run/task.js";
import type { Telling } from "../run/telling.js";
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

/** A request, and how it is sent. */
export interface Passed<A, B> {
  /** What it asks for, once something of it is needed; none if that is no URL. */
  asked(): Asked | undefined;
  /** Its caller has given it up before it was made. */
  readonly isGivenUp: boolean;
  readonly body: Body<B>;
  /** Sends it once. The body is what this attempt sends. */
  send(body: B, context: AttemptContext | undefined): Promise<Answer<A>>;
}

/**
 * Sends a request as often as the policy says.
 *
 * @returns The first answer that is no failure, or the last one that is, if the policy stops there.
 * @throws The client's own error, if that is what the last attempt ended with.
 */
export function pass<A, B>(settings: Settings, passed: Passed<A, B>): Promise<A> {
  const isQuick = !settings.endsAttempts && !passed.isGivenUp && settings.isReady;
  const requests = isQuick ? beginFirst() : undefined;
  if (!requests) {
    return ride(settings, passed);
  }
  const { body } = passed;
  const started = settings.now();
  let told: Told = {};
  const send = () => requests.within(() => begun(passed));
  const fail = (result: Promise<Answer<A>>) =>
    ride(settings, passed, { requests, started, result, ...told });
  try {
    told = settings.isTold ? beginTelling(settings, passed.asked()) : {};
  } catch (error) {
    return Promise.reject(error); // of a caller's own function
  }
  const { telling } = told;
  return (telling ? sendTelling(telling, started, send) : send()).then(
    (answer) => {
      if (answer.status >= 400) {
        return fail(Promise.resolve(answer));
      }
      endFirst(requests);
      body.end?.(false);
      const ended = settings.now();
      telling?.succeeded(ok(started, ended), ended);
      remember(answer.value, () => ok(started, ended));
      return answer.value;
    },
    (error) => fail(Promise.reject(error)),
  );
}

/** What was told of a request before its first attempt has failed. */
interface Told {
  readonly call?: Call | undefined;
  readonly telling?: Telling | undefined;
}

function beginTelling(settings: Settings, asked: Asked | undefined): Told {
  const call = asked && settings.call(asked);
  return { call, telling: call && settings.telling(call) };
}

/** Sends a request in what hooks want around it. */
async function sendTelling<A>(
  telling: Telling,
  started: number,
  send: () => Promise<Answer<A>>,
): Promise<Answer<A>> {
  let answer: Answer<A>;
  await telling.around(1, started, async () => {
    answer = await send();
    return answer.status < 400 ? { exitCode: 0 } : { httpStatus: answer.status };
  });
  return answer!;
}

function begun<A, B>(passed: Passed<A, B>): Promise<Answer<A>> {
  try {
    return passed.send(passed.body.next(), undefined);
  } catch (error) {
    return Promise.reject(error); // a body that cannot be copied
  }
}

/** The outcome of a call that succeeded at once. */
function ok(started: number, ended: number): Outcome {
  const said = readOutcome({ type: "ok", attempts: 1, elapsed_us: 0, history: [] });
  const elapsed = Math.max(0, ended - started);
  return { ...said, elapsed, result: { exitCode: 0, started, ended } };
}

/** A first attempt that was made, and failed. */
interface Failed<A> extends Told {
  readonly requests: Requests;
  readonly started: number;
  readonly result: Promise<Answer<A>>;
}

/** The same by all that a call has. */
async function ride<A, B>(
  settings: Settings,
  passed: Passed<A, B>,
  failed?: Failed<A>,
): Promise<A> {
  const { body } = passed;
  let last: Answer<A> | undefined;
  const drop = () => {
    last?.drop();
    last = undefined;
  };
  const closing = new Closing();
  const judge = async (attempt: number, sent: Promise<Answer<A>>): Promise<Result> => {
    try {
      last = await sent;
    } catch (error) {
      await address?.ended(error);
      throw error;
    } finally {
      closing.attempt = Requests.current();
    }
    const { status, retryAfter } = last;
    // After a failure a write may be in doubt.
    if (status < 400 || (attempt === 1 && !(await policy.waitsFor(status)))) {
      return { exitCode: 0 };
    }
    await address?.ended();
    return { httpStatus: status, retryAfter: retryAfterOf(retryAfter) };
  };
  const attempt = async (context: AttemptContext): Promise<Result> => {
    drop();
    return judge(context.attempt, passed.send(body.next(), context));
  };
  const wanted = passed.asked();
  if (!wanted) {
    return (await (failed?.result ?? begun(passed))).value;
  }
  failed?.result.catch(() => {}); // it is looked at later
  const policy = await settings.policy();
  const call = failed?.call ?? settings.call(wanted);
  const { options, address } = settings.way(wanted);
  const first = failed?.requests.within(() => judge(1, failed.result));
  first?.catch(() => {}); // likewise
  const own: Own = {
    onlyRequest: "if seen",
    isSpent: () => body.isSpent,
    // An answer's connection is not held while it waits.
    hooks: [({ type }) => type === "waiting" && drop()],
    waits: () => closing.wait(),
    first: failed && first && { ...failed, result: first },
  };
  try {
    const { outcome, raised, error } = await run(policy, attempt, call, options, own);
    const { signal } = options;
    const isGivenUp = outcome.type === "cancelled" && signal?.aborted === true;
    const answer = last as Answer<A> | undefined;
    if (answer && !raised && !isGivenUp) {
      remember(answer.value, () => outcome);
      body.end?.(false);
      return answer.value;
    }
    drop();
    const thrown = isGivenUp ? signal.reason : raised?.error;
    if (thrown === undefined || !settings.reraise) {
      throw error();
    }
    remember(thrown, () => outcome);
    throw thrown;
  } catch (error) {
    body.end?.(true);
    throw error;
  } finally {
    closing.forget();
  }
}

/** Ends the wait of a request whose dispatcher is closed: the next attempt then gets the client's
 * own error. But once: the next one may go through another dispatcher. */
class Closing {
  /** The last. */
  attempt: Requests | undefined;
  #forget: (() => void) | undefined;
  #isOver = false;

  /** A wait begins; gives what ends it. */
  wait(): AbortSignal | undefined {
    this.forget();
    if (!this.attempt || this.#isOver) {
      return undefined;
    }
    const closed = new AbortController();
    this.#forget = onClose(this.attempt, () => {
      this.#isOver = true;
      closed.abort();
    });
    return closed.signal;
  }

  forget(): void {
    this.#forget?.();
    this.#forget = undefined;
  }
}
