/** Time limits of attempts. */

import { wants } from "../arguments/members.js";
import { MAX_TIMEOUT } from "../time/clock.js";

/** Wants a time limit. */
export const limit = wants(
  `above 0 ms and at most ${MAX_TIMEOUT}`,
  (ms) => typeof ms === "number" && ms > 0 && ms <= MAX_TIMEOUT,
  RangeError,
);

/** Milliseconds in which an attempt whose time is over may end by itself, so that it is known how
 * (a choice: one that heeds its signal ends within a turn or two of the event loop). */
const GRACE = 100;

/** The time of one attempt. It is real time, as what the attempt does is. */
export class TimeLimit {
  /** Aborted when the caller gives up, or the time is over. */
  readonly signal: AbortSignal;
  /** The time is over. */
  expired = false;
  /** The attempt did not end when it should have. */
  abandoned = false;
  readonly #ms: number | undefined;
  readonly #over = new AbortController();

  /** @param ms None: there is no limit. */
  constructor(signal: AbortSignal, ms: number | undefined) {
    this.#ms = ms;
    this.signal = ms === undefined ? signal : AbortSignal.any([signal, this.#over.signal]);
  }

  /** Gets how an attempt ended; it is not waited for much longer than its time. */
  async hold<T>(attempt: Promise<T>): Promise<T> {
    if (this.#ms === undefined) {
      return attempt;
    }
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const text = `the attempt took more than ${this.#ms} ms`;
        const error = new DOMException(text, "TimeoutError");
        this.expired = true;
        this.#over.abort(error);
        timer = setTimeout(() => {
          this.abandoned = true;
          reject(error);
        }, GRACE);
      }, this.#ms);
    });
    try {
      return await Promise.race([attempt, over]);
    } finally {
      clearTimeout(timer);
    }
  }
}
