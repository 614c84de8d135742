/** The time that policies live by, unless a caller brings its own. */

import { AsyncLocalStorage } from "node:async_hooks";
import { onAbort } from "./abort.js";

/** Tells the time, and waits. */
export interface Clock {
  /** Milliseconds since some fixed moment, monotonic if it can be. */
  now(): number;
  /** Waits for so many milliseconds, or until the signal is aborted, whichever is first.
   * It is no error that the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest wait that setTimeout can do; a longer one would fire at once. */
export const MAX_TIMEOUT = 2 ** 31 - 1;

/** The real time. */
export const systemClock: Clock = {
  now: () => performance.now(),

  async sleep(ms, signal) {
    // A timer may fire up to a millisecond early; then the rest is waited too.
    const due = performance.now() + ms;
    for (let left = ms; left > 0 && !signal?.aborted; left = due - performance.now()) {
      await timer(Math.min(Math.ceil(left), MAX_TIMEOUT), signal);
    }
  },
};

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timeout);
      forget?.();
      resolve();
    };
    const forget = signal && onAbort(signal, end);
    const timeout = setTimeout(end, ms);
  });
}

/** Clocks in force instead of the real time, for what runs in their context. */
export const clocks = new AsyncLocalStorage<Clock>();

/** The clock in force: the real one, or that of `outlast/testing`. */
export function currentClock(): Clock {
  return clocks.getStore() ?? systemClock;
}
