/** What is equal once decoded, and what is not. */

import { isDeepStrictEqual } from "node:util";
import type { Json } from "./cases.js";

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Where `got` is not what is wanted, by the member's path.
 *
 * @param open Members that are not wanted may be there.
 */
export function differences(path: string, want: unknown, got: unknown, open = false): string[] {
  if (!isObject(want) || !isObject(got)) {
    const same = isDeepStrictEqual(want, got);
    return same ? [] : [`${path}: want ${JSON.stringify(want)}, got ${JSON.stringify(got)}`];
  }
  const found = Object.keys(want).flatMap((name) =>
    differences(`${path}.${name}`, want[name], got[name], open),
  );
  const more = open ? [] : Object.keys(got).filter((name) => !(name in want));
  return [...found, ...more.map((name) => `${path}.${name}: want nothing`)];
}

/** An envelope, which has either an ok or an error that says why. */
export function opened(answer: string): Json {
  const envelope = JSON.parse(answer);
  const { error } = envelope;
  if (envelope.v !== 1 || "ok" in envelope === "error" in envelope) {
    throw new Error(`no envelope: ${answer.slice(0, 200)}`);
  }
  if (error && !(error.code && error.message)) {
    throw new Error(`an error that does not say why: ${answer.slice(0, 200)}`);
  }
  return envelope;
}

/** Compares an envelope's error with the one wanted; `undefined` wants none. */
export function mismatch(want: Json | undefined, got: Json | undefined): string[] {
  const same = want?.code === got?.code && (want?.field ?? "") === (got?.field ?? "");
  if (!same) {
    return [`want the error ${JSON.stringify(want)}, got ${JSON.stringify(got)}`];
  }
  if (!want?.faults) {
    return [];
  }
  const fields = (got?.faults ?? []).map((fault: Json) => fault.field ?? "");
  return differences("faults", want.faults, fields);
}

/** What the contract says of every state. */
export function stateProblems(state: string, wanted: boolean): string[] {
  if (!wanted) {
    return state ? ["a state comes with a stop"] : [];
  }
  if (!state || state.length > 1024) {
    return [`a state of ${state.length} bytes comes with a retry`];
  }
  return /^[!#-[\]-~]+$/.test(state) ? [] : [`a state with odd characters: ${state}`];
}
