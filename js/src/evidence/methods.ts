/** Functions of outlast's in the place of methods, by which it hears of what they do. */

import { syncBuiltinESMExports } from "node:module";
import { note } from "./traffic.js";

// biome-ignore lint/suspicious/noExplicitAny: methods of any kind
type Method = (this: any, ...args: any[]) => any;

const ours = new WeakSet<Method>();

interface Place {
  readonly isLost: () => boolean;
  readonly put: () => void;
}

const places: Place[] = [];

/** Puts a function in a method's place, made of what stands there. */
export function around<T extends object>(on: T, name: keyof T, make: (of: Method) => Method): void {
  let placed: unknown;
  const put = () => {
    const method = make(on[name] as Method);
    ours.add(method);
    placed = method;
    on[name] = method as T[keyof T];
  };
  put();
  // Each attempt asks, so what is nearly always so comes first.
  places.push({ isLost: () => on[name] !== placed && !ours.has(on[name] as Method), put });
}

/** Does something first, whenever a method is called. */
export function before<T extends object>(
  on: T,
  name: keyof T,
  act: (self: T, ...args: unknown[]) => void,
): void {
  around(on, name, (method) => first(method, act));
}

/** A function that does something first. */
export function first<F extends Method>(method: F, act: (...args: never[]) => void): F {
  return function (this: unknown, ...args: never[]) {
    (act as Method)(this, ...args);
    return Reflect.apply(method, this, args);
  } as F;
}

function isLost(place: Place): boolean {
  return place.isLost();
}

/** Puts back what others have replaced, as those do who restore a method that they had replaced
 * before. What was sent until then may not have been seen. */
export function putBack(): void {
  if (places.some(isLost)) {
    note("replaced functions by which outlast watches");
    for (const { put } of places.filter(isLost)) {
      put();
    }
    syncBuiltinESMExports();
  }
}
