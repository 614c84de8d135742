/** Hears of the requests of node:http2, on sessions that were begun before too. */

import { errorMonitor } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { Duplex } from "node:stream";
import { CARRIER, Requests } from "./requests.js";
import { before, failed, left, made, markCarrier, touched, unwatched } from "./traffic.js";

/** How far a server goes with the streams of a session: to this one's number (RFC 9113, section
 * 6.8). */
const served = new WeakMap<ClientHttp2Session, number>();

/** Hears of requests. Node does not export the classes that make them. */
export async function hearHttp2(): Promise<void> {
  const { connect } = await import("node:http2"); // `fetch` needs it too, but not every import
  const createConnection = () => new Duplex({ read() {}, write: (_, __, done) => done() });
  const session = connect("http://localhost", { createConnection });
  const stream = session.request();
  const sessions: ClientHttp2Session = Object.getPrototypeOf(session);
  const clients: object = Object.getPrototypeOf(stream);
  const streams: Duplex = Object.getPrototypeOf(clients);
  stream.on("error", () => {});
  session.destroy();
  const { request } = sessions;
  sessions.request = function (...args) {
    const stream = request.apply(this, args);
    asked(this, stream);
    return stream;
  };
  const writing = (stream: object) => {
    const attempt = Requests.current();
    if (Object.getPrototypeOf(stream) === clients) {
      touched(stream, attempt);
    } else {
      unwatched("wrote on a connection that was made to it", attempt, false);
    }
  };
  for (const write of ["write", "_write", "_writev"] as const) {
    before(streams, write, writing);
  }
}

function asked(session: ClientHttp2Session, stream: ClientHttp2Stream): void {
  if (!served.has(session)) {
    const { socket } = session;
    if ((socket as { [CARRIER]?: unknown } | undefined)?.[CARRIER] === "undici") {
      return; // it tells of its requests itself
    }
    served.set(session, Number.POSITIVE_INFINITY);
    session.on("goaway", (_, last: number) => served.set(session, last));
    if (socket) {
      markCarrier(socket);
    }
  }
  made(stream);
  const ended = (error?: unknown) => {
    const { id } = stream;
    const unserved = id !== undefined && id > served.get(session)! ? "broke" : undefined;
    failed(stream, error, id === undefined ? "unconnected" : unserved);
  };
  stream.once("ready", () => touched(stream));
  stream.once("response", () => left(stream));
  stream.once(errorMonitor, ended);
  stream.once("close", () => {
    if (!stream.errored) {
      ended();
    }
  });
}
