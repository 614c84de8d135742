/** What the events of one call add up to. */

import type { Readiness } from "../call/action.js";
import type { CallEvent, Waiting } from "./events.js";

/** Sums of one call. Times are in seconds. */
export class Figures {
  /** How long the wait took that ended last; none: the last attempt followed none. */
  wait: number | undefined;
  /** How long all waits took that ended; none: there was none. */
  waited: number | undefined;
  /** How ready the server was that cut the last wait short; none: nothing did. */
  woken: Readiness | undefined;
  /** Whether the last attempt was woken, failed, and is waited for again. */
  vain = false;
  /** The share of its window that the fullest budget has used, at most 1; none: none has a
   * window. */
  used: number | undefined;
  #since: number | undefined; // when the last attempt was over, if no repair came after it
  #waits = false;
  readonly #windows = new Map<string, number>();
  #last: { window: number; opened: number } | undefined;

  /** An attempt begins, so a wait has ended. */
  attempt(at: number): void {
    if (!this.#waits) {
      this.woken = undefined;
    }
    this.#waitedUntil(at);
  }

  /** An event of the call. */
  hear(event: CallEvent): void {
    switch (event.type) {
      case "attemptEnded":
        this.#since = event.at;
        break;
      case "repairing":
        this.#since = undefined;
        break;
      case "waiting":
        this.#wait(event);
        break;
      case "woken":
        this.woken = event.by;
        break;
      case "leftOut":
        this.woken = undefined;
        break;
      case "stopped":
        this.#use(event.at);
        this.#waitedUntil(event.at);
        break;
    }
  }

  #wait(event: Waiting): void {
    if (event.again) {
      this.woken = undefined; // no attempt came of it
      return;
    }
    this.vain = this.woken !== undefined;
    this.woken = undefined;
    this.#waits = true;
    this.#since ??= event.at;
    this.#open(event);
  }

  #waitedUntil(at: number): void {
    this.wait = undefined;
    if (this.#waits && this.#since !== undefined) {
      this.wait = Math.max(0, at - this.#since) / 1000; // a clock may go backwards
      this.waited = (this.waited ?? 0) + this.wait;
    }
    this.#waits = false;
  }

  #open({ budget, remaining, at }: Waiting): void {
    this.#last = undefined;
    if (remaining === undefined) {
      return;
    }
    // A window is untouched at its first wait, and no event says its length.
    const window = Math.max(this.#windows.get(budget) ?? 0, remaining);
    this.#windows.set(budget, window);
    this.#last = { window, opened: at - (window - remaining) };
    this.#use(at);
  }

  #use(at: number): void {
    if (this.#last) {
      const { window, opened } = this.#last;
      const share = window > 0 ? (at - opened) / window : 1;
      this.used = Math.max(this.used ?? 0, Math.min(1, share));
    }
  }
}
