/** Watches what leaves this process. */

import { hearHttp, hearUndici } from "./channels.js";
import { hearDatagrams, hearProcesses, hearThreads } from "./others.js";
import type { Requests } from "./requests.js";
import { hearHttp2 } from "./sessions.js";
import { hearSockets } from "./sockets.js";

/** Bun and Deno have what Node has, and send by other ways. */
const IS_NODE = !("bun" in process.versions || "deno" in process.versions);

let watching = false;

/** Does something as a part of an attempt. From the first time on, what leaves is watched. */
export function watch<T>(attempt: Requests, work: () => T): T {
  if (IS_NODE && !watching) {
    watching = true;
    for (const hear of [
      hearUndici,
      hearHttp,
      hearSockets,
      hearHttp2,
      hearProcesses,
      hearThreads,
      hearDatagrams,
    ]) {
      hear();
    }
  }
  return attempt.within(work);
}
