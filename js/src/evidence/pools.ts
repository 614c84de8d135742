/** Hears of the requests that wait in a pool of undici's until one of its connections is free.
 * Undici tells of a request only then, and in the context of whoever frees the connection. */

import module from "node:module";
import { around } from "./methods.js";
import { context, inContext, type Requests } from "./requests.js";

const WAITING = Symbol("outlast.waiting"); // a dispatcher may be behind a proxy, which shows this

interface Dispatcher {
  dispatch(options: unknown, handler: unknown): unknown;
  readonly closed?: boolean;
  readonly destroyed?: boolean;
  /** Who is to hear that it takes no further request. */
  [WAITING]?: Set<() => void>;
}

/** What is told of a request that has failed. */
interface Failing {
  onError?(error: unknown): void; // before undici 8
  onResponseError?(...args: unknown[]): void;
}

/** A request of undici's, with what its types do not tell of. */
export interface UndiciRequest extends Failing {
  readonly method?: unknown;
  /** How the connection that it was given to ends it; null: it was given to none. */
  readonly abort?: unknown;
  /** It has failed, and will be given to none. */
  readonly aborted?: boolean;
}

/** Who asked for a request, by what undici calls with its answer. */
const callers = new WeakMap<object, Requests | undefined>();
const made = new WeakSet<object>(); // requests
const queued = new WeakSet<object>(); // what is called with the answers of those in a pool's queue
const takenBack = new WeakSet<object>(); // likewise, of those that shall not be made
const arePools = new WeakMap<object, boolean>(); // by a dispatcher's prototype
const known = new WeakSet<object>(); // prototypes of the requests of copies that are heard
const looked = new WeakSet<object>(); // those of copies that were looked for
const outer = new WeakSet<object>(); // prototypes of dispatchers, of copies all of whose are heard
let dispatching = 0; // calls that are under way
let accounted = 0; // requests that were made, or wait in a pool that is heard

/** Looks for the copies of undici in this process. A bundle's own copy is found only by
 * {@link foundBy}, unless it is what `fetch` uses. */
export function findPools(): void {
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (symbol.description?.startsWith("undici.globalDispatcher.")) {
      hearOuter(kindOf((globalThis as Record<symbol, unknown>)[symbol]));
    }
  }
  const { _cache: cache = {} } = module as { _cache?: Record<string, { exports?: unknown }> };
  for (const { exports } of Object.values(cache)) {
    for (const name of DISPATCHERS) {
      hearOuter(valueIn(valueIn(exports, name), "prototype"));
    }
  }
}

/** What undici exports of these. One that is behind another is not the first to be asked. */
const DISPATCHERS = [
  ...["Agent", "ProxyAgent", "EnvHttpProxyAgent"],
  ...["Pool", "BalancedPool", "RoundRobinPool", "Client"],
];

/** Looks for the copy of undici that has made a request. */
export function madeByUndici(request: object): void {
  accounted++;
  made.add(request);
  const kind = kindOf(request);
  if (dispatching > 0) {
    known.add(kind);
  } else if (!known.has(kind) && !looked.has(kind)) {
    looked.add(kind);
    findPools(); // it may have been loaded a moment ago
  }
}

/** The same by the connection that carries the request. */
export function foundBy(socket: object, request: object): void {
  if (!known.has(kindOf(request))) {
    known.add(kindOf(request));
    const keys = Object.getOwnPropertySymbols(socket);
    const client = keys.find((each) => each.description === "client");
    hearIfAny(client && kindOf((socket as Record<symbol, unknown>)[client]));
  }
}

function kindOf(of: unknown): object {
  return Object.getPrototypeOf(Object(of));
}

function valueIn(holder: unknown, name: string): unknown {
  const isHolder = (typeof holder === "object" && holder !== null) || typeof holder === "function";
  return isHolder ? Object.getOwnPropertyDescriptor(holder, name)?.value : undefined;
}

function hearIfAny(kind: unknown): kind is Dispatcher {
  const isOne = typeof (kind as Dispatcher | null | undefined)?.dispatch === "function";
  if (isOne) {
    hear(kind as Dispatcher);
  }
  return isOne;
}

function hearOuter(kind: unknown): void {
  if (hearIfAny(kind)) {
    outer.add(kind);
  }
}

/** Whether a dispatcher has a queue in front of several connections. */
function isPool(dispatcher: object): boolean {
  return hear(kindOf(dispatcher));
}

/** Hears of what dispatchers of a kind are asked for; gives whether they are pools. */
function hear(kind: object | null): boolean {
  if (!kind || kind === Object.prototype) {
    return false;
  }
  const before = arePools.get(kind);
  if (before !== undefined) {
    return before;
  }
  const keys = Reflect.ownKeys(kind);
  const methods = kind as Record<PropertyKey, unknown>;
  for (const key of keys.filter((each) => nameOf(each) === "dispatch")) {
    around(methods, key, dispatchingBy);
  }
  for (const key of keys.filter((each) => each === "close" || each === "destroy")) {
    around(methods, key, closingBy);
  }
  const has = keys.some((key) => nameOf(key) === "get dispatcher");
  const isOne = hear(Object.getPrototypeOf(kind)) || has;
  arePools.set(kind, isOne);
  return isOne;
}

function nameOf(key: string | symbol): string | undefined {
  return typeof key === "symbol" ? key.description : key;
}

type Dispatch = (this: object, options: unknown, handler: object) => unknown;

/** A request is made in the context of who asked for it, whoever's call frees a connection for
 * it, and until then it waits. */
function dispatchingBy(dispatch: Dispatch): Dispatch {
  return function (options, handler) {
    if (typeof handler !== "object" || handler === null) {
      return dispatch.call(this, options, handler);
    }
    if (takenBack.has(handler)) {
      return true; // there is room for others
    }
    const caller = callers.has(handler) ? callers.get(handler) : context();
    callers.set(handler, caller);
    caller?.running?.dispatched(this, handler);
    const before = accounted;
    dispatching++;
    try {
      return inContext(caller, () => dispatch.call(this, options, handler));
    } finally {
      dispatching--;
      if (accounted === before && isPool(this)) {
        accounted++;
        queued.add(handler);
        caller?.running?.waits(handler);
      }
    }
  };
}

function closingBy(close: (this: Dispatcher, ...args: unknown[]) => unknown) {
  return function (this: Dispatcher, ...args: unknown[]) {
    try {
      return close.apply(this, args);
    } finally {
      for (const tell of this[WAITING] ?? []) {
        tell();
      }
    }
  };
}

/** Calls back once the dispatcher that an attempt has asked first takes no further request, which
 * may be so already. One that is behind another, which closes it when it likes, is not meant.
 *
 * @returns Forgets the callback. */
export function onClose(attempt: Requests, call: () => void): (() => void) | undefined {
  const closing = attempt.dispatcher as Dispatcher | undefined;
  if (!closing || !isOuter(kindOf(closing))) {
    return undefined;
  }
  closing[WAITING] ??= new Set();
  const all = closing[WAITING];
  const tell = () => (closing.closed || closing.destroyed) && call();
  all.add(tell);
  tell();
  return () => all.delete(tell);
}

function isOuter(kind: object | null): boolean {
  return kind !== null && (outer.has(kind) || isOuter(Object.getPrototypeOf(kind)));
}

/** Takes back what an attempt that is over has asked of undici and waits for a connection still:
 * undici would send it, though nobody waits for it any more. */
export function takeBack(attempt: Requests): void {
  const error = Object.assign(new Error("outlast takes it back"), { code: "UND_ERR_ABORTED" });
  for (const each of attempt.open as readonly (UndiciRequest & Failing)[]) {
    if (made.has(each) && each.abort === null && !each.aborted) {
      each.onError ? each.onError(error) : each.onResponseError?.(error);
    } else if (queued.has(each)) {
      takenBack.add(each);
      attempt.unmade(each);
      each.onResponseError ? each.onResponseError(null, error) : each.onError?.(error);
    }
  }
}
