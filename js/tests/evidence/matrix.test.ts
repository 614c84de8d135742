// What becomes of a read and of a write, by every client, in every trouble. docs/evidence.md has
// the table of it.

import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type Call, outcomeOf, retry } from "outlast";
import { virtualTime } from "outlast/testing";
import { endWithTests, READ, soon, WRITE } from "../helpers.js";
import { ASKING, type Asking, HTTP2, RETRYING } from "./clients.js";
import { assertDocumented, row } from "./tables.js";
import { GOAWAYS, type Plan, RETRIED, TROUBLES, Troubled } from "./troubles.js";

endWithTests();

/** How long a trouble lasts that ends, in milliseconds. */
const AWAY = 6000;

/** How often a request was read in a trouble, and how the call ended. */
async function play(t: TestContext, plan: Plan, ask: Asking, call: Call): Promise<string> {
  const server = await Troubled.start(t, plan);
  const method = call.write ? "POST" : "GET";
  if (plan.kept) {
    await soon(ask(server.url, method));
    await pause(20); // until the connection is free
    server.applied = 0;
  }
  return virtualTime(async (clock) => {
    const work = async () => {
      if (clock.now() >= AWAY) {
        await server.mend();
      }
      return soon(ask(server.url, method));
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
        rows.push(row([trouble, read, write]));
      }
    });
  }

  test(`${Object.keys(clients).join(", ")}: as it is documented`, () => {
    assertDocumented("evidence.md", HEADS, tables);
  });
}

const HEADS = ["what happens", "read: applied, outcome", "write: applied, outcome"];
