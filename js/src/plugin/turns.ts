/** Sharing the event loop. */

import { setImmediate as nextTurn } from "node:timers/promises";

/** Lets one through at a time, and so many in one turn of the event loop. */
export class Turns {
  readonly #most: number;
  readonly #ms: number;
  #used = 0; // in this turn
  #began = 0; // when its first began
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param most How many may have the same turn of the event loop, at least 1.
   * @param ms After so many milliseconds of a turn none begins any more.
   */
  constructor(most: number, ms: number) {
    this.#most = most;
    this.#ms = ms;
  }

  /** Does some work once all that came before is done, in a turn that has room for it. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      await this.#room();
      return work();
    });
    this.#last = done.catch(() => {}); // the failure is the caller's
    return done;
  }

  async #room(): Promise<void> {
    while (this.#isFull()) {
      await nextTurn();
    }
    if (this.#used++ === 0) {
      this.#began = performance.now();
      setImmediate(() => {
        this.#used = 0;
      });
    }
  }

  #isFull(): boolean {
    const late = this.#used > 0 && performance.now() - this.#began >= this.#ms;
    return late || this.#used >= this.#most;
  }
}
