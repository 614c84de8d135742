/** What can happen to a request, for tests of every client. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { certificate, closedPort, folder } from "../helpers.js";

/** What a server does in its trouble. */
export interface Plan {
  /** Nobody listens. */
  readonly away?: boolean;
  /** Another address than its own. */
  readonly url?: string;
  /** It is asked by TLS, and speaks it if it has a key. */
  readonly tls?: TlsOptions;
  /** A first request is made before the call, and its connection is kept. */
  readonly kept?: boolean;
  /** What becomes of a connection. */
  accept?(socket: Socket, server: Troubled): void;
  /** What becomes of a request that has been read. */
  answer?(answer: ServerResponse, socket: Socket, server: Troubled): void;
}

/** A server on a port of its own. */
export class Troubled {
  url: string;
  /** How many requests it has read. */
  applied = 0;
  readonly #open = new Set<Socket>();
  readonly #web = createServer((asked, answer) => this.#answer(asked, answer));
  #front: Server | undefined;
  #isWell = false;

  private constructor(
    readonly plan: Plan,
    readonly port: number,
  ) {
    const { url, tls } = plan;
    this.url = url ?? `${tls ? "https" : "http"}://localhost:${port}/`;
  }

  static async start(t: TestContext, plan: Plan): Promise<Troubled> {
    const server = new Troubled(plan, await closedPort());
    t.after(() => server.stop());
    if (!plan.away) {
      await server.#listen();
    }
    return server;
  }

  stop(): void {
    this.#front?.close();
    this.#front = undefined;
    for (const socket of this.#open) {
      socket.destroy();
    }
  }

  /** It is well from now on, and without TLS, for which nobody would trust it. */
  async mend(): Promise<void> {
    if (!this.#isWell) {
      this.#isWell = true;
      this.url = `http://localhost:${this.port}/`;
      if (this.plan.tls) {
        this.stop();
      }
      await this.#listen();
    }
  }

  async #listen(): Promise<void> {
    if (!this.#front) {
      const { tls } = this.plan;
      const accept = (socket: Socket) => this.#accept(socket);
      const isSecure = tls?.key && !this.#isWell;
      this.#front = isSecure ? createTlsServer(tls, accept) : createTcpServer(accept);
      await once(this.#front.listen({ port: this.port, host: "127.0.0.1" }), "listening");
    }
  }

  #accept(socket: Socket): void {
    this.#open.add(socket.on("error", () => {}));
    if (this.#isWell || !this.plan.accept) {
      this.#web.emit("connection", socket);
    } else {
      this.plan.accept(socket, this);
    }
  }

  #answer(asked: IncomingMessage, answer: ServerResponse): void {
    asked.resume().on("end", () => {
      this.applied++;
      if (this.#isWell || !this.plan.answer) {
        answer.end("well");
      } else {
        this.plan.answer(answer, asked.socket, this);
      }
    });
  }
}

/** Each trouble, and what a server needs for it. */
type Troubles = readonly [name: string, plan: (t: TestContext) => Plan | Promise<Plan>][];

/** An answer with a status. */
const status = (code: number, headers = {}) => ({
  answer: (answer: ServerResponse) => answer.writeHead(code, headers).end(),
});

async function redirected(code: number): Promise<Plan> {
  return status(code, { location: `http://localhost:${await closedPort()}/` });
}

/** Each connection is closed when it is used again. */
function kept(then: (server: Troubled) => void): Plan {
  const used = new WeakSet<Socket>();
  return {
    kept: true,
    answer: (answer, socket, server) => {
      if (used.has(socket)) {
        socket.destroy();
        then(server);
      }
      used.add(socket);
      answer.end("well");
    },
  };
}

/** Troubles with every client. */
export const TROUBLES: Troubles = [
  ["refused", () => ({ away: true })],
  ["no route", () => ({ url: "http://255.255.255.255/", away: true })],
  ["no name", () => ({ url: "http://nowhere.invalid/", away: true })],
  ["accepted, and closed at once", () => ({ accept: (socket) => socket.end() })],
  [
    "closed in the TLS handshake",
    () => ({
      tls: {},
      accept: (socket) => socket.once("data", () => socket.end()),
    }),
  ],
  [
    "reset in the TLS handshake",
    () => ({
      tls: {},
      accept: (socket) => socket.once("data", () => socket.resetAndDestroy()),
    }),
  ],
  ["a certificate that is not trusted", (t) => ({ tls: certificate(folder(t)) })],
  ["reset after the request", () => ({ answer: (_, socket) => socket.resetAndDestroy() })],
  ["closed before the answer", () => ({ answer: (_, socket) => socket.end() })],
  [
    "an answer that is cut",
    () => ({
      answer: (answer, socket) => {
        answer.writeHead(200, { "content-length": 100 }).write("half", () => socket.end());
      },
    }),
  ],
  ["an answer that is no HTTP", () => ({ answer: (_, socket) => socket.end("SSH-2.0-x\r\n") })],
  ["429, Retry-After 1", () => status(429, { "retry-after": 1 })],
  ["503, Retry-After 1", () => status(503, { "retry-after": 1 })],
  ["503", () => status(503)],
  ["500", () => status(500)],
  ["404", () => status(404)],
  ["409", () => status(409)],
  ["303 to a dead port", () => redirected(303)],
  ["307 to a dead port", () => redirected(307)],
  ["a kept connection, and then refused", () => kept((server) => server.stop())],
  ["a kept connection, of a server that is up", () => kept(() => {})],
];

/** Troubles with clients that try once more by themselves. */
export const RETRIED: Troubles = [
  ["refused", () => ({ away: true })],
  [
    "reset after the request, and then refused",
    () => ({
      answer: (_, socket, server) => {
        socket.resetAndDestroy();
        server.stop();
      },
    }),
  ],
];

/** Troubles with clients that speak HTTP/2. */
export const GOAWAYS: Troubles = [
  ["GOAWAY, of a request that was not processed", (t) => goaway(t, 0)],
  ["GOAWAY after the request was processed", (t) => goaway(t, 1)],
];

/**
 * A server that ends the session once it has read a request.
 *
 * @param last The last stream that it says it has processed; the request's is 1.
 */
function goaway(t: TestContext, last: 0 | 1): Plan {
  const headers = 1;
  return {
    tls: { ...certificate(folder(t)), ALPNProtocols: ["h2"] },
    accept: (socket, server) => {
      socket.write(frame(4));
      let said = Buffer.alloc(0);
      socket.on("data", (data) => {
        said = Buffer.concat([said, data]);
        if (types(said).includes(headers)) {
          socket.removeAllListeners("data");
          server.applied += last;
          socket.end(frame(7, [0, 0, 0, last, 0, 0, 0, 0]));
        }
      });
    },
  };
}

/** A frame of HTTP/2 (RFC 9113, section 4.1) of the connection. */
function frame(type: number, payload: number[] = []): Buffer {
  return Buffer.from([0, 0, payload.length, type, 0, 0, 0, 0, 0, ...payload]);
}

/** The types of the frames that a client has sent after its preface. */
function types(said: Buffer): number[] {
  const all: number[] = [];
  for (let at = 24; at + 9 <= said.length; at += 9 + said.readUIntBE(at, 3)) {
    all.push(said[at + 3]!);
  }
  return all;
}
