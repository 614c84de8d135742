// Many calls on one instance of the plugin, and an event loop that goes on.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Plugin, Policy, type Result } from "outlast";
import { Instance } from "../../dist/plugin/instance.js";
import { FAILED, READ, WRITE } from "../helpers.js";

test("10,000 calls wait on one instance", { timeout: 300_000 }, async (t) => {
  const plugin = new Plugin();
  const policy = await Policy.load("omnigraph", { plugin });
  const made = mock.method(Instance, "of");
  t.after(() => made.mock.restore());
  let waiting = 0;
  let letGo = () => {};
  const together = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const clock = {
    now: () => 0, // so that no call comes too late to wait
    sleep: async (ms: number) => {
      assert.ok(ms > 0);
      // All are let go together: the worst that can happen to the plugin.
      if (++waiting === 10_000) {
        letGo();
      }
      await together;
    },
  };
  const calls = Array.from({ length: 10_000 }, () => {
    let left = 2;
    const attempt = (): Result => (left-- > 0 ? FAILED : { exitCode: 0 });
    return policy.run(attempt, WRITE, { clock });
  });
  const outcomes = await Promise.all(calls);
  assert.ok(outcomes.every((outcome) => outcome.ok && outcome.attempts === 3));
  assert.equal(waiting, 20_000);
  assert.equal(made.mock.callCount(), 1);
  assert.equal(plugin.replaced, 0);
  await plugin.close();
});

test("a turn of the event loop has at most 100 decisions", { timeout: 120_000 }, async (t) => {
  const plugin = new Plugin();
  await plugin.load();
  const policy = await Policy.load("omnigraph", { plugin });
  let inTurn = 0;
  let most = 0;
  let turns = 0;
  let on = true;
  const call = Instance.prototype.call;
  const counting = mock.method(
    Instance.prototype,
    "call",
    function (this: Instance, name: string, data: string) {
      most = Math.max(most, ++inTurn);
      return call.call(this, name, data);
    },
  );
  t.after(() => counting.mock.restore());
  const tick = () => {
    inTurn = 0;
    turns++;
    if (on) {
      setImmediate(tick);
    }
  };
  tick();
  // One caller after another, and all at once: neither may hold up the loop.
  const session = policy.session(READ, { seed: 1 });
  let now = 0;
  for (let i = 0; i < 15; i++) {
    await session.next(FAILED, { now: now++ });
  }
  const eager = Array.from({ length: 1000 }, () => policy.session(WRITE).next({ exitCode: 2 }));
  await Promise.all(eager);
  for (let i = 0; i < 500; i++) {
    await policy.session(WRITE).next({ exitCode: 2 });
  }
  on = false;
  assert.ok(most <= 100, `${most} in a turn`);
  assert.ok(turns >= 15, `${turns} turns`);
  await plugin.close();
});
