/** Which results common errors stand for. */

import { failureOf } from "./failures.js";
import { broke, line, resultOfFailure } from "./report.js";
import { Requests } from "./requests.js";
import { retryAfterOf } from "./response.js";
import type { Result } from "./result.js";
import type { Text } from "./text.js";

/** Maps an error to the result that it stands for; `undefined`: to none. */
export type ResultOf = (error: unknown) => Result | undefined;

/** What else is known of an error. */
export interface ResultOfOptions {
  /** The request that failed was the attempt's only one: the client follows no redirect
   * and does not try again by itself. Needed of `fetch` and other clients outside of an
   * attempt that this package makes, in which requests are seen. False unless given. */
  readonly onlyRequest?: boolean | undefined;
}

/**
 * The result that an error stands for; `undefined` if it stands for none, because it does
 * not say that an attempt to reach a server failed.
 *
 * Known are, as far as they speak of a connection, a time limit, an HTTP status or a
 * process's exit code, the errors of Node (net, tls, dns, http, http2, child_process), of
 * `fetch` and undici, and of the clients that hand these on or give them a `cause`, such
 * as axios, got and node-fetch.
 *
 * After a redirect a refused connection does not mean that nothing was sent: the first
 * server has read the request. Where that may be, the result says so.
 */
export function resultOf(error: unknown, options: ResultOfOptions = {}): Result | undefined {
  return resultAfter(error, Requests.current(), options.onlyRequest ?? false);
}

/** The same with the requests of the attempt that the error has ended. */
export function resultAfter(
  error: unknown,
  requests: Requests | undefined,
  onlyRequest = false,
): Result | undefined {
  const said = processResult(error) ?? statusResult(error);
  if (said) {
    return said;
  }
  const failure = failureOf(error);
  if (!failure) {
    return undefined;
  }
  const unsent = !requests?.sent && (onlyRequest || isOfSystem(error) || nothingSent(requests));
  if (failure.timedOut) {
    return resultOfFailure(failure, nothingSent(requests));
  }
  const sure = failure.handshake ? nothingSent(requests) : failure.unsent;
  const honest = sure && unsent ? failure : failure.unsent ? broke(failure.error) : failure;
  return resultOfFailure(honest, honest.unsent ?? false);
}

/** The result of an attempt that was aborted, and whose error stands for none. */
export function abortedResult(error: unknown, requests: Requests): Result {
  return { message: line(error), sent: nothingSent(requests) ? "no" : "unknown" };
}

/** Whether it has been seen that a request was made and none has left. */
function nothingSent(requests: Requests | undefined): boolean {
  return requests?.seen === true && !requests.sent;
}

/** Whether an error is a connection's own, and not what a client made of it: a client may
 * follow redirects, so its requests must have been seen. */
function isOfSystem(error: unknown): boolean {
  const { name, syscall, errors } = error as { [member: string]: unknown };
  const several = name === "AggregateError" && Array.isArray(errors);
  return several ? errors.every(isOfSystem) : name === "Error" && typeof syscall === "string";
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
  return plain && Object.getPrototypeOf(value) === Object.prototype ? JSON.stringify(value) : "";
}
