/** An event as a line of a log. It never quotes an attempt. */

import type { CallEvent, PolicyInForce, Stopped, Waiting } from "./events.js";

export type Level = "debug" | "info" | "warn" | "error";

/** What a line says, as values. Times are in seconds. */
export type Fields = Readonly<Record<string, unknown>>;

/** A line of a log. */
export interface Line {
  readonly level: Level;
  readonly text: string;
  readonly fields: Fields;
}

/** Why the attempt that was announced is not made. */
const LEFT_OUT =
  "the server is seen to be down: the next attempt is made when it is back, " +
  "or when one is due all the same";

/** The line for an event, none if it is not worth one. */
export function lineOf(event: CallEvent): Line | undefined {
  const line = withoutLabel(event);
  if (!line) {
    return undefined;
  }
  const { label } = event.call;
  const fields = { ...line.fields, policy: event.policy, ...(label && { label }) };
  return { ...line, text: `outlast: ${label ? `${label}: ` : ""}${line.text}`, fields };
}

function withoutLabel(event: CallEvent): Line | undefined {
  switch (event.type) {
    case "waiting":
      return waiting(event);
    case "leftOut":
      return { level: "warn", text: LEFT_OUT, fields: {} };
    case "policyInForce":
      return inForce(event);
    case "unwatched": {
      const { why } = event;
      return { level: "warn", text: why, fields: { why } };
    }
    case "repairing": {
      const { kind } = event;
      return { level: "warn", text: `${kind}; repairing`, fields: { kind } };
    }
    case "loaded": {
      const took = event.took / 1000;
      return { level: "debug", text: `loaded in ${took.toFixed(3)} s`, fields: { took } };
    }
    case "instanceReplaced": {
      const text = "an instance of the plugin failed and was replaced";
      return { level: "warn", text, fields: {} };
    }
    case "stopped":
      return stopped(event);
    default:
      return undefined;
  }
}

function waiting({ kind, budget, attempt, again, ...times }: Waiting): Line {
  const delay = times.delay / 1000;
  const remaining = times.remaining === undefined ? undefined : times.remaining / 1000;
  const left = remaining === undefined ? "" : `, of ${remaining.toFixed(1)} s left`;
  const still = again ? "still " : "";
  const text = `${still}${kind}; attempt ${attempt} in ${delay.toFixed(2)} s${left}`;
  return { level: "warn", text, fields: { kind, budget, attempt, delay, remaining } };
}

function inForce({ digest, release, why }: PolicyInForce): Line {
  const from = release ? `serial ${release.serial} of ${release.source}` : "comes with outlast";
  const text = `the policy in force is ${digest}, ${from}`;
  // A folder that has never had it is no fault.
  const expected = !why || (!release && (why as NodeJS.ErrnoException).code === "ENOENT");
  const fields = { digest, serial: release?.serial, why: why?.message };
  const level = expected ? "debug" : "warn";
  return { level, text: why ? `${text}: ${why.message}` : text, fields };
}

function stopped({ outcome }: Stopped): Line | undefined {
  const { ok, type, kind, effects, reason, attempts } = outcome;
  if (ok && attempts <= 1) {
    return undefined;
  }
  const elapsed = outcome.elapsed / 1000;
  const fields = { outcome: type, kind, effects, reason, attempts, elapsed };
  return { level: ok ? "info" : "error", text: outcome.message || type, fields };
}
