/** What a call is. */

import {
  type Check,
  checkMembers,
  flag,
  type Members,
  optional,
  wants,
} from "../arguments/members.js";
import { surprise } from "../arguments/surprise.js";
import type { WireCall } from "../wire/types.js";
import { micros, microsIfGiven, time } from "../wire/values.js";

const MAX_LABEL_BYTES = 256;

/** A budget under this is a number of seconds, taken for milliseconds (a choice). */
const SHORT = 500;

const DAY = 24 * 60 * 60 * 1000;

/**
 * What a call is; the same for all of its attempts. `remote` and `write` must be
 * said: a policy cannot guess what is safe.
 */
export interface Call {
  /** It goes over the network, to a server that may restart. */
  readonly remote: boolean;
  /** It may change something. If in doubt, it does. */
  readonly write: boolean;
  /** A compare-and-swap: lose a race rather than repeat the write. It means nothing for
   * a read. False unless given. */
  readonly surfaceConflict?: boolean | undefined;
  /** Wait for a server that is away. False suits a call whose answer may degrade
   * rather than come late. True unless given. */
  readonly connectRetry?: boolean | undefined;
  /** A write that may be applied again: it is tried again as a read is. Once an attempt that
   * may have been applied has been followed by another, the call ends as indeterminate unless
   * it succeeds. False unless given. */
  readonly repeatable?: boolean | undefined;
  /** Whether an attempt is known to make one request that can have effects. False: it may make
   * several, so what it reports does not prove that nothing of a write was applied. Left out:
   * the policy's rules alone decide. */
  readonly oneRequest?: boolean | undefined;
  /** The server answers 409, 410, 412, 422, 429 and 503 before it does anything, so that a
   * write that it refused so was not applied. Of a server that may act first it makes a write
   * apply twice. False unless given. */
  readonly refusesBeforeActing?: boolean | undefined;
  /** The call's total budget in milliseconds, above 0. It runs from `started` on, and
   * never ends an attempt. Without it there is no limit but the policy's own. */
  readonly budget?: number | undefined;
  /** A name for messages, at most 256 bytes, such as `query`. */
  readonly label?: string | undefined;
  /** When the call began, in milliseconds of the clock that it is driven with, before
   * any wait for a lock. With its first attempt unless given. */
  readonly started?: number | undefined;
}

const text = wants("a string", (value) => typeof value === "string");

const short = wants(
  `at most ${MAX_LABEL_BYTES} bytes long`,
  (value) => Buffer.byteLength(value as string) <= MAX_LABEL_BYTES,
  RangeError,
);

const label: Check = (value, name) => {
  text(value, name);
  short(value, name);
};

const budget: Check = (value, name) => {
  if (micros(value as number, name) < 1) {
    throw new RangeError(
      `outlast: ${name} is ${value} ms, and must be above 0; leave it out for no limit`,
    );
  }
};

/** The members of a call. */
export const CALL: Members<Call> = {
  remote: flag,
  write: flag,
  surfaceConflict: optional(flag),
  connectRetry: optional(flag),
  repeatable: optional(flag),
  oneRequest: optional(flag),
  refusesBeforeActing: optional(flag),
  budget: optional(budget),
  label: optional(label),
  started: optional(time),
};

/**
 * Refuses what is no call, and warns of what is probably not meant.
 *
 * @throws TypeError if a member is missing, unknown or of the wrong type.
 * @throws RangeError if a number or the label is out of bounds.
 */
export function checkCall(call: Call): void {
  checkMembers(call, CALL, "call", "call.");
  const { budget: ms = SHORT } = call;
  if (ms < SHORT) {
    surprise(`call.budget is ${ms} ms, less than half a second: it is in milliseconds`);
  }
  if (ms > DAY) {
    surprise(`call.budget is ${ms} ms, more than a day`);
  }
}

/** A call as the wire has it; one that is none is refused, see {@link checkCall}. */
export function callMembers(call: Call, seed: number): WireCall {
  checkCall(call);
  const { remote, write, label, budget, started } = call;
  return {
    remote,
    write,
    seed,
    label: label && Buffer.from(label).toString(), // half a surrogate pair is no UTF-8
    surface_conflict: call.surfaceConflict || undefined,
    connect_retry: call.connectRetry,
    repeatable: call.repeatable || undefined,
    one_request: call.oneRequest,
    refuses_before_acting: call.refusesBeforeActing || undefined,
    budget_us: microsIfGiven(budget, "call.budget"),
    started_us: microsIfGiven(started, "call.started"),
  };
}
