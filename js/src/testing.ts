/**
 * Tests without sleeping.
 *
 * @module outlast/testing
 */

import { setImmediate } from "node:timers/promises";
import { once, turnOff } from "./run/off.js";
import { type Clock, clocks } from "./time/clock.js";
import { micros, millis } from "./wire/values.js";

/** A clock that moves only when it is slept on or advanced. Calls may share it, but then
 * they share its time too. */
export class VirtualClock implements Clock {
  /** All sleeps so far, in milliseconds. */
  readonly slept: number[] = [];
  #us = 0; // whole microseconds, as the plugin counts: sums of fractions would drift

  /** @param now What it shows at first, in milliseconds. */
  constructor(now = 0) {
    this.advance(now);
  }

  now(): number {
    return millis(this.#us);
  }

  /** Moves the clock, and lets other work run once. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (!signal?.aborted) {
      this.advance(ms);
      this.slept.push(ms);
    }
    await setImmediate();
  }

  /** Moves the clock without a sleep, as an attempt that takes long does. A negative
   * number moves it back: clocks do that. */
  advance(ms: number): void {
    this.#us += micros(ms, "a virtual time");
  }
}

/**
 * Runs a function in which all calls are on a virtual clock, and nobody sleeps.
 *
 * @param test Gets the clock. Calls that it makes and awaits are on it; others are not.
 * @param now What the clock shows at first, in milliseconds.
 */
export function virtualTime<T>(test: (clock: VirtualClock) => T | Promise<T>, now = 0): Promise<T> {
  const clock = new VirtualClock(now);
  return clocks.run(clock, async () => test(clock));
}

/**
 * Runs a function in which nothing is tried again: each call makes one attempt, and ends as if
 * `attempts` were 1.
 *
 * @param test Calls that it makes and awaits are so; others are not.
 */
export function noRetries<T>(test: () => T): T {
  return once(test);
}

/**
 * The same for the whole process, such as in the set-up of a test suite.
 *
 * @param active Whether failures are tried again.
 */
export function setRetries(active: boolean): void {
  turnOff(!active);
}
