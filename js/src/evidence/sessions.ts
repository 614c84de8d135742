/** Hears of the requests of node:http2, on sessions that were begun before too. */

import { errorMonitor } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream, Http2Session } from "node:http2";
import { Duplex } from "node:stream";
import { around, before } from "./methods.js";
import { CARRIER, Requests } from "./requests.js";
import { failed, left, made, markCarrier, touched, unwatched } from "./traffic.js";

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
  around(
    sessions,
    "request",
    (request) =>
      function (...args) {
        asking++;
        try {
          const stream = request.apply(this, args);
          asked(this, stream);
          return stream;
        } finally {
          asking--;
        }
      },
  );
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
  const ending = (stream: ClientHttp2Stream) => {
    if (asking === 0 && !isUndicis(stream.session)) {
      writing(stream);
    }
  };
  for (const end of ["end", "_final"] as const) {
    before(streams, end, ending as (stream: Duplex) => void);
  }
  // A request's stream gets its number: the request goes, by whichever way it was made.
  const init = Object.getOwnPropertySymbols(streams).find((each) => each.description === "init");
  if (init) {
    const going = (stream: ClientHttp2Stream) => {
      if (Object.getPrototypeOf(stream) === clients && stream.session) {
        asked(stream.session as ClientHttp2Session, stream);
      }
    };
    before(streams as Duplex & Record<symbol, never>, init, going as never);
  }
}

/** Calls of `request` that are under way. It ends streams of requests without a body itself. */
let asking = 0;

function isUndicis(session: Http2Session | undefined): boolean {
  return (session?.socket as { [CARRIER]?: unknown } | undefined)?.[CARRIER] === "undici";
}

const heard = new WeakSet<ClientHttp2Stream>();

function asked(session: ClientHttp2Session, stream: ClientHttp2Stream): void {
  if (heard.has(stream)) {
    return;
  }
  heard.add(stream);
  if (!served.has(session)) {
    const { socket } = session;
    if (isUndicis(session)) {
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
