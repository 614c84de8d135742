/** An event as a line of a log. It never quotes an attempt. */

import type { CallEvent, PolicyInForce, Stopped } from "./events.js";

/** A line of a log. */
export interface Line {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

/** The line for an event, none if it is not worth one. */
export function lineOf(event: CallEvent): Line | undefined {
  const line = withoutLabel(event);
  const label = event.call.label ? `${event.call.label}: ` : "";
  return line && { level: line.level, text: `outlast: ${label}${line.text}` };
}

function withoutLabel(event: CallEvent): Line | undefined {
  switch (event.type) {
    case "waiting": {
      const { kind, attempt, delay, remaining } = event;
      const left = remaining === undefined ? "" : `, of ${seconds(remaining, 1)} s left`;
      const text = `${kind}; attempt ${attempt} in ${seconds(delay, 2)} s${left}`;
      return { level: "warn", text };
    }
    case "policyInForce":
      return inForce(event);
    case "repairing":
      return { level: "warn", text: `${event.kind}; repairing` };
    case "loaded":
      return { level: "debug", text: `loaded in ${seconds(event.took, 3)} s` };
    case "instanceReplaced":
      return { level: "warn", text: "an instance of the plugin failed and was replaced" };
    case "stopped":
      return stopped(event);
    default:
      return undefined;
  }
}

function inForce({ digest, release, why }: PolicyInForce): Line {
  const from = release ? `serial ${release.serial} of ${release.source}` : "comes with outlast";
  const text = `the policy in force is ${digest}, ${from}`;
  // A folder that has never had it is no fault.
  const expected = !why || (!release && (why as NodeJS.ErrnoException).code === "ENOENT");
  return { level: expected ? "debug" : "warn", text: why ? `${text}: ${why.message}` : text };
}

function stopped({ outcome }: Stopped): Line | undefined {
  if (outcome.ok && outcome.attempts <= 1) {
    return undefined;
  }
  return { level: outcome.ok ? "info" : "error", text: outcome.message || outcome.type };
}

function seconds(ms: number, digits: number): string {
  return (ms / 1000).toFixed(digits);
}
