/** How one attempt ended. */

import { type Text, textMembers } from "./text.js";
import { checkMembers, MAX_INTEGER, micros, retryAfterMicros, show } from "./wire.js";
import type { WireResult } from "./wire-types.js";

/** Whether an attempt's request left the caller. */
export type Sent = "no" | "yes" | "unknown";

const MAX_SIGNAL_BYTES = 32;

const MEMBERS = [
  "exitCode",
  "stdout",
  "stderr",
  "httpStatus",
  "message",
  "retryAfter",
  "sent",
  "signal",
  "timedOut",
  "streamed",
  "started",
  "ended",
] as const;

/**
 * How one attempt ended, either as a process (an exit code or a signal, with what it
 * printed) or as an HTTP exchange (a status or a message).
 *
 * Texts are best given as bytes, just as they arrived: a policy looks at where words
 * stand, and a reader that converts line ends moves them.
 */
export interface Result {
  /** The process's, if it exited. `null` as child_process has it: it did not. */
  readonly exitCode?: number | null | undefined;
  /** What it printed; of more than 64 KiB the policy gets both ends. */
  readonly stdout?: Text | undefined;
  /** The same for its other stream. */
  readonly stderr?: Text | undefined;
  /** Of an exchange that was answered. */
  readonly httpStatus?: number | undefined;
  /** What an exchange that failed said. */
  readonly message?: Text | undefined;
  /** The server's Retry-After in milliseconds. Any number is safe; a negative one is
   * not heard. */
  readonly retryAfter?: number | undefined;
  /** Whether the request left the caller, where that is known better than the texts
   * can say. `unknown` unless given. */
  readonly sent?: Sent | undefined;
  /** The name of the signal that ended the process, such as `SIGKILL`. */
  readonly signal?: string | null | undefined;
  /** The attempt was ended at its time limit. */
  readonly timedOut?: boolean | undefined;
  /** Its output has reached the user, so it must not run again. */
  readonly streamed?: boolean | undefined;
  /** When it began, in milliseconds of the clock that the call is driven with. When the
   * driver began it unless given. */
  readonly started?: number | undefined;
  /** When it ended, likewise. */
  readonly ended?: number | undefined;
}

/** Whether an attempt succeeded: exit code 0, or a 2xx status without a message. */
export function succeeded(result: Result): boolean {
  if (result.timedOut || result.signal) {
    return false;
  }
  if (result.exitCode !== undefined && result.exitCode !== null) {
    return result.exitCode === 0;
  }
  const status = result.httpStatus ?? 0;
  return status >= 200 && status < 300 && !result.message?.length;
}

/**
 * A result as the wire has it.
 *
 * @throws TypeError if a member is unknown or of the wrong type.
 * @throws RangeError if a number or a signal is out of bounds.
 */
export function resultMembers(result: Result): WireResult {
  checkResult(result);
  const members: Record<string, unknown> = {
    ...textMembers("stdout", result.stdout),
    ...textMembers("stderr", result.stderr),
    ...textMembers("message", result.message),
  };
  const { exitCode, httpStatus, signal, started, ended } = result;
  const given = { exit_code: exitCode ?? undefined, http_status: httpStatus };
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) {
      members[name] = Math.max(-MAX_INTEGER, Math.min(value, MAX_INTEGER));
    }
  }
  members.signal = signal || undefined;
  members.retry_after_us = retryAfterMicros(result.retryAfter);
  members.started_us = started === undefined ? undefined : micros(started, "result.started");
  members.ended_us = ended === undefined ? undefined : micros(ended, "result.ended");
  members.timed_out = result.timedOut || undefined;
  members.streamed = result.streamed || undefined;
  members.sent = result.sent;
  return members;
}

/** Refuses what is no result. */
export function checkResult(result: Result): void {
  checkPlain(result);
  checkMembers(result, MEMBERS, "result");
  for (const name of ["exitCode", "httpStatus"] as const) {
    const value = result[name] ?? 0;
    if (!Number.isInteger(value) || (name === "httpStatus" && value < 0)) {
      throw new TypeError(`outlast: result.${name} is ${show(value)}, and must be an integer`);
    }
  }
  for (const name of ["stdout", "stderr", "message"] as const) {
    const text = result[name] ?? "";
    if (typeof text !== "string" && !(text instanceof Uint8Array)) {
      throw new TypeError(`outlast: result.${name} must be a string or a Uint8Array`);
    }
  }
  if (!["no", "yes", "unknown"].includes(result.sent ?? "unknown")) {
    throw new TypeError(
      `outlast: result.sent is ${show(result.sent)}, and must be "no", "yes" or "unknown"`,
    );
  }
  if (typeof (result.retryAfter ?? 0) !== "number") {
    throw new TypeError("outlast: result.retryAfter must be a number of milliseconds");
  }
  const signal = result.signal ?? "";
  if (typeof signal !== "string" || Buffer.byteLength(signal) > MAX_SIGNAL_BYTES) {
    throw new TypeError(
      `outlast: result.signal is ${show(signal)}, and must be a name such as "SIGKILL"`,
    );
  }
}

/** Refuses an object of a class: none is a result, and one without members of its own would
 * pass for an empty one. */
function checkPlain(result: unknown): void {
  if (typeof result !== "object" || result === null) {
    return; // refused with the rest
  }
  const prototype = Object.getPrototypeOf(result);
  // Another realm's plain object has another prototype, but that has none either.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) {
    return;
  }
  const name = prototype.constructor?.name;
  throw new TypeError(
    `outlast: result is ${typeof name === "string" && name ? `a ${name}` : "no plain object"}, ` +
      "and must be a plain object; resultOfResponse(response) makes one of an answer of fetch",
  );
}

/** A result with its times, where it has none of its own. */
export function timed(result: Result, started: number, ended: number): Result {
  checkResult(result);
  return { ...result, started: result.started ?? started, ended: result.ended ?? ended };
}
