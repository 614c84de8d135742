// What calls, results and numbers may be.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Call, type Result, resultOf, succeeded } from "outlast";
import { callMembers } from "../dist/call.js";
import { resultMembers } from "../dist/result.js";
import { checkedSeed } from "../dist/session.js";
import { micros, randomNumber, retryAfterMicros } from "../dist/wire.js";
import { READ } from "./helpers.js";

test("milliseconds are whole microseconds", () => {
  assert.equal(micros(0.0004, "x"), 0);
  assert.equal(micros(1.5, "x"), 1500);
  assert.ok(Object.is(micros(-0, "x"), 0));
  assert.equal(micros(-3, "x"), -3000);
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, 1e13, "5" as never, 5n as never]) {
    assert.throws(() => micros(wrong, "budget"), /outlast: budget is .*must be/);
  }
});

test("any Retry-After is safe, and never earlier than asked", () => {
  assert.equal(retryAfterMicros(undefined), undefined);
  assert.equal(retryAfterMicros(Number.NaN), undefined);
  assert.equal(retryAfterMicros(1.0000001), 1001);
  assert.equal(retryAfterMicros(Number.POSITIVE_INFINITY), Number.MAX_SAFE_INTEGER);
  assert.equal(retryAfterMicros(-1e300), -Number.MAX_SAFE_INTEGER);
});

test("chance is from 0 to 1, both included", () => {
  assert.equal(randomNumber(0), 0);
  assert.equal(randomNumber(1), 2 ** 32 - 1);
  for (const wrong of [-0.1, 1.1, Number.NaN]) {
    assert.throws(() => randomNumber(wrong), /random is/);
  }
});

test("a seed is an integer, and random unless given", () => {
  assert.equal(checkedSeed(0), 0);
  for (const wrong of [-1, 0.5, 2 ** 53, "1" as never]) {
    assert.throws(() => checkedSeed(wrong), /seed is/);
  }
  const seeds = Array.from({ length: 100 }, () => checkedSeed(undefined));
  assert.ok(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0));
  assert.equal(new Set(seeds).size, 100);
});

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
    [null, /call is null, and must be an object/],
  ] as const) {
    assert.throws(() => callMembers(call as never as Call, 1), text);
  }
});

test("a call on the wire", () => {
  const call = { ...READ, budget: 2000, label: "q\ud800", connectRetry: false, started: 1.5 };
  const claims = { surfaceConflict: true, repeatable: true, oneRequest: false };
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

test("which results succeeded", () => {
  for (const [result, want] of [
    [{ exitCode: 0 }, true],
    [{ exitCode: 0, message: "x" }, true],
    [{ exitCode: 0, timedOut: true }, false],
    [{ exitCode: null, signal: "SIGTERM" }, false],
    [{ exitCode: 3 }, false],
    [{ httpStatus: 204 }, true],
    [{ httpStatus: 200, message: "cut" }, false],
    [{ httpStatus: 304 }, false],
    [{}, false],
  ] as [Result, boolean][]) {
    assert.equal(succeeded(result), want, JSON.stringify(result));
  }
});

test("a result that is none is refused", () => {
  for (const [result, text] of [
    [{ exit_code: 1 }, /result has no member "exit_code"/],
    [{ exitCode: 1.5 }, /result\.exitCode is 1\.5/],
    [{ httpStatus: -1 }, /result\.httpStatus is -1/],
    [{ stderr: 5 }, /result\.stderr must be a string or a Uint8Array/],
    [{ sent: "maybe" }, /"no", "yes" or "unknown"/],
    [{ signal: "x".repeat(33) }, /must be a name such as "SIGKILL"/],
    [{ retryAfter: "5" }, /result\.retryAfter/],
    ["failed", /result is "failed", and must be an object/],
  ] as const) {
    assert.throws(() => resultMembers(result as never as Result), text);
  }
});

test("what is no failure of a connection stands for no result", () => {
  for (const error of [new Error("x"), new TypeError("y"), "text", undefined, null, 5, {}]) {
    assert.equal(resultOf(error), undefined);
  }
});
