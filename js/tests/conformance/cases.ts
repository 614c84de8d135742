/** The cases that come with the contract, made whole. */

import { readdirSync, readFileSync } from "node:fs";

const VECTORS = new URL("../../../abi/vectors/", import.meta.url);

// biome-ignore lint/suspicious/noExplicitAny: what a case has, its file tells
export type Json = Record<string, any>;

export type Door = "decide" | "run" | "first" | "resumed";

const DOORS: Door[] = ["decide", "run", "first", "resumed"];

/** One case. Its members are as in its file, with names put in place. */
export class Case {
  constructor(
    readonly file: string,
    readonly members: Json,
  ) {}

  get name(): string {
    return this.members.name;
  }

  get steps(): Json[] {
    return this.members.steps ?? [];
  }

  get outage(): Json | undefined {
    return this.members.outage;
  }

  get doors(): Door[] {
    return this.members.doors ?? (this.outage ? ["decide", "run"] : DOORS);
  }

  get clock(): number {
    return this.members.clock_us ?? 0;
  }

  /** A request without anything that has happened yet. */
  get request(): Json {
    return { policy: this.members.policy, call: this.members.call };
  }

  /** What the export is called with. */
  get raw(): Uint8Array {
    const { raw, raw_base64, raw_parts, input } = this.members;
    if (raw !== undefined) {
      return Buffer.from(raw);
    }
    if (raw_base64) {
      return Buffer.from(raw_base64, "base64");
    }
    const parts: string[] = (raw_parts ?? []).map((part: Json) =>
      part.text.repeat(Math.max(1, part.times ?? 0)),
    );
    return Buffer.from(parts.join("") + (input === undefined ? "" : JSON.stringify(input)));
  }
}

/** All cases, by file and in order. */
export function load(): Case[] {
  const results: Json = {};
  const policies: Json = {};
  const cases: Case[] = [];
  for (const name of readdirSync(VECTORS).filter((each) => each.endsWith(".json"))) {
    const file = JSON.parse(readFileSync(new URL(name, VECTORS), "utf8"));
    Object.assign(results, file.results);
    Object.assign(policies, file.policies);
    cases.push(...(file.cases ?? []).map((each: Json) => new Case(name, each)));
  }
  for (const { members } of cases) {
    resolve(members, "policy", policies);
    resolve(members.outage ?? {}, "down", results);
    resolve(members.outage ?? {}, "up", results);
    for (const step of members.steps ?? []) {
      for (const key of ["attempt", "repair", "cancelled"]) {
        resolve(step, key, results);
      }
    }
  }
  return cases;
}

/** Puts the named value in a reference's place, if it is one. */
function resolve(members: Json, key: string, named: Json): void {
  if (typeof members[key] === "string" && members[key] in named) {
    members[key] = named[members[key]];
  }
}
