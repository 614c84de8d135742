/**
 * What one attempt has sent. An error tells of one request, and an attempt may have made
 * others: by a redirect, by its client's own retry, beside it, on a driver's connection. So
 * each request and each connection is watched, and noted here.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { Socket } from "node:net";

/** Why it is not known that nothing was sent. */
export interface Doubt {
  /** What was seen, or not seen. */
  readonly why: string;
  /** The caller's word that the attempt makes one request would dispel it. */
  readonly claimable: boolean;
}

/** The caller's word that an attempt makes one request: for every attempt, or for those of which a
 * request was seen. */
export type Claim = boolean | "if seen";

/** Where a server was reached. */
export interface Peer {
  readonly host: string;
  readonly port: number;
}

/** What is known of the requests of one attempt. */
export class Requests {
  readonly #outer = contexts.getStore()?.running;
  readonly #open = new Set<object>(); // made, and neither sent nor ended
  readonly #sockets = new Set<Socket>(); // of connections that it began
  readonly #wrote = new Map<Socket, string>(); // on connections that are not watched
  readonly #elsewhere = elsewhere.count;
  #made = 0;
  #sent = ""; // what of it was sent
  #used = ""; // what else it did that is not watched
  #refusing: Socket | undefined; // the one connection by which the server refused it
  #refused = ""; // what was written on that
  #until = Infinity; // what others do until then counts
  #judged = false;
  #over = false;
  /** What it was told. */
  told: { readonly attempt: number; readonly signal: AbortSignal } | undefined;
  /** The server that its last request was sent to. */
  peer: Peer | undefined;
  /** What was asked for its first request, if undici made that. */
  dispatcher: object | undefined;
  /** The origin that undici says its last request is for. */
  origin: unknown;

  /** What its last request failed with. */
  lastError: object | undefined;

  /** @param since When the call met its first failure, or began, in milliseconds of
   *     `performance.now()`. */
  constructor(readonly since = -Infinity) {}

  /** The attempt that this code is a part of. */
  static current(): Requests | undefined {
    return contexts.getStore()?.running;
  }

  /** Does something as a part of the attempt. */
  within<T>(work: () => T): T {
    return contexts.run(this, work);
  }

  /** It has been judged that nothing was sent. Until {@link end}, what is sent all the same
   * withdraws that; of what others send, what they do within {@link LINGER}. */
  judged(): void {
    this.#judged = true;
    setTimeout(() => {
      this.#until = elsewhere.count;
    }, LINGER).unref();
  }

  /** @internal */
  get isJudged(): boolean {
    return this.#judged;
  }

  /** The attempt is over: what goes on in its context is no part of it. */
  end(): void {
    this.#over = true;
    this.#open.clear(); // its context may live as long as a connection that it made
    this.#sockets.clear();
    this.#wrote.clear();
    this.#refusing = undefined;
  }

  /** The attempt, or the one around it, if it is not over. */
  get running(): Requests | undefined {
    return this.#over ? this.#outer?.running : this;
  }

  /** Whether it was seen to make a request or a connection. */
  get seen(): boolean {
    return this.#made + this.#sockets.size > 0;
  }

  /** Whether it is an attempt, or one within that. */
  isPartOf(attempt: Requests): boolean {
    return this === attempt || (this.#outer?.isPartOf(attempt) ?? false);
  }

  /**
   * Why it is not known that nothing was sent; `undefined`: nothing was.
   *
   * @param claimed The caller says that the attempt makes one request, and no other.
   */
  doubt(claimed: Claim): Doubt | undefined {
    const left = this.#left();
    if (left) {
      return { why: left, claimable: false };
    }
    if (this.#counts(claimed)) {
      return undefined;
    }
    const why = this.#refused || (this.seen ? this.#meanwhile() : UNSEEN);
    return why ? { why, claimable: true } : undefined;
  }

  /**
   * Whether the attempt made one request, and did nothing else that may have an effect.
   *
   * @param claimed The caller says so; what was seen counts for more.
   */
  only(claimed: Claim): boolean {
    const others = this.#used || this.#wrote.size > 0 || this.#made > 1 || this.#mayCarry();
    return !others && (this.#counts(claimed) || (this.#made === 1 && !this.#meanwhile()));
  }

  #counts(claimed: Claim): boolean {
    return claimed === "if seen" ? this.seen : claimed;
  }

  #left(): string {
    const [wrote] = this.#wrote.values();
    const going = [...this.#open].some(mayGo) || this.#mayCarry();
    return (
      this.#sent || this.#used || wrote || (going ? "one of its requests may still be sent" : "")
    );
  }

  #mayCarry(): boolean {
    return [...this.#sockets].some((each) => each !== this.#refusing && mayCarry(each));
  }

  #meanwhile(): string {
    const { count, what } = elsewhere;
    return Math.min(count, this.#until) > this.#elsewhere ? `meanwhile this process ${what}` : "";
  }

  /** Its requests that were made, and neither sent nor ended. */
  get open(): readonly object[] {
    return [...this.#open];
  }

  /** It made a request.
   * @internal */
  made(request: object): void {
    this.#made++;
    this.origin = (request as { readonly origin?: unknown }).origin;
    this.#open.add(request);
    this.#outer?.made(request);
  }

  /** A dispatcher of undici's has been asked for a request, or will make it now.
   * @internal */
  dispatched(dispatcher: object, request: object): void {
    this.dispatcher ??= dispatcher;
    this.unsent(request);
  }

  /** A request waits for a connection, and has not been made yet.
   * @internal */
  waits(request: object): void {
    this.#open.add(request);
    this.#outer?.waits(request);
  }

  /** A request that waits for a connection will not be made.
   * @internal */
  unmade(request: object): void {
    this.#made++; // it was seen
    this.#open.delete(request);
    this.#outer?.unmade(request);
  }

  /** A request has been sent, or may have been.
   * @internal */
  left(request: object, peer?: Peer): void {
    this.#sent = "one of its requests was sent";
    this.#open.delete(request);
    this.peer = peer ?? this.peer;
    this.#outer?.left(request, peer);
  }

  /** A request has ended, and was not sent.
   * @internal */
  unsent(request: object): void {
    this.#open.delete(request);
    this.#outer?.unsent(request);
  }

  /** A request has failed.
   * @internal */
  failed(error: object): void {
    this.lastError = error;
    this.#outer?.failed(error);
  }

  /** It did what is not watched.
   * @internal */
  used(what: string): void {
    this.#used ||= `the attempt ${what}`;
    this.#outer?.used(what);
  }

  /** It wrote on a connection that is not watched.
   * @internal */
  wrote(socket: Socket, what: string): void {
    this.#wrote.set(socket, `the attempt ${what}`);
    this.#outer?.wrote(socket, what);
  }

  /** A server answered that it takes no request now. If the attempt used one connection only,
   * what it has written there until now had no effect, provided that it was one request. */
  refused(): void {
    const used = new Set([...this.#wrote.keys(), ...[...this.#sockets].filter(mayCarry)]);
    const [connection] = used;
    if (used.size === 1) {
      this.#refusing = connection;
      this.#refused = this.#wrote.get(connection!) ?? "";
      this.#wrote.clear();
    }
  }

  /** Whether it began a connection. */
  hasOpened(socket: Socket): boolean {
    return this.#sockets.has(socket);
  }

  /** It began to connect.
   * @internal */
  opened(socket: Socket): void {
    if (!this.#judged) {
      this.#sockets.add(socket); // later, a pool may begin some there for others' requests
    }
    this.#outer?.opened(socket);
  }
}

/** Milliseconds after an attempt in which others may send what it gave them (a choice: batchers
 * and queues wait for a few; in a whole wait, nearly every process does something else). */
const LINGER = 100;

const UNSEEN =
  "no request and no connection of the attempt was seen, so they were made where nothing is watched";

/** What this process has sent by ways that are not watched, or outside of any attempt. It may
 * be part of an attempt all the same: whoever hands work to a queue, a pool or a batcher has
 * it sent by somebody else. */
export const elsewhere = { count: 0, what: "" };

const contexts = new AsyncLocalStorage<Requests | undefined>();

/** The attempt in whose context code runs, though it may be over. */
export function context(): Requests | undefined {
  return contexts.getStore();
}

/** Does something in an attempt's context, or in none's. */
export function inContext<T>(attempt: Requests | undefined, work: () => T): T {
  return contexts.run(attempt, work);
}

/** Does something of outlast's own: what it sends is no part of the attempts beside it. */
export function apart<T>(work: () => T): T {
  return inContext(undefined, () => new Requests().within(work));
}

/** Marks the connections of requests that tell of themselves. A session of HTTP/2 shows its
 * connection through a proxy only, in which a mark is found. */
export const CARRIER = Symbol("outlast.carrier");

/** Whether a connection may still carry something besides the requests that are seen. What has
 * been written on it is known. */
function mayCarry(socket: Socket): boolean {
  return !(CARRIER in socket) && !socket.destroyed;
}

/** Whether a request that has not been sent may still be. One of node:http that was destroyed
 * may not; others, such as a stream of HTTP/2, may have been sent by then. */
function mayGo(request: { reusedSocket?: boolean; destroyed?: boolean }): boolean {
  return request.reusedSocket === undefined || !request.destroyed;
}
