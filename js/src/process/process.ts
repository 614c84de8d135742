/** Runs a command once. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Result } from "../call/result.js";
import { onAbort } from "../time/abort.js";
import { GROUPS, guard, isAlive, refuses, signalGroup, unguard } from "./groups.js";

/** Milliseconds that output may still come after the process's end, from children of its
 * own that hold its output (a choice). */
const DRAIN = 1000;

/** Milliseconds between two looks at what is left of a group (a choice). */
const POLL = 20;

/** Milliseconds in which killed processes must be gone (a choice). */
const SWEEP = 1000;

/** A command, for any number of attempts, one after another. */
export interface Command {
  readonly argv: readonly string[];
  readonly input: Uint8Array | undefined;
  readonly cwd: string | URL | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Ends an attempt that takes more milliseconds. */
  readonly timeout: number | undefined;
  /** How many milliseconds a process that was asked to end may take. */
  readonly killAfter: number;
}

/**
 * Runs a command, and waits for its end. If the signal is aborted meanwhile, or the time is
 * over, the process and all of its group are ended first. A process that may not be signalled
 * goes on, and a warning tells so.
 *
 * @throws Error if it cannot be started.
 */
export async function runOnce(command: Command, signal: AbortSignal): Promise<Result> {
  const child = await started(command);
  const group = child.pid!;
  guard(group);
  const stdout = collect(child.stdout!);
  const stderr = collect(child.stderr!);
  const closed = new Promise((resolve) => child.once("close", resolve));
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  try {
    const end = await firstOf(exited, command.timeout, signal);
    if (end === "exited") {
      await within(closed, DRAIN);
    } else {
      await endGroup(group, exited, command.killAfter);
    }
    const printed = { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) };
    const { exitCode, signalCode } = child;
    if (exitCode === null && signalCode === null) {
      child.unref();
      process.emitWarning(`outlast: process ${group} may not be signalled, and goes on`);
    }
    return { exitCode, signal: signalCode, ...printed, timedOut: end === "late" };
  } finally {
    unguard(group);
    child.stdout!.destroy();
    child.stderr!.destroy();
    child.stdin?.destroy();
  }
}

async function started(command: Command): Promise<ChildProcess> {
  const [program, ...args] = command.argv;
  const child = spawn(program!, args, {
    cwd: command.cwd,
    env: command.env,
    stdio: [command.input ? "pipe" : "ignore", "pipe", "pipe"],
    detached: GROUPS,
    windowsHide: true,
  });
  child.stdin?.on("error", () => {}); // it does not read all of its input
  if (child.pid === undefined) {
    const [error] = await once(child, "error");
    throw error;
  }
  child.on("error", () => {}); // such as a signal that could not be sent
  child.stdin?.end(command.input);
  return child;
}

function collect(stream: NodeJS.ReadableStream): Buffer[] {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("error", () => {}); // what came is what there is
  return chunks;
}

/** Which is first: the process's end, its time limit, or the abort. */
function firstOf(
  exited: Promise<void>,
  limit: number | undefined,
  signal: AbortSignal,
): Promise<"exited" | "late" | "aborted"> {
  return new Promise((resolve) => {
    const settle = (how: "exited" | "late" | "aborted") => {
      clearTimeout(timer);
      forget();
      resolve(how);
    };
    const timer = limit === undefined ? undefined : setTimeout(settle, limit, "late");
    const forget = onAbort(signal, () => settle("aborted"));
    exited.then(() => settle("exited"));
    if (signal.aborted) {
      settle("aborted");
    }
  });
}

/** Ends a process and all of its group: a signal, and what is there after a while is
 * killed. Between the end of the leader and the end of the group the system keeps the
 * group's number from being used again. */
async function endGroup(group: number, exited: Promise<void>, killAfter: number): Promise<void> {
  const deadline = performance.now() + killAfter;
  signalGroup(group, "SIGTERM");
  await within(exited, killAfter);
  while (isAlive(group) && performance.now() < deadline) {
    await pause(POLL);
  }
  signalGroup(group, "SIGKILL");
  await (refuses(group) ? within(exited, SWEEP) : exited);
  const killed = performance.now();
  while (isAlive(group) && performance.now() - killed < SWEEP) {
    await pause(POLL);
  }
}

/** Waits for something, but not longer than so many milliseconds. */
async function within(event: Promise<unknown>, ms: number): Promise<void> {
  const timer = new AbortController();
  const limit = pause(ms, undefined, { signal: timer.signal }).catch(() => {});
  await Promise.race([event, limit]);
  timer.abort();
}
