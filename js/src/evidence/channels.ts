/** Hears of the requests of `fetch` and undici, and of node:http and node:https, which Node
 * tells of by node:diagnostics_channel. */

import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { meaningOf } from "./failures.js";
import { Requests } from "./requests.js";
import { carry } from "./sockets.js";
import {
  failed,
  failedEarly,
  free,
  knownOf,
  left,
  made,
  markCarrier,
  on,
  type Request,
} from "./traffic.js";

/** Hears of the requests of `fetch` and undici. */
export function hearUndici(): void {
  type Message = { request: Request; error?: unknown };
  const sockets = new WeakMap<Request, Socket>();
  on("undici:request:create", ({ request }: Message) => made(request));
  on("undici:client:connected", ({ socket }: { socket: Socket }) => {
    markCarrier(socket, "undici");
    free(socket);
  });
  on("undici:client:connectError", ({ error }: { error: object }) => failedEarly(error));
  on("undici:client:sendHeaders", ({ request, socket }: Message & { socket: Socket }) => {
    carry(socket, request);
    sockets.set(request, socket);
    left(request, { socket, attempt: Requests.current() });
  });
  on("undici:request:headers", ({ request }: Message) => left(request));
  on("undici:request:trailers", ({ request }: Message) => free(sockets.get(request)));
  on("undici:request:error", ({ request, error }: Message) => {
    failed(request, error, isUnconnected(error) ? "unconnected" : undefined);
  });
}

/** Hears of the requests of node:http and node:https. What they write, their connection tells;
 * before Node 22.12 a request is not told of before it is ended, and so by that first. */
export function hearHttp(): void {
  type Message = { request: ClientRequest; error?: unknown };
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
