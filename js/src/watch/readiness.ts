/** What a call sees of its server while it waits, and what lets it see. */

import { type Check, wants } from "../arguments/members.js";
import type { Readiness } from "../call/action.js";

/** What a watch has seen of a server. */
export interface Seen {
  /** How ready the server is, if an earlier look saw less of it; none otherwise: a server that
   * was never seen away did not come back. */
  readonly rose?: Readiness | undefined;
  /** The last look ended lately, and was refused, or found no way to the server or no such
   * name: an attempt now would fail. */
  readonly down: boolean;
  /** The last look ended lately, and was answered: the server is there, and not ready yet. It is
   * said only of what waiting helps. */
  readonly notReady?: boolean | undefined;
  /** Why less is looked at than was asked for, such as a health check that is answered 404. */
  readonly why?: string | undefined;
}

/** What one call sees of a server between two attempts. Only looks that began after the watch
 * count. */
export interface Watch {
  /** What it has seen so far. */
  seen(): Seen;
  /** Looks no more. */
  stop(): void;
  /**
   * Is told that a wait begins, where the watch has the callers of a server that is back go to it
   * in turn.
   *
   * @param by What cuts the wait short; `ready` does too.
   * @param held Milliseconds for which nothing does.
   * @param rest Milliseconds until it is over.
   */
  waits?(by: Readiness, held: number, rest: number): void;
  /** Is told how the attempt ended that was made after the watch was stopped. */
  went?(how: How): void;
}

/** How an attempt ended for those who wait for the same server: the server has done with it; the
 * call waits again, or was given up; or neither is known. */
export type How = "answered" | "failed" | "left";

/** Looks whether a server is back. */
export interface Watcher {
  /**
   * Begins to look, until the watch is stopped.
   *
   * @param eager Look as often as there is use in it; false, after a wake that led to no
   *     success: as seldom as ever.
   * @param news To be called after each look that may have changed what is seen.
   */
  watch(eager: boolean, news: () => void): Watch;
}

/** What is watched: `tcp://host:port`, which only says that a connection is accepted and so
 * never wakes a write, or an HTTP URL, of which without a path `/healthz` is asked for. Statuses
 * that say ready stand behind a `#`, as in `http://graph:8080/up#200,204`; 200 to 299 do without.
 * Or a watcher of the caller's own. */
export type Ready = string | URL | Watcher;

/** Whether it is a watcher of the caller's own. */
export function isWatcher(ready: unknown): ready is Watcher {
  return typeof (Object(ready) as Watcher).watch === "function";
}

/** Wants what can be watched, so far as its type goes. */
export const ready: Check = wants(
  "a URL such as http://graph:8080/healthz, or a watcher, which has the function watch",
  (value) => typeof value === "string" || value instanceof URL || isWatcher(value),
);
