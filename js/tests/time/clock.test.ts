import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { mock, test } from "node:test";
import { systemClock } from "../../dist/time/clock.js";

test("a sleep is never short, though a timer may fire early", async () => {
  for (let i = 0; i < 50; i++) {
    const ms = 1 + (i % 5) + 0.37;
    const began = performance.now();
    await systemClock.sleep(ms);
    assert.ok(performance.now() - began >= ms);
  }
});

test("a timer that fires a millisecond early is waited on again", async () => {
  let now = 0;
  const waits: (number | undefined)[] = [];
  const clock = mock.method(performance, "now", () => now);
  const timer = mock.method(globalThis, "setTimeout", (fire: () => void, ms?: number) => {
    waits.push(ms);
    now += waits.length === 1 ? ms! - 1 : ms!;
    queueMicrotask(fire);
  });
  await systemClock.sleep(500);
  clock.mock.restore();
  timer.mock.restore();
  assert.deepEqual(waits, [500, 1]);
});

test("a wait that is longer than a timer can be is waited in parts", async () => {
  let now = 0;
  const waits: number[] = [];
  const clock = mock.method(performance, "now", () => now);
  const timer = mock.method(globalThis, "setTimeout", (fire: () => void, ms: number) => {
    waits.push(ms);
    now += ms;
    queueMicrotask(fire);
  });
  await systemClock.sleep(2 ** 32);
  clock.mock.restore();
  timer.mock.restore();
  assert.deepEqual(waits, [2 ** 31 - 1, 2 ** 31 - 1, 2]);
});

test("an abort ends a sleep, and leaves neither timer nor listener", async () => {
  const controller = new AbortController();
  const sleep = systemClock.sleep(60_000, controller.signal);
  controller.abort();
  await sleep;
  await systemClock.sleep(60_000, controller.signal); // aborted already
  await systemClock.sleep(1, new AbortController().signal);
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
  assert.ok(!process.getActiveResourcesInfo().includes("Timeout"));
});

test("thousands of sleeps on one signal warn of nothing", async () => {
  const warned: Error[] = [];
  const hear = (warning: Error) => warned.push(warning);
  process.on("warning", hear);
  const controller = new AbortController();
  const sleeps = Array.from({ length: 2000 }, () => systemClock.sleep(60_000, controller.signal));
  setImmediate(() => controller.abort());
  await Promise.all(sleeps);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", hear);
  assert.deepEqual(warned, []);
});
