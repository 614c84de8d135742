/** Hears of what is written on connections: those of requests that tell of themselves, and those
 * of whatever else is built on net.Socket, such as databases' drivers. */

import { ClientRequest } from "node:http";
import { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { CARRIER, Requests } from "./requests.js";
import { before, free, left, made, markCarrier, type Request, unwatched } from "./traffic.js";

/** A connection, with what Node's types do not tell of. */
interface Connection extends TLSSocket {
  /** Of this process's own output. */
  readonly _isStdio?: boolean;
  readonly secureConnecting?: boolean;
  /** Of a connection that was accepted. */
  readonly server?: unknown;
  /** What node:http sends on it: a request, or an answer. */
  readonly _httpMessage?: object | null;
}

/** Which request a connection of undici's carries. */
const carried = new WeakMap<object, Request>();

/** A connection carries a request from now on, and then others that tell of themselves. */
export function carry(socket: Socket, request: Request): void {
  markCarrier(socket);
  carried.set(socket, request);
}

/** Hears of writes, and of connections that are begun. */
export function hearSockets(): void {
  before(Socket.prototype, "connect", (socket) => {
    free(socket as Socket);
    Requests.current()?.opened(socket as Socket);
  });
  before(Socket.prototype, "_write", (socket) => writing(socket as Connection));
  before(Socket.prototype, "_writev", (socket) => writing(socket as Connection));
}

/** Something is to be written: it is sent once the connection stands, which an encrypted one does
 * when both sides have agreed on keys. */
function writing(socket: Connection): void {
  const attempt = Requests.current();
  const request = socket._httpMessage ?? carried.get(socket);
  if (request instanceof ClientRequest) {
    made(request, attempt);
    markCarrier(socket);
  }
  const writes = () => written(socket, request, attempt);
  const secure = socket.encrypted && socket.secureConnecting;
  if (secure || socket.connecting) {
    socket.once(socket.encrypted ? "secureConnect" : "connect", writes);
  } else {
    writes();
  }
}

function written(
  socket: Connection,
  request: Request | undefined,
  attempt: Requests | undefined,
): void {
  if (socket.server) {
    unwatched("a connection that was made to this process", attempt, false);
  } else if (request) {
    left(request, {
      socket,
      attempt,
      isFresh: request instanceof ClientRequest && !request.reusedSocket,
    });
  } else if (!(CARRIER in socket) && !socket._isStdio) {
    const { remoteAddress, remotePort } = socket;
    const where = remoteAddress ? `, to ${remoteAddress} port ${remotePort}` : "";
    unwatched(`a connection that is not watched${where}`, attempt);
  }
}
