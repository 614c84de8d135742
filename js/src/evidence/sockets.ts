/** Hears of what is written on connections: those of requests that tell of themselves, and those
 * of whatever else is built on net.Socket, such as databases' drivers. */

import { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { before } from "./methods.js";
import { Requests } from "./requests.js";
import { free, left, made, markCarrier, type Request, unwatched, wrote } from "./traffic.js";

/** A connection, with what Node's types do not tell of. */
interface Connection extends TLSSocket {
  /** Of this process's own output. */
  readonly _isStdio?: boolean;
  readonly secureConnecting?: boolean;
  /** Of a connection that was accepted. */
  readonly server?: unknown;
  /** What node:http sends on it: a request, or an answer on one that was accepted. */
  readonly _httpMessage?: HttpRequest | null;
}

interface HttpRequest {
  readonly reusedSocket: boolean;
}

/** Which request a connection of undici's carries. */
const carried = new WeakMap<object, Request>();

/** A connection carries a request from now on, and then others that tell of themselves. */
export function carry(socket: Socket, request: Request): void {
  markCarrier(socket);
  carried.set(socket, request);
}

let isUndicis = false; // the connection that is begun next

/** Undici begins a connection now. It may be for another attempt's request than that in whose
 * context it does so, and its requests tell of themselves. */
export function undiciConnects(): void {
  isUndicis = true;
  queueMicrotask(() => {
    isUndicis = false;
  });
}

/** Hears of writes, and of connections that are begun. What is written while the connection is
 * busy is heard of when it is handed over, and again when it goes, maybe by other code. */
export function hearSockets(): void {
  before(Socket.prototype, "connect", (socket) => {
    free(socket);
    if (isUndicis) {
      isUndicis = false;
      markCarrier(socket, "undici");
    }
    Requests.current()?.opened(socket);
  });
  for (const write of ["write", "_write", "_writev"] as const) {
    before(Socket.prototype, write, (socket) => writing(socket as Connection));
  }
}

/** Connections that do not stand, and on which something is to be written. */
const waiting = new WeakSet<object>();

/** Something is to be written. On a connection of the attempt's own, or of a request, it is sent
 * once that stands, which an encrypted one does when both sides have agreed on keys; on another
 * one, nobody knows when. */
function writing(socket: Connection): void {
  const attempt = Requests.current();
  const { _httpMessage: plain } = socket;
  if (socket._isStdio) {
    return;
  }
  if (socket.server) {
    unwatched("wrote on a connection that was made to it", attempt, false);
    return;
  }
  if (plain) {
    made(plain, attempt);
    markCarrier(socket);
  }
  const request = plain ?? carried.get(socket);
  const written = () =>
    request
      ? left(request, { socket, attempt, isFresh: plain?.reusedSocket === false })
      : wrote(socket, `wrote on a connection that is not watched${to(socket)}`, attempt);
  const stands = !socket.connecting && !(socket.encrypted && socket.secureConnecting);
  if (stands || !(request || attempt?.hasOpened(socket))) {
    written();
  } else if (!waiting.has(socket)) {
    waiting.add(socket);
    socket.once(socket.encrypted ? "secureConnect" : "connect", written);
  }
}

function to({ remoteAddress, remotePort }: Socket): string {
  return remoteAddress ? `, to ${remoteAddress} port ${remotePort}` : "";
}
