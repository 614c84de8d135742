/** Hearing of aborts. */

const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** A signal that nobody aborts. Making one for each call costs more than the rest of it. */
export const NEVER: AbortSignal = new AbortController().signal;

/** A signal that is aborted when one of two is, of which there may be one only, or none. */
export function either(
  one: AbortSignal | null | undefined,
  other: AbortSignal | null | undefined,
): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other ?? undefined);
}

/**
 * Calls back when a signal is aborted, unless it is forgotten before. However many wait on
 * one signal, it gets one listener: Node warns of more than ten.
 *
 * @returns Forgets the callback.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  let waiting = listeners.get(signal);
  if (!waiting) {
    waiting = new Set();
    listeners.set(signal, waiting);
  }
  const all = waiting;
  if (all.size === 0) {
    signal.addEventListener("abort", tellAll);
  }
  all.add(call);
  return () => {
    all.delete(call);
    if (all.size === 0) {
      signal.removeEventListener("abort", tellAll);
    }
  };
}

function tellAll(this: AbortSignal): void {
  for (const call of listeners.get(this) ?? []) {
    call();
  }
}
