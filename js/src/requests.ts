/**
 * What an attempt has sent already. An error tells of one request, and a client may have
 * made others before it: because it followed a redirect, or tried again by itself. Node
 * tells of each request that is made, and by which attempt.
 *
 * A request is known by the context that makes it. One that waits for a connection of a
 * limited pool is made in another context, and not seen.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** The requests of one attempt. */
export class Requests {
  readonly #outer = contexts.getStore();
  #seen = 0;
  #sent = false;

  /** The requests of the attempt that is being made. */
  static current(): Requests | undefined {
    return contexts.getStore();
  }

  /** Whether any request has been made. */
  get seen(): boolean {
    return this.#seen > 0;
  }

  /** Whether a server may have read one. */
  get sent(): boolean {
    return this.#sent;
  }

  /** Does an attempt's work, and sees its requests. */
  watch<T>(work: () => T): T {
    listen();
    return contexts.run(this, work);
  }

  /** @internal */
  made(): void {
    this.#seen++;
    this.#outer?.made();
  }

  /** @internal */
  left(): void {
    this.#sent = true;
    this.#outer?.left();
  }
}

const contexts = new AsyncLocalStorage<Requests>();
const makers = new WeakMap<object, Requests>();
let listening = false;

/** Hears of requests: of `fetch` and undici, and of node:http and node:https. */
function listen(): void {
  if (listening) {
    return;
  }
  listening = true;
  hear("undici:request:create", (message: { request: { method?: string } }, attempt) => {
    // A tunnel is asked of a proxy; nothing of the request goes with that.
    if (message.request.method !== "CONNECT") {
      attempt.made();
      makers.set(message.request, attempt);
    }
  });
  const left = ({ request }: { request: object }) => makers.get(request)?.left();
  subscribe("undici:client:sendHeaders", (message) => left(message as { request: object }));
  subscribe("undici:request:headers", (message) => left(message as { request: object }));
  hear("http.client.request.start", (message: { request: ClientRequest }, attempt) => {
    attempt.made();
    whenAssigned(message.request, (socket) => whenConnected(socket, () => attempt.left()));
  });
}

function hear<T>(channel: string, tell: (message: T, attempt: Requests) => void): void {
  subscribe(channel, (message) => {
    const attempt = contexts.getStore();
    if (attempt) {
      tell(message as T, attempt);
    }
  });
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
