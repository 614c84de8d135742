/**
 * Process groups. A command leads a group of its own, so that it can be ended with all that
 * it has started; but then a signal from a terminal does not reach it any more, and it
 * would outlive this process. So what ends this process ends the groups too.
 */

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
    // It has ended, or what is left of it has (macOS says EPERM then).
  }
}

/** Whether any process of a group is left. */
export function isAlive(group: number): boolean {
  try {
    return GROUPS && process.kill(-group, 0);
  } catch {
    return false;
  }
}

function endAll(): void {
  for (const group of running) {
    signalGroup(group, "SIGTERM");
  }
}

/** Hands a signal on. If nobody else hears it, it ends this process as if we did not. */
function pass(signal: NodeJS.Signals): void {
  for (const group of running) {
    signalGroup(group, signal);
  }
  if (process.listenerCount(signal) === 1) {
    process.off(signal, pass);
    process.kill(process.pid, signal);
  }
}
