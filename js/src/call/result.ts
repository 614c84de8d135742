/** How one attempt ended. */

import { anything, checkMembers, type Members, optional, wants } from "../arguments/members.js";
import { type Text, textMembers } from "../wire/text.js";
import type { WireResult } from "../wire/types.js";
import { MAX_INTEGER, microsIfGiven, retryAfterMicros, time } from "../wire/values.js";

/** Whether an attempt's request left the caller. */
export type Sent = NonNullable<WireResult["sent"]>;

/** What was seen of a request that got no whole answer. */
export type Failure = NonNullable<WireResult["failure"]>;

const FAILURES: readonly unknown[] = [
  "unresolved",
  "unconnected",
  "untrusted",
  "broke",
  "stale",
  "cut",
  "malformed",
] satisfies Failure[];

const SENT: readonly unknown[] = ["no", "yes", "unknown"] satisfies Sent[];

const MAX_SIGNAL_BYTES = 32;

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
  /** Whether a request left the caller. `no` only if it was seen that nothing of the whole
   * attempt was sent that could have an effect: a write is repeated then. `unknown` unless
   * given. */
  readonly sent?: Sent | undefined;
  /** What was seen of the request that failed, if it got no whole answer: `unresolved`, no
   * address for the server's name; `unconnected`, no connection; `untrusted`, a certificate
   * or a protocol was refused in the handshake; `broke`, the connection stood and broke
   * before an answer; `stale`, likewise, but it had stood idle since before the call's first
   * failure; `cut`, it broke within the answer; `malformed`, what answered does not speak
   * the protocol. Not of a process. */
  readonly failure?: Failure | undefined;
  /** The attempt made this one request that may have effects, and no other. Of a result with
   * a status it is filled in if that was seen. */
  readonly onlyRequest?: boolean | undefined;
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

/** Whether an attempt succeeded: exit code 0, or a 2xx status without a message or a failure. */
export function succeeded(result: Result): boolean {
  if (result.timedOut || result.signal || result.failure) {
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
 * @throws RangeError if a time is out of bounds.
 */
export function resultMembers(result: Result): WireResult {
  checkResult(result);
  const { exitCode, httpStatus } = result;
  return {
    ...textMembers("stdout", result.stdout),
    ...textMembers("stderr", result.stderr),
    ...textMembers("message", result.message),
    exit_code: bounded(exitCode),
    http_status: bounded(httpStatus),
    signal: result.signal || undefined,
    retry_after_us: retryAfterMicros(result.retryAfter),
    started_us: microsIfGiven(result.started, "result.started"),
    ended_us: microsIfGiven(result.ended, "result.ended"),
    timed_out: result.timedOut || undefined,
    streamed: result.streamed || undefined,
    sent: result.sent,
    failure: result.failure,
    only_request: result.onlyRequest || undefined,
  };
}

function bounded(value: number | null | undefined): number | undefined {
  return typeof value === "number"
    ? Math.max(-MAX_INTEGER, Math.min(value, MAX_INTEGER))
    : undefined;
}

/** Refuses what is no result. */
export function checkResult(result: Result): void {
  checkPlain(result);
  checkMembers(result, MEMBERS, "result", "result.");
}

const integer = wants("an integer", (value) => Number.isInteger(value ?? 0));

const status = wants(
  "an integer from 0",
  (value) => Number.isInteger(value ?? 0) && Number(value ?? 0) >= 0,
);

const text = wants(
  "a string or a Uint8Array",
  (value) => typeof (value ?? "") === "string" || value instanceof Uint8Array,
);

const sent = wants('"no", "yes" or "unknown"', (value) => SENT.includes(value ?? "unknown"));

const failure = wants(
  `one of ${FAILURES.join(", ")}`,
  (value) => value === undefined || FAILURES.includes(value),
);

const retryAfter = wants("a number of milliseconds", (value) => typeof (value ?? 0) === "number");

const signal = wants(
  'a name such as "SIGKILL"',
  (value) =>
    value == null || (typeof value === "string" && Buffer.byteLength(value) <= MAX_SIGNAL_BYTES),
);

const MEMBERS: Members<Result> = {
  exitCode: integer,
  stdout: text,
  stderr: text,
  httpStatus: status,
  message: text,
  retryAfter,
  sent,
  failure,
  onlyRequest: anything,
  signal,
  timedOut: anything,
  streamed: anything,
  started: optional(time),
  ended: optional(time),
};

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
