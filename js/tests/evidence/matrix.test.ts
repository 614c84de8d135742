// What becomes of a read and of a write, by every client, in every trouble. docs/evidence.md has
// the table of it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type Call, outcomeOf, retry } from "outlast";
import { virtualTime } from "outlast/testing";
import { READ, ROOT, WRITE } from "../helpers.js";
import { ASKING, type Asking, HTTP2, RETRYING } from "./clients.js";
import { GOAWAYS, type Plan, RETRIED, TROUBLES, Troubled } from "./troubles.js";

/** How long a trouble lasts that ends, in milliseconds. */
const AWAY = 6000;

/** How often a request was read in a trouble, and how the call ended. */
async function play(t: TestContext, plan: Plan, ask: Asking, call: Call): Promise<string> {
  const server = await Troubled.start(t, plan);
  const method = call.write ? "POST" : "GET";
  if (plan.kept) {
    await ask(server.url, method);
    await pause(20); // until the connection is free
    server.applied = 0;
  }
  return virtualTime(async (clock) => {
    const work = async () => {
      if (clock.now() >= AWAY) {
        await server.mend();
      }
      return ask(server.url, method);
    };
    const ended = await retry(work, call).then(
      (value) => outcomeOf(value)?.type ?? "ok",
      (error) => outcomeOf(error)?.type ?? `thrown: ${error}`,
    );
    return `${server.applied}, ${ended}${clock.now() >= AWAY ? ", rode it out" : ""}`;
  });
}

for (const [clients, troubles] of [
  [ASKING, TROUBLES],
  [RETRYING, RETRIED],
  [HTTP2, GOAWAYS],
] as const) {
  const tables: Record<string, string[]> = {};
  for (const [name, client] of Object.entries(clients)) {
    const rows: string[] = [];
    tables[name] = rows;
    test(name, async (t) => {
      for (const [trouble, plan] of troubles) {
        const read = await play(t, await plan(t), client(), READ);
        const write = await play(t, await plan(t), client(), WRITE);
        rows.push(`| ${trouble} | ${read} | ${write} |`);
      }
    });
  }

  test(`${Object.keys(clients).join(", ")}: as it is documented`, () => {
    const page = readFileSync(join(ROOT, "../docs/evidence.md"), "utf8");
    const documented = [...alike(tables)].map(
      ([table, names]) => `<!-- ${names.join(", ")} -->\n${HEAD}${table}\n<!-- end -->`,
    );
    const missing = documented.filter((table) => !page.includes(table));
    assert.ok(missing.length === 0, `docs/evidence.md should have\n${missing.join("\n")}`);
  });
}

const HEAD =
  "| what happens | read: applied, outcome | write: applied, outcome |\n| --- | --- | --- |\n";

/** Clients by their tables. */
function alike(tables: Record<string, string[]>): Map<string, string[]> {
  const by = new Map<string, string[]>();
  for (const [name, rows] of Object.entries(tables)) {
    const table = rows.join("\n");
    by.set(table, [...(by.get(table) ?? []), name]);
  }
  return by;
}
