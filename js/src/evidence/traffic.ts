/** What leaves this process, noted for the attempt that it is a part of. How each kind of client
 * is heard is in a file of its own. */

import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { DEEP } from "./failures.js";
import { CARRIER, elsewhere, inContext, type Peer, Requests } from "./requests.js";

/** A request, whichever client's. */
export type Request = object & { readonly method?: unknown };

const makers = new WeakMap<object, Requests>();
const idleBefore = new WeakMap<object, number>(); // by a request that was sent, or its error
const freed = new WeakMap<Socket, number>(); // when a connection was begun, or last answered
const early = new WeakMap<object, Early>(); // by the error of what never left
const ends = new WeakMap<object, Peer>(); // by the error of a connection that never stood

/** Why it is known that a server has not acted on a request: no connection stood, or the server
 * said so before it broke. */
export type Early = "unconnected" | "broke";

/** What is known of an error, or of one behind it. */
export interface Known {
  /** It ended something that the server has not acted on. */
  readonly early: Early | undefined;
  /** Since when its connection had stood idle as the request was sent on it, in milliseconds of
   * `performance.now()`; infinite if it is not known. */
  readonly idleSince: number;
}

/** What is known of an error from the request that it ended. */
export function knownOf(error: unknown): Known | undefined {
  const found = behind(error, (each) => early.has(each) || idleBefore.has(each));
  return found && { early: early.get(found), idleSince: idleBefore.get(found) ?? Infinity };
}

/** The first of an error and of what caused it that is one of those. */
function behind(error: unknown, isOne: (error: object) => boolean, depth = 0): object | undefined {
  if (typeof error !== "object" || error === null || depth > DEEP) {
    return undefined;
  }
  return isOne(error) ? error : behind((error as Error).cause, isOne, depth + 1);
}

/** The same of the error that ended an attempt. A client may throw an error of its own, which has
 * only the code of the request's. */
export function knownIn(requests: Requests | undefined, error: unknown): Known | undefined {
  const { lastError } = requests ?? {};
  const same = codeOf(error) !== undefined && codeOf(error) === codeOf(lastError);
  return knownOf(error) ?? (same ? knownOf(lastError) : undefined);
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null | undefined)?.code;
}

/** Whether a request only asks a proxy for a tunnel to the server. */
function isTunnel(request: Request): boolean {
  return request.method === "CONNECT";
}

/** A request is made. */
export function made(request: Request, attempt = Requests.current()): void {
  if (attempt && !isTunnel(request) && !makers.has(request)) {
    makers.set(request, attempt);
    attempt.made(request);
  }
}

const OUTSIDE = "sent a request that was made outside of it";

/** How a request is sent. */
interface Sending {
  readonly socket: Socket;
  /** The attempt whose code sends it. */
  readonly attempt?: Requests | undefined;
  /** Nothing was sent on the connection before. */
  readonly isFresh?: boolean;
}

/** A request is sent, or a part of it. */
export function left(request: Request, sending?: Sending): void {
  if (isTunnel(request)) {
    return;
  }
  makers.get(request)?.left(request, sending && peerOf(request, sending));
  touched(request, sending?.attempt);
}

/** A part of a request is sent. If another attempt made the request, it is a part of both; if none
 * did, it may be a part of any. */
export function touched(request: object, attempt?: Requests): void {
  const maker = makers.get(request);
  if (!maker?.running) {
    note("sent a request of no attempt");
  }
  const isOthers = attempt?.isJudged && maker?.running; // on a connection that it left behind
  if (attempt && !maker?.isPartOf(attempt) && !isOthers) {
    attempt.used(OUTSIDE);
  }
}

/** Code hands over a part of a request, which is sent now or later, maybe by other code. */
export function handed(request: Request, attempt = Requests.current()): void {
  made(request, attempt);
  if (attempt && !isTunnel(request) && !makers.get(request)?.isPartOf(attempt)) {
    attempt.used(OUTSIDE);
  }
}

/** Does what belongs to a request in the context of the attempt that made it. */
export function asMaker<T>(request: object, work: () => T): T {
  return inContext(makers.get(request), work);
}

/** The server at the other end. Since when the connection had stood idle is noted. */
function peerOf(request: Request, { socket, isFresh }: Sending): Peer | undefined {
  if (!idleBefore.has(request)) {
    idleBefore.set(request, isFresh ? performance.now() : (freed.get(socket) ?? -Infinity));
  }
  const { remoteAddress: host, remotePort: port } = socket;
  return host && port ? { host, port } : undefined;
}

/** A connection has been begun, or has answered. */
export function free(socket: Socket | null | undefined): void {
  if (socket) {
    freed.set(socket, performance.now());
  }
}

/**
 * A request has failed.
 *
 * @param why That it has not been acted on is known, and why.
 */
export function failed(request: Request, error: unknown, why: Early | undefined): void {
  const maker = makers.get(request);
  const idle = idleBefore.get(request);
  const key = typeof error === "object" && error !== null ? error : {};
  maker?.failed(key);
  if (why && idle === undefined) {
    maker?.unsent(request);
    early.set(key, why);
  } else {
    maker?.left(request);
    idleBefore.set(key, idle ?? Infinity);
  }
}

/** An error ended a connection before it stood.
 *
 * @param to Where it was to lead. */
export function failedEarly(error: object, to: Peer): void {
  early.set(error, "unconnected");
  if (!ends.has(error)) {
    ends.set(error, to); // of a proxy's tunnel, the proxy
  }
}

/** Where the connection was to lead that an error, or one behind it, ended before it stood. */
export function endOf(error: unknown): Peer | undefined {
  const found = behind(error, (each) => ends.has(each));
  return found && ends.get(found);
}

/** A request has failed that was given to no connection. The error may be others' too, such as the
 * reason of an abort, so nothing is noted of that. */
export function unsent(request: Request): void {
  makers.get(request)?.unsent(request);
}

/** The requests of a connection tell of themselves. */
export function markCarrier(socket: object, by = "others"): void {
  (socket as { [CARRIER]?: string })[CARRIER] ??= by;
}

/**
 * Something is used whose requests cannot be seen.
 *
 * @param what What was done, for the caller.
 * @param attempt The attempt whose code does it.
 * @param everywhere It counts for other attempts too: whatever is done by a queue or a pool may
 *     be a part of them.
 */
export function unwatched(what: string, attempt = Requests.current(), everywhere = true): void {
  attempt?.used(what);
  if (everywhere) {
    note(what);
  }
}

/** Something is written on a connection whose requests cannot be seen. */
export function wrote(socket: Socket, what: string, attempt: Requests | undefined): void {
  attempt?.wrote(socket, what);
  note(what);
}

/** Something is done that may be a part of any attempt. */
export function note(what: string): void {
  elsewhere.count++;
  elsewhere.what = what;
}

/** Hears of what Node tells of. Anybody may publish there: what cannot be understood may be of any
 * attempt. */
export function on<T>(channel: string, tell: (message: T) => void): void {
  subscribe(channel, (message) => {
    try {
      tell(message as T);
    } catch {
      unwatched(`told what cannot be understood, by ${channel}`);
    }
  });
}
