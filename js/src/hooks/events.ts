/**
 * What happens to a call, with typed details, for hooks. The events of one call come in
 * order. Times are milliseconds on the call's clock.
 */

import type { Readiness } from "../call/action.js";
import type { Call } from "../call/call.js";
import type { Outcome } from "../call/outcome.js";
import type { Result } from "../call/result.js";
import type { Release } from "../policy/source.js";

/** What all events have. */
export interface Told {
  /** What the call is. */
  readonly call: Call;
  /** The name of its policy. */
  readonly policy: string;
  /** Base name of the program that it runs; empty: it runs a function. */
  readonly command: string;
}

/** Follows each attempt. */
export interface AttemptEnded extends Told {
  readonly type: "attemptEnded";
  /** Its number, counted from 1. */
  readonly attempt: number;
  /** When. */
  readonly at: number;
  /** Whether it succeeded. */
  readonly ok: boolean;
  /** How it ended, with the call's secrets taken out. */
  readonly result: Result;
}

/** Follows the first failure of a call whose policy is followed: what it goes by from here
 * on. */
export interface PolicyInForce extends Told {
  readonly type: "policyInForce";
  /** The policy's, as `policy.digest()` has it. */
  readonly digest: string;
  /** Where it comes from: serial, source, since when, until when. None: it is the one that
   * comes with outlast. */
  readonly release?: Release | undefined;
  /** Why what is in the folder now is not it; none: it is. */
  readonly why?: Error | undefined;
}

/** Precedes each wait, and so names the failure that it is for. */
export interface Waiting extends Told {
  readonly type: "waiting";
  /** What the failure was. */
  readonly kind: string;
  /** The budget that the retry counts on. */
  readonly budget: string;
  /** The number of the attempt that follows. */
  readonly attempt: number;
  /** Milliseconds until it, from the end of the attempt before. */
  readonly delay: number;
  /** Milliseconds left of the budget's window; none if it has no window. */
  readonly remaining?: number | undefined;
  /** What of the server cuts the wait short; none: nobody watches. */
  readonly watched?: Readiness | undefined;
  /** It goes on from another wait for the same attempt, after `woken` or `leftOut`. */
  readonly again: boolean;
  /** When. */
  readonly at: number;
}

/** A wait was cut short, since the server is back. */
export interface Woken extends Told {
  readonly type: "woken";
  /** How much of an answer was seen. */
  readonly by: Readiness;
  /** When. */
  readonly at: number;
}

/** A wait is over and the server seen to be down, or there but not ready, so that the attempt
 * would fail. The policy may want it all the same. */
export interface LeftOut extends Told {
  readonly type: "leftOut";
  /** The server is there, and not ready yet. */
  readonly notReady: boolean;
  /** When. */
  readonly at: number;
}

/** Less of the server is looked at than `ready` asks for. It comes once a call. */
export interface Unwatched extends Told {
  readonly type: "unwatched";
  /** Why, such as a health check that is answered 404. */
  readonly why: string;
  /** When. */
  readonly at: number;
}

/** Precedes each repair. */
export interface Repairing extends Told {
  readonly type: "repairing";
  /** What the failure was. */
  readonly kind: string;
  /** Whether the repair is forced. */
  readonly force: boolean;
  /** When. */
  readonly at: number;
}

/** The call's first failure has loaded the plugin. */
export interface Loaded extends Told {
  readonly type: "loaded";
  /** Milliseconds of real time. */
  readonly took: number;
}

/** An instance of the plugin failed; the call goes on with another. */
export interface InstanceReplaced extends Told {
  readonly type: "instanceReplaced";
  /** How it failed. */
  readonly error: Error;
}

/** A call's last event, unless an error that no policy knows ended it. */
export interface Stopped extends Told {
  readonly type: "stopped";
  /** How it ended, with the call's secrets taken out. */
  readonly outcome: Outcome;
  /** When. */
  readonly at: number;
}

/** What happens to a call. `type` tells which it is. */
export type CallEvent =
  | AttemptEnded
  | PolicyInForce
  | Waiting
  | Woken
  | LeftOut
  | Unwatched
  | Repairing
  | Loaded
  | InstanceReplaced
  | Stopped;
