/** What a policy wants next. */

import type { WireAction, WireWake } from "../wire/types.js";
import { millis } from "../wire/values.js";
import { type Outcome, readOutcome } from "./outcome.js";

/** How much of an answer was seen from a server: it accepted a connection, or it
 * answered its health check as expected, twice. The second implies the first. */
export type Readiness = WireWake["by"];

/** What may cut a wait short. */
export interface Wake {
  /** The least readiness of the server that may. */
  readonly by: Readiness;
  /** Milliseconds of the wait that must have passed before. */
  readonly after: number;
}

/** How a result was recognised. */
export interface Why {
  /** The kind of the rule that matched. */
  readonly rule: string;
  /** Its tests that held, and where; none for the last rule, which matches everything. */
  readonly matched: readonly { readonly in: string; readonly text: string }[];
}

/** Wait, and then attempt or repair again. */
export interface Retry {
  readonly type: "retry";
  /** Milliseconds to wait, from the event on that led here. */
  readonly delay: number;
  /** The number of the attempt that follows. */
  readonly attempt: number;
  /** What the failure was. */
  readonly kind: string;
  /** The budget that the retry counts on. */
  readonly budget: string;
  /** Milliseconds that were left of the budget's window; none if it has no window. */
  readonly remaining?: number | undefined;
  /** A repair comes next, not an attempt. */
  readonly repair: boolean;
  /** The repair is forced. */
  readonly repairForce: boolean;
  /** What may cut the wait short; without it nothing may. */
  readonly wake?: Wake | undefined;
  /** How the result was recognised, if that was asked. */
  readonly why?: Why | undefined;
}

/** The call is over. */
export interface Stop {
  readonly type: "stop";
  /** How it ended. */
  readonly outcome: Outcome;
  /** How the last result was recognised, if that was asked. */
  readonly why?: Why | undefined;
}

/** What a policy wants next. */
export type Action = Retry | Stop;

/**
 * An action as the plugin said it.
 *
 * @throws Error if this package does not know it: the call must stop.
 */
export function readAction(said: WireAction): Action {
  const why = said.why && { rule: said.why.rule, matched: said.why.matched ?? [] };
  if (said.type === "stop") {
    return { type: "stop", outcome: readOutcome(said.outcome!), ...(why && { why }) };
  }
  if (said.type !== "retry") {
    throw new Error(`this package does not know the action "${said.type}"`);
  }
  const { remaining_us: remaining, wake } = said;
  return {
    type: "retry",
    delay: millis(said.delay_us ?? 0),
    attempt: said.attempt ?? 0,
    kind: said.kind ?? "",
    budget: said.budget ?? "",
    repair: said.repair ?? false,
    repairForce: said.repair_force ?? false,
    ...(remaining !== undefined && { remaining: millis(remaining) }),
    ...(wake && { wake: { by: wake.by, after: millis(wake.after_us ?? 0) } }),
    ...(why && { why }),
  };
}
