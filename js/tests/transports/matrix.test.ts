// What becomes of requests by each transport, in every trouble. docs/http-clients.md has the
// tables of it.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { outcomeOf } from "outlast";
import { virtualTime } from "outlast/testing";
import { assertDocumented, row } from "../evidence/tables.js";
import { type Plan, TROUBLES, Troubled } from "../evidence/troubles.js";
import { endWithTests, soon } from "../helpers.js";
import { TRANSPORTS } from "./clients.js";

endWithTests();

/** How long a trouble lasts that ends, in milliseconds. */
const AWAY = 6000;

const GET = { method: "GET" };
const POST = { method: "POST", body: "x" };
const KEYED = { ...POST, headers: { "idempotency-key": "k" } };

/** How often a request was read in a trouble, and what came of it. */
async function play(t: TestContext, plan: Plan, name: string, init: typeof GET): Promise<string> {
  const server = await Troubled.start(t, plan);
  return virtualTime(async (clock) => {
    const before = async () => {
      if (clock.now() >= AWAY) {
        await server.mend();
      }
      return server.url;
    };
    const ask = TRANSPORTS[name]!({ honoursKey: "POST /**" }, before);
    if (plan.kept) {
      await soon(ask(server.url, init));
      await pause(20); // until the connection is free
      server.applied = 0;
    }
    const asked = ask(server.url, init).then(
      ({ status }) => `${status}`,
      (error) => outcomeOf(error)?.type ?? "200, cut",
    );
    const ended = await soon(asked);
    return `${server.applied}, ${ended}${clock.now() >= AWAY ? ", rode it out" : ""}`;
  });
}

const HEADS = [
  "what happens",
  "GET: applied, answer or outcome",
  "POST",
  "POST with a key that is honoured",
];

const tables: Record<string, string[]> = {};

for (const name of Object.keys(TRANSPORTS)) {
  test(name, async (t) => {
    const rows: string[] = [];
    for (const [trouble, planned] of TROUBLES) {
      const cells = [];
      for (const init of [GET, POST, KEYED]) {
        cells.push(await play(t, await planned(t), name, init));
      }
      rows.push(row([trouble, ...cells]));
    }
    if (name === "undici 8") {
      assert.deepEqual(rows, tables["undici 7"]); // it is not there for every Node
    } else {
      tables[name] = rows;
    }
  });
}

test("as it is documented", () => {
  assertDocumented("http-clients.md", HEADS, tables);
});
