/** Hears of the requests that wait in a pool of undici's until one of its connections is free.
 * Undici tells of a request only then, and in the context of whoever frees the connection. */

import module from "node:module";
import { around } from "./methods.js";
import { context, inContext, type Requests } from "./requests.js";

interface Dispatcher {
  dispatch(options: unknown, handler: unknown): unknown;
}

/** Who asked for a request, by what undici calls with its answer. */
const callers = new WeakMap<object, Requests | undefined>();
const arePools = new WeakMap<object, boolean>(); // by a dispatcher's prototype
const known = new WeakSet<object>(); // prototypes of the requests of copies that are heard
const looked = new WeakSet<object>(); // those of copies that were looked for
let dispatching = 0; // calls that are under way
let accounted = 0; // requests that were made, or wait in a pool that is heard

/** Looks for the copies of undici in this process. A bundle's own copy is found only by
 * {@link foundBy}, unless it is what `fetch` uses. */
export function findPools(): void {
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (symbol.description?.startsWith("undici.globalDispatcher.")) {
      hearIfAny(kindOf((globalThis as Record<symbol, unknown>)[symbol]));
    }
  }
  const { _cache: cache = {} } = module as { _cache?: Record<string, { exports?: unknown }> };
  for (const { exports } of Object.values(cache)) {
    for (const name of ["Pool", "Client"]) {
      hearIfAny(valueIn(valueIn(exports, name), "prototype"));
    }
  }
}

/** Looks for the copy of undici that has made a request. */
export function madeByUndici(request: object): void {
  accounted++;
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

function hearIfAny(kind: unknown): void {
  if (typeof (kind as Dispatcher | null | undefined)?.dispatch === "function") {
    hear(kind as Dispatcher);
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
  for (const key of keys.filter((each) => nameOf(each) === "dispatch")) {
    around(kind as Record<PropertyKey, unknown>, key, dispatchingBy);
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
    const caller = callers.has(handler) ? callers.get(handler) : context();
    callers.set(handler, caller);
    caller?.running?.unsent(handler);
    const before = accounted;
    dispatching++;
    try {
      return inContext(caller, () => dispatch.call(this, options, handler));
    } finally {
      dispatching--;
      if (accounted === before && isPool(this)) {
        accounted++;
        caller?.running?.waits(handler);
      }
    }
  };
}
