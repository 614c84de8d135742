// What many decisions leave behind; in a process of its own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Plugin, Policy } from "outlast";
import { FAILED, READ } from "../helpers.js";

test("100,000 decisions without a failure, and memory does not grow", {
  timeout: 600_000,
}, async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const plugin = new Plugin();
  const policy = await Policy.load("omnigraph", { plugin });
  const decide = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const action = await policy.session(READ, { seed: i }).next(FAILED, { now: 0 });
      assert.equal(action.type, "retry");
    }
    await turn();
    collect();
    return process.memoryUsage();
  };
  let last = await decide(20_000);
  const grown: { rss: number; heap: number; buffers: number }[] = [];
  for (let round = 0; round < 4; round++) {
    const now = await decide(20_000);
    grown.push({
      rss: (now.rss - last.rss) / 2 ** 20,
      heap: (now.heapUsed - last.heapUsed) / 2 ** 20,
      buffers: (now.arrayBuffers - last.arrayBuffers) / 2 ** 20,
    });
    last = now;
  }
  // A leak of one block of a request and its answer each would be 15 MiB in every round.
  // What the garbage collector keeps of the system's memory goes up and down by 40 MiB.
  const least = (of: "rss" | "heap" | "buffers") => Math.min(...grown.map((each) => each[of]));
  const said = JSON.stringify(grown);
  assert.ok(least("heap") < 2 && least("buffers") < 2 && least("rss") < 8, said);
  assert.equal(plugin.replaced, 0);
  await plugin.close();
});
