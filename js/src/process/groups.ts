/**
 * Process groups. A command leads a group of its own, so that it can be ended with all that
 * it has started; but then a signal from a terminal does not reach it any more, and it
 * would outlive this process. So what ends this process ends the groups too.
 */

import { readdirSync, readFileSync } from "node:fs";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Whether there are process groups. Windows has none: a command's own children are left
 * alone there. */
export const GROUPS = process.platform !== "win32";

const running = new Set<number>();

/** Sees to it that a group does not outlive this process. */
export function guard(group: number): void {
  if (GROUPS && running.size === 0) {
    process.on("exit", endAll);
    for (const signal of SIGNALS) {
      process.on(signal, pass);
    }
  }
  running.add(group);
}

/** The group has ended. */
export function unguard(group: number): void {
  running.delete(group);
  if (running.size === 0) {
    process.off("exit", endAll);
    for (const signal of SIGNALS) {
      process.off(signal, pass);
    }
  }
}

/** Sends a signal to all of a group; of a group that is gone to nobody. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(GROUPS ? -group : group, signal);
  } catch {
    // It has ended, or may not be signalled. (Of what has ended, macOS says that too.)
  }
}

/** Whether a process runs and may not be signalled from here, as one that has become another
 * user's. */
export function refuses(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether any process of a group is left. One that has ended, and whose end nobody has
 * asked for, is gone: it stays so where this process is a container's first. */
export function isAlive(group: number): boolean {
  try {
    return GROUPS && process.kill(-group, 0) && (process.platform !== "linux" || runs(group));
  } catch {
    return false;
  }
}

/** The same by what Linux says of all processes. */
function runs(group: number): boolean {
  let all: string[];
  try {
    all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return true; // there is no /proc, and signals find somebody
  }
  return all.some((pid) => {
    const { group: its, state } = statOf(pid);
    return its === group && state !== "Z" && state !== "X";
  });
}

/** A process's group and state (proc_pid_stat(5)). Its name, in parentheses, may have any
 * character. */
function statOf(pid: string): { group?: number; state?: string } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { group: Number(group), state: state! };
  } catch {
    return {}; // it has ended meanwhile
  }
}

function endAll(): void {
  for (const group of running) {
    signalGroup(group, "SIGTERM");
  }
}

/** Hands a signal on. If nothing else in this process listens for it, it also ends this
 * process, as it would without this listener. */
function pass(signal: NodeJS.Signals): void {
  for (const group of running) {
    signalGroup(group, signal);
  }
  if (process.listenerCount(signal) === 1) {
    process.off(signal, pass);
    process.kill(process.pid, signal);
  }
}
