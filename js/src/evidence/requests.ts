/**
 * What an attempt has sent already. An error tells of one request, and a client may have
 * made others: because it followed a redirect, tried again by itself, or makes several at
 * once. Node tells of each request and of each connection that is made, and by which
 * attempt.
 *
 * A request is known by the context that makes it. One that is made in another one is not
 * seen: by a queue's worker that began before the attempt, by a limited pool once a
 * connection is free, by another process or thread.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { DEEP, failureOf } from "./failures.js";

/** What is known of the requests of one attempt. */
export class Requests {
  readonly #outer = contexts.getStore();
  readonly #open = new Set<object>(); // made, and neither sent nor ended
  readonly #sockets = new Set<Socket>();
  #seen = false;
  #sent = false;

  /** The requests of the attempt that is being made. */
  static current(): Requests | undefined {
    return contexts.getStore();
  }

  /** Whether a server may have read anything: `no` if requests were seen, and every one of
   * them has ended unsent; `undefined` if nothing was seen. */
  get sent(): "no" | "unknown" | undefined {
    const going = [...this.#open].some(mayGo) || [...this.#sockets].some(mayCarry);
    return this.#sent || going ? "unknown" : this.#seen ? "no" : undefined;
  }

  /** Does something as a part of the attempt, and sees its requests. */
  watch<T>(work: () => T): T {
    listen();
    return contexts.run(this, work);
  }

  /** A request was made.
   * @internal */
  made(request: object): void {
    this.#seen = true;
    this.#open.add(request);
    this.#outer?.made(request);
  }

  /** It has been sent, or may have been.
   * @internal */
  left(request?: object): void {
    this.#sent = true;
    this.#open.delete(request!);
    this.#outer?.left(request);
  }

  /** It has ended, and was not sent.
   * @internal */
  unsent(request: object): void {
    this.#seen = true;
    this.#open.delete(request);
    this.#outer?.unsent(request);
  }

  /** A plain connection is being made.
   * @internal */
  opened(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sent ||= mayCarry(socket);
      this.#sockets.delete(socket);
    });
    this.#outer?.opened(socket);
  }
}

/** Whether an error, or one behind it, ended a request that was seen and had no connection
 * yet. */
export function isUnconnected(error: unknown, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth > DEEP) {
    return false;
  }
  return unconnected.has(error) || isUnconnected((error as Error).cause, depth + 1);
}

/** Whether a request that has not been sent may still be. One of node:http that was
 * destroyed may not. */
function mayGo(request: { destroyed?: boolean }): boolean {
  return request.destroyed !== true;
}

/** Whether something may have gone over a connection besides the requests that are seen. */
function mayCarry(socket: Socket): boolean {
  return !carriers.has(socket) && (connected.has(socket) || !socket.destroyed);
}

const contexts = new AsyncLocalStorage<Requests>();
const makers = new WeakMap<object, Requests>();
const carriers = new WeakSet<Socket>(); // of requests that tell of themselves
const connected = new WeakSet<Socket>();
const unconnected = new WeakSet<object>(); // errors of connections that never stood
let listening = false;

/** Hears of requests: of `fetch` and undici, and of node:http and node:https; and of plain
 * connections by anything else. */
function listen(): void {
  if (listening) {
    return;
  }
  listening = true;
  hearUndici();
  hearHttp();
  on("net.client.socket", ({ socket }: { socket: Socket }) => {
    contexts.getStore()?.opened(socket);
    socket.once("connect", () => connected.add(socket));
  });
}

function hearUndici(): void {
  type Message = { request: { method?: string }; error?: unknown };
  on("undici:request:create", ({ request }: Message) => {
    // A tunnel is asked of a proxy; nothing of the request goes with that.
    if (request.method !== "CONNECT") {
      made(request);
    }
  });
  const left = ({ request }: Message) => makers.get(request)?.left(request);
  on("undici:client:sendHeaders", left);
  on("undici:request:headers", left);
  on("undici:client:connected", ({ socket }: { socket: Socket }) => carriers.add(socket));
  on("undici:client:connectError", ({ error }: { error: object }) => unconnected.add(error));
  on("undici:request:error", ({ request, error }: Message) => ended(request, error));
}

function hearHttp(): void {
  type Message = { request: ClientRequest; error?: unknown };
  const start = ({ request }: Message) => {
    if (!makers.has(request) && made(request)) {
      whenAssigned(request, (socket) => {
        carriers.add(socket);
        whenConnected(socket, () => makers.get(request)?.left(request));
      });
    }
  };
  // Before Node 22.12 a request is told of when it is ended, and parts of it may have been
  // sent by then. Its answer or its error tells of it too.
  on("http.client.request.created", start);
  on("http.client.request.start", start);
  on("http.client.response.finish", ({ request }: Message) => {
    (makers.get(request) ?? contexts.getStore())?.left(request);
  });
  on("http.client.request.error", ({ request, error }: Message) => {
    const known = makers.get(request);
    if (known && (request.destroyed || request.socket?.destroyed)) {
      known.unsent(request); // says nothing of one that has left
      unconnected.add(Object(error));
    } else {
      ended(request, error);
    }
  });
}

function made(request: object): boolean {
  const attempt = contexts.getStore();
  attempt?.made(request);
  if (attempt) {
    makers.set(request, attempt);
  }
  return attempt !== undefined;
}

/** A request has failed: unsent, if it is for want of a connection. */
function ended(request: object, error: unknown): void {
  const attempt = makers.get(request) ?? contexts.getStore();
  const isObject = typeof error === "object" && error !== null;
  if ((isObject && unconnected.has(error)) || failureOf(error)?.unsent) {
    attempt?.unsent(request);
  } else {
    attempt?.left(request);
  }
}

function on<T>(channel: string, tell: (message: T) => void): void {
  subscribe(channel, (message) => tell(message as T));
}

function whenAssigned(request: ClientRequest, then: (socket: Socket) => void): void {
  if (request.socket) {
    then(request.socket);
  } else {
    request.once("socket", then);
  }
}

/** An encrypted connection stands once both sides have agreed on keys. */
function whenConnected(socket: Socket, then: () => void): void {
  const { encrypted, secureConnecting } = socket as TLSSocket & { secureConnecting?: boolean };
  if (encrypted ? secureConnecting : socket.connecting) {
    socket.once(encrypted ? "secureConnect" : "connect", then);
  } else {
    then();
  }
}
