/** Hears of other processes and threads, whose requests are not seen from here, and of
 * datagrams. */

import childProcess, { ChildProcess } from "node:child_process";
import { Socket as DatagramSocket } from "node:dgram";
import { syncBuiltinESMExports } from "node:module";
import { BroadcastChannel, isMainThread, MessagePort } from "node:worker_threads";
import { around, before, first } from "./methods.js";
import { Requests } from "./requests.js";
import { on, unwatched } from "./traffic.js";

/** What Node has, and its types do not tell of. */
interface Undocumented {
  readonly ChildProcess: { spawn(...args: unknown[]): unknown };
  readonly process: { _getActiveHandles?(): readonly unknown[] };
}

/** Hears of processes that are begun, and of messages to them. */
export function hearProcesses(): void {
  const used = () => unwatched("used another process");
  const hearMessages = (child: unknown) => {
    if (child instanceof ChildProcess && "send" in child) {
      child.send = first(child.send, used); // of this child only
    }
  };
  const starts = ChildProcess.prototype as unknown as Undocumented["ChildProcess"];
  around(
    starts,
    "spawn",
    (spawn) =>
      function (this: typeof starts, ...args) {
        used();
        const code = spawn.apply(this, args);
        hearMessages(this);
        return code;
      },
  );
  for (const name of ["spawnSync", "execFileSync", "execSync"] as const) {
    before(childProcess, name, used);
  }
  syncBuiltinESMExports(); // who has imported them by name gets these
  const begun = (process as Undocumented["process"])._getActiveHandles?.() ?? [];
  begun.forEach(hearMessages);
  if (process.send) {
    // Whoever began this process, such as a test runner, is told of much besides attempts.
    before(process, "send", () =>
      unwatched("told the process that began it", Requests.current(), false),
    );
  }
}

/** Hears of threads that are begun, and of messages to them. */
export function hearThreads(): void {
  on("worker_threads", () => unwatched("used another thread"));
  const told = () => unwatched("used another thread", Requests.current(), isMainThread);
  before(MessagePort.prototype, "postMessage", told);
  before(BroadcastChannel.prototype, "postMessage", told);
}

/** Hears of datagrams. Most of them are measurements, so those of other code do not count. */
export function hearDatagrams(): void {
  before(DatagramSocket.prototype, "send", () => {
    unwatched("sent a datagram", Requests.current(), false);
  });
}
