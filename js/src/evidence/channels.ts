/** Hears of the requests of `fetch` and undici, and of node:http and node:https, which Node
 * tells of by node:diagnostics_channel. */

import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { meaningOf } from "./failures.js";
import { around, before } from "./methods.js";
import { findPools, foundBy, madeByUndici, type UndiciRequest } from "./pools.js";
import { Requests } from "./requests.js";
import { carry, undiciConnects } from "./sockets.js";
import {
  asMaker,
  failed,
  failedEarly,
  free,
  handed,
  knownOf,
  left,
  made,
  markCarrier,
  on,
  type Request,
  unsent,
} from "./traffic.js";

interface Unconnected {
  readonly error: object;
  readonly connectParams: { hostname: string; port: string; protocol: string };
}

/** The ports of URLs that name none. */
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Hears of the requests of `fetch` and undici. */
export function hearUndici(): void {
  type Message = { request: UndiciRequest; error?: unknown };
  const sockets = new WeakMap<Request, Socket>();
  findPools();
  on("undici:request:create", ({ request }: Message) => {
    madeByUndici(request);
    made(request);
  });
  on("undici:client:beforeConnect", undiciConnects);
  on("undici:client:connected", ({ socket }: { socket: Socket }) => {
    markCarrier(socket, "undici");
    free(socket);
  });
  on("undici:client:connectError", ({ error, connectParams: to }: Unconnected) => {
    failedEarly(error, { host: to.hostname, port: Number(to.port) || PORTS[to.protocol]! });
  });
  on("undici:client:sendHeaders", ({ request, socket }: Message & { socket: Socket }) => {
    carry(socket, request);
    foundBy(socket, request);
    sockets.set(request, socket);
    left(request, { socket, attempt: Requests.current() });
  });
  on("undici:request:headers", ({ request }: Message) => left(request));
  on("undici:request:trailers", ({ request }: Message) => free(sockets.get(request)));
  on("undici:request:error", ({ request, error }: Message) => {
    if (!request.abort && isUnconnected(error)) {
      failed(request, error, "unconnected");
    } else if (request.abort === null) {
      unsent(request);
    } else {
      failed(request, error, undefined);
    }
  });
}

/** What Node has, and its types do not tell of. */
interface Undocumented {
  addRequest(request: ClientRequest): void;
  createSocket(request: ClientRequest): void;
  _send(): void;
}

/** Hears of the requests of node:http and node:https. What they write, their connection tells;
 * before that they may wait in an agent's queue. Node 20 does not tell that a request is made. */
export async function hearHttp(): Promise<void> {
  type Message = { request: ClientRequest; error?: unknown };
  const { Agent, ClientRequest, OutgoingMessage } = await import("node:http");
  const agents = Agent.prototype as unknown as Undocumented;
  before(agents, "addRequest", (_, request) => made(request as ClientRequest));
  around(
    agents,
    "createSocket", // when another one is free or gone, in the context of that
    (create) =>
      function (request: ClientRequest, ...args) {
        return asMaker(request, () => create.call(this, request, ...args));
      },
  );
  const messages = OutgoingMessage.prototype as unknown as Undocumented;
  before(messages, "_send", (self) => {
    const message: unknown = self;
    if (message instanceof ClientRequest) {
      handed(message);
    }
  });
  on("http.client.request.created", ({ request }: Message) => made(request));
  on("http.client.request.start", ({ request }: Message) => made(request));
  on("http.client.response.finish", ({ request }: Message) => {
    made(request);
    left(request);
    free(request.socket);
  });
  on("http.client.request.error", ({ request, error }: Message) => {
    made(request);
    const isOver = request.destroyed || request.socket?.destroyed || isUnconnected(error);
    failed(request, error, isOver ? "unconnected" : undefined);
  });
}

function isUnconnected(error: unknown): boolean {
  return knownOf(error)?.early !== undefined || meaningOf(error)?.early === true;
}
