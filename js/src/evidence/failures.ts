/**
 * Which failures common errors stand for.
 *
 * A connection that could not be made is told apart from one that broke: after the first
 * nothing was sent, and trying again is safe; after the second a write may have been
 * applied. Where an error does not say which it was, it is taken for the second.
 *
 * Nothing is imported for this: the code, the name and the text of an error tell.
 */

import {
  broke,
  closed,
  connectFailed,
  cut,
  type Failure,
  late,
  notHttp,
  untrusted,
} from "./report.js";

interface Details {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly errors?: unknown;
  readonly cause?: unknown;
}

/** What connect(2) says of a server that is away and may come back. */
const AWAY = new Set(
  (
    "ECONNREFUSED ECONNRESET ECONNABORTED EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN " +
    "ETIMEDOUT EADDRNOTAVAIL EAGAIN ENOENT"
  ).split(" "),
);

/** How deep errors are looked into (a choice: no known client nests more). */
export const DEEP = 8;

/** The failure that an error stands for, none if it does not say that an attempt to reach
 * a server failed. */
export function failureOf(error: unknown, depth = 0): Failure | undefined {
  if (typeof error !== "object" || error === null || depth > DEEP) {
    return undefined;
  }
  const { errors, cause } = error as Details;
  if (Array.isArray(errors) && errors.length > 0) {
    return worst(errors.map((each) => failureOf(each, depth + 1)));
  }
  return own(error) ?? failureOf(cause, depth + 1);
}

/** Of several attempts to connect, the one that says the least of nothing being sent. */
function worst(failures: (Failure | undefined)[]): Failure | undefined {
  if (failures.some((each) => each === undefined)) {
    return undefined;
  }
  return failures.find((each) => !each!.unsent) ?? failures[0];
}

/** What an error says itself, without its causes. */
function own(error: Details): Failure | undefined {
  const code = typeof error.code === "string" ? error.code : "";
  const message = typeof error.message === "string" ? error.message : "";
  const known = [connecting, encrypting, waiting, answering, breaking];
  for (const each of known) {
    const failure = each(error, code, message);
    if (failure) {
      return failure;
    }
  }
  return undefined;
}

type Known = (error: Details, code: string, message: string) => Failure | undefined;

const connecting: Known = (error, code, message) => {
  const syscall = typeof error.syscall === "string" ? error.syscall : "";
  if (syscall === "getaddrinfo" || syscall.startsWith("query") || /^(ENOTFOUND|EAI_)/.test(code)) {
    return connectFailed(error, "dns error");
  }
  if (syscall === "connect") {
    return connectFailed(error, AWAY.has(code) ? undefined : code);
  }
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ECONNREFUSED") {
    return connectFailed(error);
  }
  const tunnel = /^Proxy response \((\d+)\)/.exec(message);
  if (tunnel) {
    const refused = tunnel[1] === "407" ? "proxy authorization required" : "unsuccessful";
    return connectFailed(error, `tunnel error: ${refused}`);
  }
  // A server, or what stands before it, took the connection and closed it at once.
  return message.includes("before secure TLS connection") ? connectFailed(error) : undefined;
};

const CERTIFICATE =
  /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

const encrypting: Known = (error, code) => {
  if (CERTIFICATE.test(code)) {
    return untrusted(error);
  }
  // An alert may also come later, and then the request has been sent.
  return /^(ERR_SSL_|EPROTO$)/.test(code) ? { ...untrusted(error), handshake: true } : undefined;
};

const waiting: Known = (error, code, message) => {
  const limit =
    error.name === "TimeoutError" ||
    code === "UND_ERR_HEADERS_TIMEOUT" ||
    code === "UND_ERR_BODY_TIMEOUT" ||
    code === "ESOCKETTIMEDOUT" ||
    (code === "ETIMEDOUT" && error.syscall === undefined) ||
    (code === "ECONNABORTED" && message.includes("timeout"));
  return limit ? late(error) : undefined;
};

const answering: Known = (error, code, message) => {
  const broken =
    message === "terminated" ||
    message === "aborted" ||
    code === "ERR_STREAM_PREMATURE_CLOSE" ||
    code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" ||
    code === "HPE_INVALID_EOF_STATE";
  if (broken) {
    return cut(error);
  }
  return code.startsWith("HPE_") || error.name === "HTTPParserError" ? notHttp(error) : undefined;
};

const BROKEN = new Set(
  (
    "ECONNRESET EPIPE ECONNABORTED ENETRESET EHOSTUNREACH ENETUNREACH ENETDOWN ETIMEDOUT " +
    "UND_ERR_SOCKET ERR_HTTP2_STREAM_ERROR ERR_HTTP2_SESSION_ERROR ERR_HTTP2_STREAM_CANCEL " +
    "ERR_HTTP2_GOAWAY_SESSION ERR_HTTP2_INVALID_SESSION"
  ).split(" "),
);

const breaking: Known = (error, code, message) => {
  if (message === "socket hang up" || message === "other side closed") {
    return closed(error);
  }
  return BROKEN.has(code) ? broke(error) : undefined;
};
