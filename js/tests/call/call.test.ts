import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "outlast";
import { callMembers } from "../../dist/call/call.js";
import { READ } from "../helpers.js";

test("a call says remote and write, and nothing unknown", () => {
  for (const [call, text] of [
    [{ remote: true }, /call\.write is undefined, and must be true or false/],
    [{ ...READ, remote: 1 }, /call\.remote is 1/],
    [{ ...READ, bugdet: 5 }, /call has no member "bugdet"; it has remote, /],
    [{ ...READ, budget: 0 }, /call\.budget is 0 ms, and must be above 0/],
    [{ ...READ, budget: "5s" }, /call\.budget is "5s"/],
    [{ ...READ, label: "x".repeat(257) }, /at most 256 bytes/],
    [{ ...READ, label: 7 }, /call\.label is 7/],
    [{ ...READ, connectRetry: null }, /call\.connectRetry/],
    [{ ...READ, repeatable: 1 }, /call\.repeatable/],
    [{ ...READ, oneRequest: "no" }, /call\.oneRequest/],
    [{ ...READ, refusesBeforeActing: 1 }, /call\.refusesBeforeActing/],
    [null, /call is null, and must be an object/],
  ] as const) {
    assert.throws(() => callMembers(call as never as Call, 1), text);
  }
});

test("a call on the wire", () => {
  const call = { ...READ, budget: 2000, label: "q\ud800", connectRetry: false, started: 1.5 };
  const claims = {
    surfaceConflict: true,
    repeatable: true,
    oneRequest: false,
    refusesBeforeActing: true,
  };
  assert.deepEqual(callMembers({ ...call, ...claims }, 7), {
    remote: true,
    write: false,
    seed: 7,
    label: "q\ufffd",
    connect_retry: false,
    budget_us: 2_000_000,
    started_us: 1500,
    surface_conflict: true,
    repeatable: true,
    one_request: false,
    refuses_before_acting: true,
  });
});

test("surprising values are warned of, once", async () => {
  const warned: string[] = [];
  const hear = (warning: Error) => warned.push(warning.message);
  process.on("warning", hear);
  callMembers({ ...READ, budget: 60 }, 1);
  callMembers({ ...READ, budget: 60 }, 1);
  callMembers({ ...READ, budget: 1e9 }, 1);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", hear);
  const budgets = warned.filter((text) => text.includes("call.budget"));
  assert.equal(budgets.length, 2);
  assert.match(budgets[0]!, /budget is 60 ms, less than half a second: it is in milliseconds/);
  assert.match(budgets[1]!, /more than a day/);
});
