/**
 * Which failures common errors stand for.
 *
 * A connection that could not be made is told apart from one that broke: after the first
 * nothing was sent, and trying again is safe; after the second a write may have been
 * applied. Where an error does not say which it was, it is taken for the second.
 *
 * Nothing is imported for this: the code, the name and the text of an error tell.
 */

import { grpc } from "./drivers/grpc.js";
import { ioredis } from "./drivers/ioredis.js";
import { mysql2 } from "./drivers/mysql2.js";
import { nodeRedis } from "./drivers/node-redis.js";
import { pg } from "./drivers/pg.js";
import {
  BROKE,
  type Details,
  type Known,
  type Meaning,
  UNCONNECTED,
  UNRESOLVED,
  UNTRUSTED,
} from "./meaning.js";

const LATE: Meaning = {};

/** How deep errors are looked into (a choice: no known client nests more). */
export const DEEP = 8;

/** What an error means, nothing if it does not say that an attempt to reach
 * a server failed. */
export function meaningOf(error: unknown, depth = 0): Meaning | undefined {
  if (typeof error !== "object" || error === null || depth > DEEP) {
    return undefined;
  }
  const { errors, cause } = error as Details;
  if (Array.isArray(errors) && errors.length > 0) {
    return worst(errors.map((each) => meaningOf(each, depth + 1)));
  }
  return own(error) ?? meaningOf(cause, depth + 1);
}

/** Of several attempts to connect, the one that says the least of nothing being sent. */
function worst(all: (Meaning | undefined)[]): Meaning | undefined {
  if (all.some((each) => each === undefined)) {
    return undefined;
  }
  return all.find((each) => !each!.early) ?? all[0];
}

/** What an error says itself, without its causes. */
function own(error: Details): Meaning | undefined {
  const code = typeof error.code === "string" ? error.code : "";
  const message = typeof error.message === "string" ? error.message : "";
  for (const known of KNOWN) {
    const meaning = known(error, code, message);
    if (meaning) {
      return meaning;
    }
  }
  return undefined;
}

const connecting: Known = (error, code, message) => {
  const syscall = String(error.syscall ?? error.erroredSysCall ?? "");
  if (syscall === "getaddrinfo" || syscall.startsWith("query") || /^(ENOTFOUND|EAI_)/.test(code)) {
    return UNRESOLVED;
  }
  // Of the system's errors, only a bare one of Bun's says nothing of what was being done.
  const noRoute = /^(EHOSTUNREACH|ENETUNREACH)$/.test(code) && !syscall;
  if (syscall === "connect" || UNMADE.test(code) || noRoute) {
    return UNCONNECTED;
  }
  const tunnel = /^Proxy response \((\d+)\)/.exec(message);
  if (tunnel) {
    return tunnel[1] === "407" ? UNTRUSTED : UNCONNECTED;
  }
  // A server, or what stands before it, took the connection and closed it at once.
  return message.includes("before secure TLS connection") ? UNCONNECTED : undefined;
};

const UNMADE = /^(ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT|ERR_SOCKET_CLOSED_BEFORE_CONNECTION)$/;

const CERTIFICATE =
  /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

const encrypting: Known = (_, code) => {
  if (CERTIFICATE.test(code)) {
    return UNTRUSTED;
  }
  // An alert may also come later, and then the request has been sent.
  return /^(ERR_SSL_|EPROTO$)/.test(code) ? { ...UNTRUSTED, handshake: true } : undefined;
};

const waiting: Known = (error, code, message) => {
  const limit =
    error.name === "TimeoutError" ||
    code === "UND_ERR_HEADERS_TIMEOUT" ||
    code === "UND_ERR_BODY_TIMEOUT" ||
    code === "ESOCKETTIMEDOUT" ||
    (code === "ETIMEDOUT" && error.syscall === undefined) ||
    (code === "ECONNABORTED" && message.includes("timeout")) ||
    // axios leaves out why its signal was aborted.
    (code === "ERR_CANCELED" && error.config?.signal?.reason?.name === "TimeoutError");
  return limit ? LATE : undefined;
};

const answering: Known = (error, code, message) => {
  const broken =
    message === "terminated" ||
    message === "aborted" ||
    message === "stream has been aborted" ||
    code === "ERR_STREAM_PREMATURE_CLOSE" ||
    code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" ||
    code === "UND_ERR_REQ_RETRY" ||
    code === "HPE_INVALID_EOF_STATE";
  if (broken) {
    return { failure: "cut" };
  }
  const other = code.startsWith("HPE_") || error.name === "HTTPParserError";
  return other ? { failure: "malformed" } : undefined;
};

const BROKEN = new Set(
  (
    "ECONNRESET EPIPE ECONNABORTED ENETRESET EHOSTUNREACH ENETUNREACH ENETDOWN ETIMEDOUT " +
    "UND_ERR_SOCKET ERR_HTTP2_STREAM_ERROR ERR_HTTP2_SESSION_ERROR ERR_HTTP2_STREAM_CANCEL " +
    "ERR_HTTP2_GOAWAY_SESSION ERR_HTTP2_INVALID_SESSION"
  ).split(" "),
);

const CLOSED = new Set([
  "socket hang up",
  "other side closed",
  "The HTTP/2 stream has been early terminated", // got's
]);

const breaking: Known = (_, code, message) =>
  CLOSED.has(message) || BROKEN.has(code) ? BROKE : undefined;

/** Deno's `fetch` tells by a text only, which is reqwest's. */
const denos: Known = (_, __, message) => {
  if (message === "error reading a body from connection") {
    return { failure: "cut" };
  }
  const [, how, why = ""] = /: client error \((Connect|SendRequest)\): (.*)/.exec(message) ?? [];
  if (how === "SendRequest") {
    return { failure: /^(connection|error writing)/.test(why) ? "broke" : "malformed" };
  }
  if (how === "Connect") {
    const away = /^(tcp connect error|tls handshake eof|tunnel error: unsuccessful)/.test(why);
    return why.startsWith("dns error") ? UNRESOLVED : away ? UNCONNECTED : UNTRUSTED;
  }
  return undefined;
};

const KNOWN: Known[] = [
  ...[connecting, encrypting, waiting, answering, breaking, denos],
  ...[pg, mysql2, ioredis, nodeRedis, grpc],
];

/** An error in one line, with what it says of its causes. */
export function line(error: unknown): string {
  const texts = causes(error).map(said).filter(Boolean);
  return texts.filter((text, n) => !texts.slice(0, n).join().includes(text)).join(": ");
}

function causes(error: unknown, depth = 0): unknown[] {
  try {
    const { cause, errors } = Object(error) as Details;
    const behind = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
    const more = behind === undefined || depth >= DEEP ? [] : causes(behind, depth + 1);
    return [error, ...more];
  } catch {
    return ["an error without a text"]; // its members throw
  }
}

function said(error: unknown, depth: number): string {
  try {
    const { name, message } = error instanceof Error ? error : { name: "", message: error };
    const text = String(message).split(/\s+/).filter(Boolean).join(" ");
    return depth > 0 && text ? text : [name, text].filter(Boolean).join(": ");
  } catch {
    return "an error without a text";
  }
}
