/** Makes one attempt. */

import { type Result, timed } from "../call/result.js";
import { closesAtOnce } from "../evidence/look.js";
import { putBack } from "../evidence/methods.js";
import { takeBack } from "../evidence/pools.js";
import { type Doubt, type Peer, Requests } from "../evidence/requests.js";
import { startWatching } from "../evidence/watch.js";
import { TimeLimit } from "./limit.js";
import type { AttemptContext, Attempter } from "./options.js";
import type { Task } from "./task.js";

/** How an attempt ended. */
export interface Attempted {
  readonly result: Result;
  /** What it threw. */
  readonly raised: { readonly error: unknown } | undefined;
  /** Why it is not known that it sent nothing. */
  readonly doubt: Doubt | undefined;
  /** What is seen of it, if that it sent nothing lets a write be tried again. To be ended. */
  readonly unsent?: Requests | undefined;
}

/** What the attempt was told whose code runs; none outside of one. For functions that outlast
 * calls with arguments of their own. */
export function currentAttempt(): AttemptContext | undefined {
  return Requests.current()?.told;
}

/**
 * Makes an attempt, and gets its result with its times.
 *
 * @param number Of the attempt, counted from 1.
 * @param since When the call met its first failure, or began, in milliseconds of
 *     `performance.now()`.
 * @throws What the attempt threw, if it stands for no result.
 */
export async function makeAttempt(
  task: Task,
  attempter: Attempter,
  number: number,
  since: number,
): Promise<Attempted> {
  const { onlyRequest, call } = task;
  const mayRepeat = !call.write || call.repeatable;
  const starting = startWatching();
  if (starting) {
    await starting;
  }
  putBack();
  const first = number === 1 ? task.first : undefined;
  const started = first?.started ?? task.now();
  const requests = first?.requests ?? new Requests(since);
  const limit = new TimeLimit(task.signal, task.attemptTimeout);
  const context = { attempt: number, signal: limit.signal };
  requests.told = context;
  let raised: Attempted["raised"];
  let result: Result;
  try {
    const make = () => limit.hold(requests.within(async () => attempter(context)));
    result = await (first?.result ?? task.around(number, started, make)).finally(putBack);
  } catch (error) {
    raised = { error };
    if (limit.signal.aborted && !limit.abandoned) {
      takeBack(requests);
    }
    result = task.resultOf(error, requests, limit);
  }
  result = timed(result, started, task.now());
  const doubt = requests.doubt(onlyRequest);
  if (isExchange(result) && requests.only(onlyRequest)) {
    result = { onlyRequest: true, ...result };
  }
  if (!mayRepeat && result.sent === "no" && !doubt) {
    requests.judged();
    return { result, raised, doubt, unsent: requests };
  }
  requests.end();
  if (mayRepeat && result.failure === "broke" && (await isAway(requests.peer))) {
    result = { ...result, failure: "unconnected" };
  }
  return { result, raised, doubt };
}

function isExchange({ httpStatus, failure }: Result): boolean {
  return httpStatus !== undefined || failure !== undefined;
}

async function isAway(peer: Peer | undefined): Promise<boolean> {
  return peer !== undefined && (await closesAtOnce(peer));
}
