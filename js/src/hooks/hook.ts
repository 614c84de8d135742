/** What a hook is. */

import type { Call } from "../call/call.js";
import type { CallEvent } from "./events.js";

/** Is told of one call. What its methods throw goes no further than a warning. */
export interface CallHook {
  /** Hears of an event of the call. */
  tell(event: CallEvent): void;
  /**
   * Hears that an attempt begins, and makes it, in whatever context it wants.
   *
   * @param number The attempt's, counted from 1.
   * @param at When, in milliseconds on the call's clock.
   * @param make Makes the attempt, once. What it gives is rejected if the attempt throws.
   */
  attempt?(number: number, at: number, make: () => Promise<unknown>): void;
  /** Hears that nothing more comes. The error is what ended a call that has no outcome. */
  end?(error?: unknown): void;
}

/** A hook that tells calls apart: each gets a hook of its own. */
export interface PerCallHook {
  /**
   * Begins with a call.
   *
   * @param call What the call is, with its secrets taken out.
   * @param policy The name of its policy.
   * @param command Base name of the program that it runs; empty: it runs a function.
   * @returns What is told of it; none: nobody is.
   */
  begin(call: Call, policy: string, command: string): CallHook | undefined;
}

/** Is told of events. It must be quick, since the call waits for it. What it throws goes no
 * further than a warning: no metric may end a call. */
export type Hook = ((event: CallEvent) => void) | PerCallHook;
