import assert from "node:assert/strict";
import { test } from "node:test";
import { Plugin, PluginError, Policy } from "outlast";
import { FAILED, READ } from "../helpers.js";

test("a document is sent again to an instance that does not know its digest", async () => {
  const plugin = new Plugin();
  const mine = { version: 1, name: "mine", budgets: {}, rules: [] as unknown[] };
  mine.rules = [{ kind: "failed", then: [{ stop: { effects: "none" } }] }];
  const policy = await Policy.load(mine, { plugin });
  await plugin.close(); // and with it what the instance knew
  const action = await policy.session(READ).next({ exitCode: 1 });
  assert.equal(action.type, "stop");
  await plugin.close();
});

test("a state that was tampered with ends the call", async () => {
  const policy = await Policy.load("omnigraph");
  const first = policy.session(READ, { seed: 7 });
  await first.next(FAILED, { now: 0 });
  const state = first.state.replace(/1/, "2");
  const error = await policy
    .session(READ, { seed: 7, state })
    .next(FAILED, { now: 1000 })
    .catch((e: unknown) => e);
  assert.ok(error instanceof PluginError);
  assert.equal(error.code, "bad_state");
  assert.equal(error.result?.exitCode, 1);
});
