/** Events as lines of a log. Of many calls in one outage it has the lines of the first, and
 * counts of the rest. */

import type { CallEvent, Waiting } from "./events.js";
import type { CallHook, PerCallHook } from "./hook.js";
import { type Level, type Line, lineOf } from "./line.js";

/** What a hook for logs writes to: `console`, or a logger such as pino. */
export type Logger = Record<Level, (message: string) => void>;

/** How lines are written. */
export interface LogOptions {
  /** Where the logger wants a line's fields, which are an object: `first`, before the message,
   * as pino and bunyan do, or `last`, as winston does. Times are in seconds. They are left out
   * unless given. */
  readonly fields?: "first" | "last" | undefined;
  /** Milliseconds of real time. `performance.now` unless given. */
  readonly now?: (() => number) | undefined;
}

/** Milliseconds of real time between two lines that count (a choice). */
const EVERY = 5000;

/** Outcomes that a person has to look at: each has a line of its own. */
const ALWAYS_TOLD = new Set(["exhausted", "indeterminate"]);

/**
 * Writes a line for each event that is worth one. A line names the kind of a failure and never
 * quotes an attempt: who searches a log for an attempt's words must find none.
 *
 * Of the calls that wait at the same time by one policy and for one kind of failure, it writes
 * all lines of the first. The others are counted, in a line at most every five seconds, and in
 * one when the last of them has ended. A call that is exhausted or indeterminate has its own
 * line in any case.
 */
export function logTo(logger: Logger, options: LogOptions = {}): PerCallHook {
  const { fields, now = () => performance.now() } = options;
  const outages = new Outages(now);
  const write = (line: Line | undefined) => {
    if (!line) {
      return;
    }
    const values = { first: [line.fields, line.text], last: [line.text, line.fields] };
    const given = (fields ? values[fields] : [line.text]) as [string];
    logger[line.level](...given);
  };
  return { begin: () => new LoggedCall(outages, write) };
}

/** Calls that wait at the same time, by one policy and for one kind of failure. */
interface Outage {
  readonly key: string;
  readonly policy: string;
  readonly kind: string;
  nextLine: number;
  /** How many have not ended. */
  waiting: number;
  /** All but the first. */
  counted: number;
  /** Of these, how so many have ended. */
  readonly ends: Map<string, number>;
}

class Outages {
  readonly #now: () => number;
  readonly #all = new Map<string, Outage>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The outage that a call waits for, and whether the call is its first. */
  join({ policy, kind }: Waiting): { outage: Outage; first: boolean } {
    const key = JSON.stringify([policy, kind]);
    const known = this.#all.get(key);
    const nextLine = this.#now() + EVERY;
    const outage = known ?? {
      ...{ key, policy, kind, nextLine, waiting: 0, counted: 0, ends: new Map() },
    };
    this.#all.set(key, outage);
    outage.waiting++;
    outage.counted += known ? 1 : 0;
    return { outage, first: !known };
  }

  /** A line that counts those who wait, if it is time for one. */
  count(outage: Outage): Line | undefined {
    if (this.#now() < outage.nextLine) {
      return undefined;
    }
    outage.nextLine = this.#now() + EVERY;
    const left = outage.counted - [...outage.ends.values()].reduce((sum, n) => sum + n, 0);
    return lineOn(outage, "warn", `have waited, ${left} of them still do`);
  }

  /** A line on those who were counted, after the last call's end; none if there were none. */
  leave(outage: Outage, how: string, first: boolean): Line | undefined {
    outage.waiting--;
    if (!first) {
      outage.ends.set(how, (outage.ends.get(how) ?? 0) + 1);
    }
    if (outage.waiting > 0) {
      return undefined;
    }
    this.#all.delete(outage.key);
    return outage.counted > 0 ? lineOn(outage, "info", "waited") : undefined;
  }
}

function lineOn(outage: Outage, level: Level, text: string): Line {
  const { policy, kind, counted: calls } = outage;
  const ends = [...outage.ends].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const how = ends.length > 0 ? `; ${ends.map(([end, n]) => `${n} ${end}`).join(", ")}` : "";
  const fields = { kind, calls, outcomes: Object.fromEntries(ends), policy };
  return { level, text: `outlast: ${calls} more calls ${text}${how}`, fields };
}

/** Writes of one call. It stays in the outage in which it began to wait, whatever it waits for
 * after that. */
class LoggedCall implements CallHook {
  #outage: Outage | undefined;
  #first = true;
  /** Whether it was told why attempts are left out: each wait that follows says "still". */
  #leftOut = false;

  constructor(
    readonly outages: Outages,
    readonly write: (line: Line | undefined) => void,
  ) {}

  tell(event: CallEvent): void {
    if (event.type === "waiting" && !this.#outage) {
      const { outage, first } = this.outages.join(event);
      this.#outage = outage;
      this.#first = first;
    }
    const known = event.type === "leftOut" && this.#leftOut;
    this.#leftOut ||= event.type === "leftOut";
    if ((this.#first && !known) || hasOwnLine(event)) {
      this.write(lineOf(event));
    } else if (event.type === "waiting" && this.#outage) {
      this.write(this.outages.count(this.#outage));
    }
    if (event.type === "stopped") {
      this.#leave(event.outcome.type);
    }
  }

  end(error?: unknown): void {
    this.#leave(error instanceof Error ? error.name : "without an outcome");
  }

  #leave(how: string): void {
    const outage = this.#outage;
    this.#outage = undefined;
    if (outage) {
      this.write(this.outages.leave(outage, how, this.#first));
    }
  }
}

/** Whether an event has a line though its call is counted with others. */
function hasOwnLine(event: CallEvent): boolean {
  if (event.type === "stopped") {
    return ALWAYS_TOLD.has(event.outcome.type);
  }
  return !["waiting", "repairing", "leftOut"].includes(event.type);
}
