/** Which hooks are in force. */

import { debuglog } from "node:util";
import type { CallEvent } from "./events.js";
import { lineOf } from "./line.js";

/** Is told of an event. It must be quick, since the call waits for it. What it throws goes
 * no further than a warning: no metric may end a call. */
export type Hook = (event: CallEvent) => void;

/** What a hook for logs writes to: `console`, or a logger such as pino. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Writes a line for each event that is worth one. A line names the kind of a failure and
 * never quotes an attempt: who searches a log for an attempt's words must find none. */
export function logTo(logger: Logger): Hook {
  return (event) => {
    const line = lineOf(event);
    if (line) {
      logger[line.level](line.text);
    }
  };
}

const debug = debuglog("outlast");

/** Shows lines where the environment has `NODE_DEBUG=outlast`. */
const debugHook: Hook = (event) => {
  const line = debug.enabled ? lineOf(event) : undefined;
  if (line) {
    debug("%s", line.text);
  }
};

let hooks: readonly Hook[] = [debugHook];

/**
 * Chooses the hooks of the whole process.
 *
 * @param chosen All that shall be told; an empty array: nobody; `undefined`: the default
 *     one again, which writes lines to stderr where the environment has
 *     `NODE_DEBUG=outlast`.
 */
export function setHooks(chosen: Iterable<Hook> | undefined): void {
  hooks = chosen === undefined ? [debugHook] : [...chosen];
}

/** The hooks in force. */
export function getHooks(): readonly Hook[] {
  return hooks;
}

/** Tells hooks of an event. */
export function tell(event: CallEvent, all: readonly Hook[]): void {
  for (const hook of all) {
    try {
      hook(event);
    } catch (error) {
      process.emitWarning(`outlast: a hook failed at ${event.type}: ${error}`);
    }
  }
}
