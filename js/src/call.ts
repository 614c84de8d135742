/** What a call is. */

import { surprise } from "./surprise.js";
import { checkMembers, micros, show } from "./wire.js";
import type { WireCall } from "./wire-types.js";

const MAX_LABEL_BYTES = 256;

/** A budget under this is a number of seconds, taken for milliseconds (a choice). */
const SHORT = 500;

const DAY = 24 * 60 * 60 * 1000;

const MEMBERS = [
  "remote",
  "write",
  "surfaceConflict",
  "connectRetry",
  "repeatable",
  "oneRequest",
  "budget",
  "label",
  "started",
] as const;

/**
 * What a call is; the same for all of its attempts. `remote` and `write` must be
 * said: a policy cannot guess what is safe.
 */
export interface Call {
  /** It goes over the network, to a server that may restart. */
  readonly remote: boolean;
  /** It may change something. If in doubt, it does. */
  readonly write: boolean;
  /** A compare-and-swap: lose a race rather than repeat the write. False unless given. */
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
  /** The call's total budget in milliseconds, above 0. It runs from `started` on, and
   * never ends an attempt. Without it there is no limit but the policy's own. */
  readonly budget?: number | undefined;
  /** A name for messages, at most 256 bytes, such as `query`. */
  readonly label?: string | undefined;
  /** When the call began, in milliseconds of the clock that it is driven with, before
   * any wait for a lock. With its first attempt unless given. */
  readonly started?: number | undefined;
}

/**
 * A call as the wire has it.
 *
 * @throws TypeError if a member is missing, unknown or of the wrong type.
 * @throws RangeError if a number or the label is out of bounds.
 */
export function callMembers(call: Call, seed: number): WireCall {
  checkCall(call);
  const members: WireCall = { remote: call.remote, write: call.write, seed };
  if (call.label) {
    members.label = Buffer.from(call.label).toString();
  }
  if (call.surfaceConflict) {
    members.surface_conflict = true;
  }
  if (call.connectRetry === false) {
    members.connect_retry = false;
  }
  if (call.repeatable) {
    members.repeatable = true;
  }
  if (call.oneRequest !== undefined) {
    members.one_request = call.oneRequest;
  }
  if (call.budget !== undefined) {
    members.budget_us = micros(call.budget, "call.budget");
  }
  if (call.started !== undefined) {
    members.started_us = micros(call.started, "call.started");
  }
  return members;
}

/** Refuses what is no call, and warns of what is probably not meant. */
export function checkCall(call: Call): void {
  checkMembers(call, MEMBERS, "call");
  const optionals = ["surfaceConflict", "connectRetry", "repeatable", "oneRequest"] as const;
  for (const name of ["remote", "write", ...optionals] as const) {
    const optional = name !== "remote" && name !== "write";
    if (typeof call[name] !== "boolean" && !(optional && call[name] === undefined)) {
      throw new TypeError(
        `outlast: call.${name} is ${show(call[name])}, and must be true or false`,
      );
    }
  }
  if (call.label !== undefined && typeof call.label !== "string") {
    throw new TypeError(`outlast: call.label is ${show(call.label)}, and must be a string`);
  }
  if (Buffer.byteLength(call.label ?? "") > MAX_LABEL_BYTES) {
    throw new RangeError(
      `outlast: call.label is ${show(call.label)}, and must have at most ${MAX_LABEL_BYTES} bytes`,
    );
  }
  checkTimes(call);
  if (call.surfaceConflict && !call.write) {
    surprise("call.surfaceConflict means nothing for a read: only a write can lose a race");
  }
}

function checkTimes(call: Call): void {
  if (call.started !== undefined) {
    micros(call.started, "call.started");
  }
  if (call.budget === undefined) {
    return;
  }
  if (micros(call.budget, "call.budget") < 1) {
    throw new RangeError(
      `outlast: call.budget is ${call.budget} ms, and must be above 0; leave it out for no limit`,
    );
  }
  if (call.budget < SHORT) {
    surprise(`call.budget is ${call.budget} ms, less than half a second: it is in milliseconds`);
  }
  if (call.budget > DAY) {
    surprise(`call.budget is ${call.budget} ms, more than a day`);
  }
}
