/** Which hooks are in force, and how they are told. */

import { debuglog } from "node:util";
import { line } from "../evidence/failures.js";
import type { CallEvent, Told } from "./events.js";
import type { CallHook, Hook, PerCallHook } from "./hook.js";
import { logTo } from "./logs.js";

const debug = debuglog("outlast");
const show = (text: string) => debug("%s", text);
const lines = logTo({ debug: show, info: show, warn: show, error: show });

/** Shows lines where the environment has `NODE_DEBUG=outlast`. */
const debugHook: PerCallHook = {
  begin: (...call) => (debug.enabled ? lines.begin(...call) : undefined),
};

let hooks: readonly Hook[] = [debugHook];

/**
 * Chooses the hooks of the whole process, for calls that begin from here on.
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

/** Whether any hook hears of a call that begins now. */
export function isAnybodyTold(): boolean {
  return hooks.some((hook) => hook !== debugHook || debug.enabled);
}

/** What is told of a call that begins. */
export function begin(all: readonly Hook[], { call, policy, command }: Told): CallHook[] {
  const begun = all.map((hook) =>
    typeof hook === "function"
      ? { tell: hook }
      : guarded("a call's begin", () => hook.begin(call, policy, command)),
  );
  return begun.filter((hook) => hook !== undefined);
}

/** Tells hooks of an event. */
export function tell(event: CallEvent, all: readonly CallHook[]): void {
  for (const hook of all) {
    guarded(event.type, () => hook.tell(event));
  }
}

/** Makes an attempt, in what hooks want around it. */
export function around<T>(
  all: readonly CallHook[],
  number: number,
  at: number,
  make: () => Promise<T>,
): Promise<T> {
  const within = (inner: () => Promise<T>, hook: CallHook) => () => {
    let made: Promise<T> | undefined;
    let thrown: { error: unknown } | undefined;
    const once = () => {
      made ??= inner().catch((error) => {
        thrown = { error };
        throw error;
      });
      return made;
    };
    const isOwn = (error: unknown) => thrown?.error === error;
    guarded("an attempt's begin", () => hook.attempt!(number, at, once), isOwn);
    return once(); // a hook that fails keeps no attempt from being made
  };
  return all.filter((hook) => hook.attempt).reduceRight(within, make)();
}

/** Tells hooks that nothing more comes of a call. */
export function end(all: readonly CallHook[], error?: unknown): void {
  for (const hook of all) {
    guarded("a call's end", () => hook.end?.(error));
  }
}

/** What a hook's function gives; none where it throws, and that is warned of. Many are `async`:
 * one that rejects later must not end the process.
 *
 * @param isKnown Whether an error is none of the hook's. */
function guarded<T>(
  at: string,
  ofHook: () => T,
  isKnown?: (error: unknown) => boolean,
): T | undefined {
  const failed = (error: unknown) => {
    if (!isKnown?.(error)) {
      process.emitWarning(`outlast: a hook failed at ${at}: ${line(error)}`);
    }
  };
  try {
    const given = ofHook();
    if (given instanceof Promise) {
      given.catch(failed);
    }
    return given;
  } catch (error) {
    failed(error);
    return undefined;
  }
}
