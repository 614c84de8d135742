// What many decisions leave behind; in a process of its own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Plugin, Policy } from "outlast";
import { READ, REFUSED } from "./helpers.js";

const FAILED = { exitCode: 1, stderr: REFUSED };

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
  const before = await decide(20_000);
  const after = await decide(80_000);
  const mebibytes = (after.rss - before.rss) / 2 ** 20;
  const heap = (after.heapUsed - before.heapUsed) / 2 ** 20;
  const buffers = (after.arrayBuffers - before.arrayBuffers) / 2 ** 20;
  console.log(`80,000 decisions: ${mebibytes.toFixed(1)} MiB more, ${heap.toFixed(1)} of heap`);
  // A leak of one block of a request and its answer each would be 60 MiB.
  assert.ok(heap < 5 && buffers < 5, `${heap} MiB of heap, ${buffers} MiB of buffers`);
  assert.ok(mebibytes < 30, `${mebibytes} MiB`);
  assert.equal(plugin.replaced, 0);
  await plugin.close();
});
