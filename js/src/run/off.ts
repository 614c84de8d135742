/** Whether failures are tried again at all: tests of what follows a failure want none of it. */

import { AsyncLocalStorage } from "node:async_hooks";

const off = new AsyncLocalStorage<true>();
let everywhere = false;

/** Does something in which each call makes one attempt. */
export function once<T>(work: () => T): T {
  return off.run(true, work);
}

/** Chooses it for the whole process. */
export function turnOff(isOff: boolean): void {
  everywhere = isOff;
}

export function retriesAreOff(): boolean {
  return everywhere || off.getStore() === true;
}
