/** A clock that goes on while the machine sleeps, which processes on it share. */

import { readFileSync } from "node:fs";

/** Microseconds since the machine was started; 0 where that is not known. */
export function boot(): number {
  try {
    return Math.round(Number.parseFloat(readFileSync("/proc/uptime", "latin1")) * 1e6);
  } catch {
    return 0;
  }
}
