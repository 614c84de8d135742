/**
 * Failures of a connection, as texts. The policies know failures by texts, so an error
 * becomes the report that omnigraph's command prints of the same failure.
 */

import type { Result } from "../call/result.js";

/** A failure, and the error that says so. */
export interface Failure {
  /** The causes of the report, without the error itself. */
  readonly causes: readonly string[];
  /** Nothing was sent of the request that failed. */
  readonly unsent?: boolean;
  /** A handshake's failure: nothing was sent, unless something was. */
  readonly handshake?: boolean;
  /** A connection broke, or was closed, before an answer came. */
  readonly broken?: boolean;
  /** It was ended at a time limit. */
  readonly timedOut?: boolean;
  readonly error: unknown;
}

const FIRST = "error sending request for url ()";

/** No connection could be made: nothing was sent. */
export function connectFailed(error: unknown, why = "tcp connect error"): Failure {
  return { causes: [FIRST, "client error (Connect)", why], unsent: true, error };
}

/** What stands behind the connection is not what it should be: waiting does not help. */
export function untrusted(error: unknown): Failure {
  return connectFailed(error, "invalid peer certificate or handshake");
}

/** The connection was closed before an answer came. */
export function closed(error: unknown): Failure {
  return { ...sendFailed(error, "connection closed before message completed"), broken: true };
}

/** The connection stood and broke. */
export function broke(error: unknown): Failure {
  return { ...sendFailed(error, "connection error"), broken: true };
}

/** What answered does not speak HTTP. */
export function notHttp(error: unknown): Failure {
  return sendFailed(error, "invalid HTTP version parsed");
}

function sendFailed(error: unknown, why: string): Failure {
  return { causes: [FIRST, "client error (SendRequest)", why], error };
}

/** The answer broke off. */
export function cut(error: unknown): Failure {
  const causes = ["error decoding response body", "error reading a body from connection"];
  return { causes, error };
}

/** No answer came in time. */
export function late(error: unknown): Failure {
  return { causes: [], timedOut: true, error };
}

/**
 * The result that a failure stands for.
 *
 * @param failure What failed.
 * @param unsent Whether it is known that no server has read anything of the attempt.
 */
export function resultOfFailure(failure: Failure, unsent: boolean): Result {
  const sent = unsent ? "no" : "unknown";
  if (failure.timedOut) {
    return { timedOut: true, message: line(failure.error), sent };
  }
  const causes = [...failure.causes, line(failure.error)];
  const lines = causes.map((cause, number) => `${String(number).padStart(4)}: ${cause}\n`);
  return { stderr: `Error: \n${lines.join("")}\n`, sent };
}

/** An error in one line: a cause of several would be read otherwise. */
export function line(error: unknown): string {
  try {
    if (!(error instanceof Error)) {
      return String(error);
    }
    const text = String(error.message).split(/\s+/).filter(Boolean).join(" ");
    return text ? `${error.name}: ${text}` : String(error.name);
  } catch {
    return "an error without a text"; // its members throw
  }
}
