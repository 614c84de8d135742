/** Tells of a call. */

import type { Outcome } from "../call/outcome.js";
import { Requests } from "../evidence/requests.js";
import type { CallEvent, Told } from "../hooks/events.js";
import type { CallHook, Hook } from "../hooks/hook.js";
import { around, begin, end, tell } from "../hooks/hooks.js";

/** An event without what all events have. */
export type Untold<E> = E extends CallEvent ? Omit<E, keyof Told> : never;

/** Who is told of a call, and what. */
export class Telling {
  readonly told: Told;
  readonly #hooks: CallHook[];
  /** What hooks send, as to who counts, is no part of the attempts beside it. */
  readonly #apart = new Requests();

  /** @param told What the call is, with its secrets taken out. */
  constructor(hooks: readonly Hook[], told: Told) {
    this.told = told;
    this.#hooks = begin(hooks, told);
  }

  /** Others are told of the call from now on. */
  join(hooks: readonly Hook[]): void {
    this.#hooks.push(...begin(hooks, this.told));
  }

  /** Tells of an event. */
  tell(event: Untold<CallEvent>): void {
    if (this.#hooks.length > 0) {
      const told: CallEvent = Object.assign(event, this.told);
      this.#apart.within(() => tell(told, this.#hooks));
    }
  }

  /** Makes an attempt, in what hooks want around it. */
  around<T>(number: number, at: number, make: () => Promise<T>): Promise<T> {
    return this.#apart.within(() => around(this.#hooks, number, at, make));
  }

  /** Tells that the first attempt has succeeded, and so the call. */
  succeeded(outcome: Outcome, at: number): void {
    this.tell({ type: "attemptEnded", attempt: 1, at, ok: true, result: outcome.result! });
    this.tell({ type: "stopped", outcome, at });
    this.ended();
  }

  /** Tells that nothing more comes of the call.
   *
   * @param error What ended it, if it has no outcome. */
  ended(error?: unknown): void {
    this.#apart.within(() => end(this.#hooks, error));
  }
}
