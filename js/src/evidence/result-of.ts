/** Which results common errors stand for. */

import { anything, checkMembers, type Members } from "../arguments/members.js";
import type { Result, Sent } from "../call/result.js";
import type { Text } from "../wire/text.js";
import { line, meaningOf } from "./failures.js";
import type { Meaning } from "./meaning.js";
import { type Claim, Requests } from "./requests.js";
import { retryAfterOf } from "./response.js";
import { knownIn } from "./traffic.js";

/** Maps an error to the result that it stands for; `undefined`: to none. */
export type ResultOf = (error: unknown) => Result | undefined;

/** What else is known of an error. */
export interface ResultOfOptions {
  /** The attempt makes one request that may have effects, and no other: its client follows no
   * redirect and does not try again by itself, and nothing is sent in another way. Needed
   * wherever outlast does not see this, as outside of an attempt that it makes. What is seen
   * of the attempt counts for more; but if it is not so and was not seen, a write may be
   * applied twice. False unless given. */
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
 * as axios, got, ky and node-fetch. So are those of pg, mysql2, ioredis, node-redis and
 * @grpc/grpc-js that tell of a connection (`docs/databases.md`).
 *
 * No error tells whether another request was sent before, as after a redirect: the first
 * server has read the request then. So a refused connection means that nothing was sent
 * only if that was seen, or {@link ResultOfOptions.onlyRequest} says so. It never throws,
 * whatever the error is.
 */
export function resultOf(error: unknown, options: ResultOfOptions = {}): Result | undefined {
  checkMembers(options, OPTIONS, "the options of resultOf");
  return resultAfter(error, { requests: Requests.current(), onlyRequest: options.onlyRequest });
}

/** What is known of an attempt that an error has ended. */
export interface Attempted {
  readonly requests?: Requests | undefined;
  readonly onlyRequest?: Claim | undefined;
}

/** The same with what is known of the attempt that the error has ended. */
export function resultAfter(error: unknown, attempted: Attempted = {}): Result | undefined {
  try {
    const said = processResult(error) ?? statusResult(error);
    if (said) {
      return said;
    }
    const meaning = meaningOf(error);
    return meaning && failureResult(error, meaning, attempted);
  } catch {
    return undefined; // its members throw; those of known clients do not
  }
}

function failureResult(error: unknown, meaning: Meaning, attempted: Attempted): Result {
  const message = line(error);
  const { failure } = meaning;
  if (!failure) {
    return { timedOut: true, message, sent: sentIn(attempted) };
  }
  const { requests } = attempted;
  const { early, idleSince = Infinity } = knownIn(requests, error) ?? {};
  if (meaning.refused) {
    requests?.refused();
  }
  const isEarly = meaning.early || meaning.refused || early !== undefined;
  const onlyRequest = attempted.onlyRequest && (meaning.unsure ? "if seen" : attempted.onlyRequest);
  const isStale = idleSince < (requests?.since ?? -Infinity);
  const sent = isEarly ? sentIn({ requests, onlyRequest }, !meaning.handshake) : "unknown";
  if (meaning.answer && sent !== "no") {
    return { httpStatus: meaning.answer, message, sent };
  }
  return {
    failure: failure === "broke" ? (early ?? (isStale ? "stale" : "broke")) : failure,
    message,
    sent,
  };
}

/** The result of an attempt that was aborted, and whose error stands for none. */
export function abortedResult(error: unknown, attempted: Attempted): Result {
  return { message: line(error), sent: sentIn(attempted) };
}

/**
 * Whether something was sent in an attempt.
 *
 * @param isEarly The request that failed was not; else the attempt must have been seen.
 */
function sentIn({ requests, onlyRequest = false }: Attempted, isEarly = false): Sent {
  const unsent = requests
    ? (isEarly || requests.seen) && !requests.doubt(onlyRequest)
    : isEarly && onlyRequest === true;
  return unsent ? "no" : "unknown";
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

/** An answer with a status that says of a failure, as axios, got, ky and others have it, and
 * undici in the error itself. */
function statusResult(error: unknown): Result | undefined {
  if (!(error instanceof Error) || !("response" in error || "statusCode" in error)) {
    return undefined;
  }
  const { response } = error as { response?: StatusResponse | null };
  const { status, statusCode, headers, data, body, text } = response ?? (error as StatusResponse);
  const code = status ?? statusCode;
  if (!Number.isInteger(code) || (code as number) < 400) {
    return undefined;
  }
  return {
    httpStatus: code as number,
    message: textOf(data ?? body ?? text),
    retryAfter: retryAfterOf(header(headers, "retry-after")),
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
