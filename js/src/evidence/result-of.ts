/** Which results common errors stand for. */

import { anything, checkMembers, type Members } from "../arguments/members.js";
import type { Result } from "../call/result.js";
import type { Text } from "../wire/text.js";
import { failureOf } from "./failures.js";
import { broke, connectFailed, type Failure, line, resultOfFailure } from "./report.js";
import { isUnconnected, Requests } from "./requests.js";
import { retryAfterOf } from "./response.js";

/** Maps an error to the result that it stands for; `undefined`: to none. */
export type ResultOf = (error: unknown) => Result | undefined;

/** What else is known of an error. */
export interface ResultOfOptions {
  /** The request that failed was the attempt's only one: the client follows no redirect
   * and does not try again by itself. Needed wherever requests are not seen: outside of an
   * attempt that this package makes, and of clients that are built neither on `fetch` and
   * undici nor on node:http. What is seen counts for more. False unless given. */
  readonly onlyRequest?: boolean | undefined;
}

const OPTIONS: Members<ResultOfOptions> = { onlyRequest: anything };

/**
 * The result that an error stands for; `undefined` if it stands for none, because it does
 * not say that an attempt to reach a server failed.
 *
 * Known are, as far as they speak of a connection, a time limit, an HTTP status or a
 * process's exit code, the errors of Node (net, tls, dns, http, http2, child_process), of
 * `fetch` and undici, and of the clients that hand these on or give them a `cause`, such
 * as axios, got and node-fetch.
 *
 * No error tells whether another request was sent before, as after a redirect: the first
 * server has read the request then. So a refused connection means that nothing was sent
 * only if the attempt's requests were seen, or {@link ResultOfOptions.onlyRequest} says so.
 * It never throws, whatever the error is.
 */
export function resultOf(error: unknown, options: ResultOfOptions = {}): Result | undefined {
  checkMembers(options, OPTIONS, "the options of resultOf");
  return resultAfter(error, Requests.current(), options);
}

/** What is known of an attempt besides its requests. */
export interface Attempted extends ResultOfOptions {
  /** It was a read, which may be repeated whatever was sent. */
  readonly read?: boolean | undefined;
}

/** The same with the requests of the attempt that the error has ended. */
export function resultAfter(
  error: unknown,
  requests: Requests | undefined,
  known: Attempted = {},
): Result | undefined {
  try {
    const said = processResult(error) ?? statusResult(error);
    const failure = said ? undefined : failureOf(error);
    return failure ? connectionResult(error, failure, requests?.sent, known) : said;
  } catch {
    return undefined; // its members throw; those of known clients do not
  }
}

function connectionResult(
  error: unknown,
  failure: Failure,
  seen: "no" | "unknown" | undefined,
  known: Attempted,
): Result {
  if (failure.timedOut) {
    return resultOfFailure(failure, seen === "no");
  }
  if (seen === "no") {
    // A connection that broke under a seen request did so in the handshake.
    const handshake = failure.broken && isUnconnected(error);
    const early = handshake ? connectFailed(failure.error) : failure;
    return resultOfFailure(early, early.unsent ?? false);
  }
  const only = seen === undefined && known.onlyRequest === true;
  if (!failure.unsent || (only && !failure.handshake)) {
    return resultOfFailure(failure, failure.unsent ?? false);
  }
  const harmless = seen === undefined && known.read === true && !failure.handshake;
  return resultOfFailure(harmless ? failure : broke(failure.error), false);
}

/** The result of an attempt that was aborted, and whose error stands for none. */
export function abortedResult(error: unknown, requests: Requests): Result {
  return { message: line(error), sent: requests.sent === "no" ? "no" : "unknown" };
}

interface ProcessError {
  code?: unknown;
  exitCode?: unknown;
  status?: unknown;
  signal?: unknown;
  killed?: unknown;
  timedOut?: unknown;
  stdout?: unknown;
  stderr?: unknown;
}

/** A process that ended with a failure, as child_process throws it (and execa). */
function processResult(error: unknown): Result | undefined {
  if (!(error instanceof Error) || !("stdout" in error && "stderr" in error)) {
    return undefined;
  }
  const ended = error as ProcessError;
  const exitCode = [ended.exitCode, ended.status, ended.code].find(Number.isInteger);
  const signal = typeof ended.signal === "string" ? ended.signal : undefined;
  const timedOut = ended.timedOut === true || ended.killed === true || ended.code === "ETIMEDOUT";
  if (exitCode === undefined && !signal && !timedOut) {
    return undefined; // such as a program that there is not
  }
  return {
    exitCode: exitCode as number | undefined,
    signal,
    timedOut,
    stdout: textOf(ended.stdout),
    stderr: textOf(ended.stderr),
  };
}

interface StatusResponse {
  status?: unknown;
  statusCode?: unknown;
  headers?: Record<string, unknown> & { get?: unknown };
  data?: unknown;
  body?: unknown;
  text?: unknown;
}

/** An answer with a status that says of a failure, as axios, got and others have it. */
function statusResult(error: unknown): Result | undefined {
  if (!(error instanceof Error) || !("response" in error)) {
    return undefined;
  }
  const response = error.response as StatusResponse | null | undefined;
  const status = response?.status ?? response?.statusCode;
  if (!response || !Number.isInteger(status) || (status as number) < 400) {
    return undefined;
  }
  return {
    httpStatus: status as number,
    message: textOf(response.data ?? response.body ?? response.text),
    retryAfter: retryAfterOf(header(response.headers, "retry-after")),
  };
}

function header(headers: StatusResponse["headers"], name: string): string | undefined {
  const value = typeof headers?.get === "function" ? headers.get(name) : headers?.[name];
  return typeof value === "string" ? value : undefined;
}

/** A text as it is; of an object that was made of one, its JSON; of anything else none. */
function textOf(value: unknown): Text {
  if (typeof value === "string" || value instanceof Uint8Array) {
    return value;
  }
  const plain = value !== null && typeof value === "object";
  return plain && Object.getPrototypeOf(value) === Object.prototype ? jsonOf(value) : "";
}

/** An object's JSON; of one that has none, such as a circle, nothing. */
function jsonOf(value: object): string {
  try {
    return JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each));
  } catch {
    return "";
  }
}
