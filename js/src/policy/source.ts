/** A policy as data, and where it comes from. */

import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { show } from "../arguments/members.js";
import { PolicyError } from "../call/errors.js";
import { bundledPolicies } from "../plugin/file.js";
import { MAX_DOCUMENT_BYTES } from "../wire/values.js";

const utf8 = new TextDecoder("utf-8", { fatal: true }); // which takes a byte order mark away

/** The policies that the plugin carries. */
const BUILT_IN = ["omnigraph", "witan-core", "network"];

/** A policy's document. What may be in it, docs/policies.md of the project tells. */
export type PolicyDocument = Readonly<Record<string, unknown>>;

/** What a policy may be given as: a name, the path of a document, or a document. */
export type PolicySource = string | URL | PolicyDocument;

/** Where a policy comes from that is followed. */
export interface Release {
  /** Grows with each release. */
  readonly serial: number;
  /** Such as `oci://registry.example/fleet/orders:stable`; empty if the folder does not say. */
  readonly source: string;
  /** When it was put in force on this machine; none likewise. */
  readonly since?: Date | undefined;
  /** When it was made. */
  readonly made: Date;
  /** Until when it may be pulled; none: for ever. What is in force stays so. */
  readonly expires?: Date | undefined;
  /** Of its envelope, `sha256:…`. */
  readonly digest: string;
}

/** A policy as it was given. */
export interface PolicyText {
  /** What it is called in errors. */
  readonly name: string;
  /** The document in JSON; none of a built-in policy. */
  readonly text?: string;
  /** Where it comes from, if it is followed. */
  readonly release?: Release;
}

/**
 * Reads a policy. Nothing looks into a document here.
 *
 * @throws PolicyError if there is no such policy, or its document cannot be read.
 */
export async function readPolicy(source: PolicySource): Promise<PolicyText> {
  if (typeof source === "string" && BUILT_IN.includes(source)) {
    return { name: source };
  }
  if (typeof source === "string" || source instanceof URL) {
    return readDocument(source);
  }
  if (typeof source !== "object" || source === null) {
    throw new TypeError(
      `outlast: policy is ${show(source)}, and must be a name, a path or an object`,
    );
  }
  const name = typeof source.name === "string" ? source.name : "document";
  return bounded(name, jsonOf(name, source));
}

function jsonOf(name: string, document: PolicyDocument): string {
  try {
    return JSON.stringify(document) ?? "";
  } catch (cause) {
    const text = `the document is not JSON: ${cause}`;
    throw new PolicyError(name, "invalid_policy", text, [], { cause });
  }
}

async function readDocument(source: string | URL): Promise<PolicyText> {
  const name = String(source);
  let text: string;
  try {
    text = isName(source) ? await bundled(source) : utf8.decode(await readFile(source));
  } catch (cause) {
    if (cause instanceof PolicyError) {
      throw cause;
    }
    const why = `cannot read the document: ${(cause as Error).message}`;
    throw new PolicyError(name, "unreadable", why, [], { cause });
  }
  return bounded(name, text);
}

/** Whether it names a policy, and is not a path. */
export function isName(source: unknown): source is string {
  return typeof source === "string" && !source.endsWith(".json") && basename(source) === source;
}

/** The document of a policy for a common command. */
async function bundled(name: string): Promise<string> {
  const policies = await bundledPolicies();
  const document = Object.hasOwn(policies, name) ? policies[name] : undefined;
  if (document !== undefined) {
    return document;
  }
  const names = Object.keys(policies).sort();
  throw new PolicyError(
    name,
    "unknown_policy",
    `there is no such policy; built in are ${BUILT_IN.join(", ")}, for common commands ` +
      `there are ${names.join(", ")}, and the path of a document ends in .json`,
  );
}

/** Conditions that no answer of HTTP can meet. */
const OF_OTHERS = ["timed_out", "exit_codes", "signals"];

/** The statuses that the rules of a document name which try again; none: it may be any. */
export function statusesTriedAgain(text: string): ReadonlySet<number> | undefined {
  try {
    const { rules } = JSON.parse(text) as { rules: readonly Rule[] };
    const again = rules.filter(({ then }) => then.some((each) => "retry" in each));
    const all = again.flatMap(({ when }) => (when?.length ? when : [{}])).filter(mayBeAnswer);
    return all.some(({ http_statuses }) => !http_statuses)
      ? undefined
      : new Set(all.flatMap(({ http_statuses }) => http_statuses!));
  } catch {
    return undefined; // it has faults, of which the plugin tells
  }
}

interface Condition {
  readonly http_statuses?: readonly number[];
  readonly failures?: readonly string[];
  readonly transport?: string;
}

interface Rule {
  readonly when?: readonly Condition[];
  readonly then: readonly object[];
}

function mayBeAnswer(when: Condition): boolean {
  const isOther = OF_OTHERS.some((name) => name in when) || when.transport === "process";
  return !isOther && (when.failures?.includes("none") ?? true);
}

/** A document with another window for each of its budgets that has one.
 *
 * @param us The window in microseconds.
 * @throws PolicyError if no budget has one. */
export function withWindow(document: PolicyDocument, us: number): PolicyDocument {
  type Budgets = Readonly<Record<string, { readonly max_wait?: string }>>;
  const { name, budgets } = document as { name: string; budgets: Budgets };
  const changed = Object.entries(budgets).map(([budget, of]) => [
    budget,
    of.max_wait === undefined ? of : { ...of, max_wait: `${us}us` },
  ]);
  if (Object.values(budgets).every((of) => of.max_wait === undefined)) {
    throw new PolicyError(name, "invalid_policy", "no budget of the document has a window");
  }
  return { ...document, budgets: Object.fromEntries(changed) };
}

/** A document, as the plugin writes it, with another spread for each of its budgets whose waits
 * may be cut short. What bounds its growth is moved up to it.
 *
 * @param us The spread in microseconds. */
export function withSpread(document: PolicyDocument, us: number): PolicyDocument {
  type Wake = { readonly spread_cap?: string };
  type Budgets = Readonly<Record<string, { readonly wake?: Wake }>>;
  const spread = `${us}us`;
  const changed = Object.entries((document as { budgets: Budgets }).budgets).map(([name, of]) => {
    const { wake } = of;
    const isTooLow = wake?.spread_cap !== undefined && microsOf(wake.spread_cap) < us;
    const own = { ...wake, spread, ...(isTooLow && { spread_cap: spread }) };
    return [name, wake ? { ...of, wake: own } : of];
  });
  return { ...document, budgets: Object.fromEntries(changed) };
}

const UNITS: readonly (readonly [unit: string, us: number])[] = [
  ["us", 1],
  ["ms", 1000],
  ["s", 1_000_000],
];

/** A duration as the plugin writes it, in microseconds. */
function microsOf(duration: string): number {
  const [, us] = UNITS.find(([unit]) => /[a-z]+$/.exec(duration)?.[0] === unit)!;
  return Math.round(Number.parseFloat(duration) * us);
}

function bounded(name: string, text: string): PolicyText {
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
    const why = `the document has more than ${MAX_DOCUMENT_BYTES} bytes`;
    throw new PolicyError(name, "invalid_policy", why);
  }
  return { name, text: text || " " }; // the plugin finds a fault in an empty document, too
}
