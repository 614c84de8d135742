/** Waits that the server's return may cut short. */

import { setImmediate } from "node:timers/promises";
import type { Readiness, Retry, Wake } from "../call/action.js";
import { DOWN, NOT_READY } from "../policy/older.js";
import { onAbort } from "../time/abort.js";
import type { Clock } from "../time/clock.js";
import type { How, Watch, Watcher } from "../watch/readiness.js";

/** A call's watch of its server, from one attempt to the next. */
export class CallWatch {
  readonly #watch: Watch;
  #news: () => void = () => {};

  constructor(watcher: Watcher, wake: Wake) {
    this.#watch = watcher.watch(wake.after === 0, () => this.#news());
  }

  stop(): void {
    this.#watch.stop();
  }

  /** Tells how the attempt ended that was made after it was stopped. */
  went(how: How): void {
    this.#watch.went?.(how);
  }

  /** Why less is looked at than was asked for. */
  get why(): string | undefined {
    return this.#watch.seen().why;
  }

  /** Why an attempt now would fail, in a word that a plugin of a minor version knows. */
  leftOut(minor: number): "down" | "notReady" | undefined {
    const { down, notReady } = this.#watch.seen();
    if (down && minor >= DOWN) {
      return "down";
    }
    return notReady && minor >= NOT_READY ? "notReady" : undefined;
  }

  /**
   * Waits until a delay is over, or the server is ready enough, whichever is first; but for as
   * long as the policy holds it in any case.
   *
   * @param wait The action's rest: how long it takes, and what may cut it short.
   * @returns How ready the server is, if that ended it.
   */
  async wait(
    clock: Clock,
    { delay, wake }: Pick<Retry, "delay"> & { wake: Wake },
    signal: AbortSignal,
  ): Promise<Readiness | undefined> {
    const held = Math.min(Math.max(0, wake.after), delay);
    this.#watch.waits?.(wake.by, held, delay);
    if (held > 0) {
      await clock.sleep(held, signal);
    }
    const enough = () => {
      const { rose } = this.#watch.seen();
      return rose === "ready" || rose === wake.by ? rose : undefined;
    };
    const over = new AbortController();
    const forget = onAbort(signal, () => over.abort());
    this.#news = () => enough() && over.abort();
    try {
      if (signal.aborted || enough()) {
        await setImmediate(); // a wait ends in another turn, however short it is
      } else if (delay > held) {
        await clock.sleep(delay - held, over.signal);
      }
      return signal.aborted ? undefined : enough();
    } finally {
      this.#news = () => {};
      forget();
    }
  }
}
