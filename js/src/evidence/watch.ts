/** Watches what leaves this process. */

import { hearHttp, hearUndici } from "./channels.js";
import { hearDatagrams, hearProcesses, hearThreads } from "./others.js";
import { hearHttp2 } from "./sessions.js";
import { hearSockets } from "./sockets.js";

/** Bun and Deno have what Node has, and send by other ways. */
const IS_NODE = !("bun" in process.versions || "deno" in process.versions);

let watching: Promise<void> | undefined;
let isWatching = !IS_NODE;

/** Watches what leaves from now on. It is done when this process's first attempt is made, so that
 * nothing else of the process is touched by an import. */
export function startWatching(): Promise<void> | undefined {
  if (!isWatching) {
    watching ??= hear().catch(() => {}); // such as of a Node without cryptography
  }
  return isWatching ? undefined : watching;
}

async function hear(): Promise<void> {
  try {
    await hearHttp2();
    hearSockets();
    hearProcesses();
    hearThreads();
    hearDatagrams();
    hearUndici(); // these last: where something cannot be heard, no request is seen
    await hearHttp();
  } finally {
    isWatching = true;
  }
}
