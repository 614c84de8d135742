// A call that is given up: what ends, and what is known of a write.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Cancelled, type Outcome, Policy, type Result } from "outlast";
import { virtualTime } from "outlast/testing";
import { DRIFT, FAILED, READ, refused, reset, thrown, WRITE } from "../helpers.js";

async function aborted(
  work: (signal: AbortSignal) => Promise<Outcome>,
  when: number,
): Promise<[Outcome, number]> {
  const controller = new AbortController();
  let at = 0;
  setTimeout(() => {
    at = performance.now();
    controller.abort(new Error("enough"));
  }, when);
  const outcome = await work(controller.signal);
  return [outcome, performance.now() - at];
}

test("an abort ends a wait promptly, with no further attempt", async () => {
  const policy = await Policy.load("omnigraph");
  await policy.plugin.load();
  let made = 0;
  const count = () => {
    made++;
    return FAILED;
  };
  const [outcome, took] = await aborted((signal) => policy.run(count, WRITE, { signal }), 100);
  assert.deepEqual([outcome.type, outcome.effects, outcome.attempts], ["cancelled", "none", 1]);
  assert.equal(made, 1);
  assert.ok(took < 5000, `${took} ms`); // the wait was half a second; the benchmark is stricter
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.equal(made, 1);
});

test("an abort before the first attempt makes none", async () => {
  const policy = await Policy.load("omnigraph");
  const signal = AbortSignal.abort("no");
  const outcome = await policy.run(() => assert.fail("made"), WRITE, { signal });
  assert.deepEqual([outcome.type, outcome.effects, outcome.attempts], ["cancelled", "none", 0]);
  const error = await policy
    .run(() => assert.fail("made"), WRITE, { signal, check: true })
    .catch((e: unknown) => e);
  assert.ok(error instanceof Cancelled);
  assert.equal(error.cause, "no");
});

test("an abort in an attempt waits for how it ends", async () => {
  const policy = await Policy.load("omnigraph");
  const running = (end: () => Result) => (context: { signal: AbortSignal }) =>
    new Promise<Result>((resolve, reject) => {
      context.signal.addEventListener("abort", () => {
        try {
          resolve(end());
        } catch (error) {
          reject(error);
        }
      });
    });
  for (const call of [READ, WRITE]) {
    const unknown = call.write ? "unknown" : "none";
    for (const [end, type, effects] of [
      [() => ({ exitCode: 0 }), "ok", "none"],
      [() => FAILED, "cancelled", "none"],
      [thrown(refused()), "cancelled", "none"],
      [thrown(reset()), "cancelled", unknown],
      [thrown(new Error("enough")), "cancelled", unknown],
      [() => ({ signal: "SIGTERM" }), "cancelled", unknown],
    ] as const) {
      const [outcome] = await aborted(
        (signal) => policy.run(running(end), call, { signal, onlyRequest: true }),
        10,
      );
      assert.deepEqual([outcome.type, outcome.effects], [type, effects], `${call.write} ${end}`);
      assert.equal(outcome.attempts, 1);
    }
  }
});

test("an abort in a later attempt", async () => {
  const policy = await Policy.load("omnigraph");
  await virtualTime(async () => {
    const controller = new AbortController();
    let made = 0;
    const attempt = () => {
      if (++made === 3) {
        controller.abort();
        throw reset();
      }
      return FAILED;
    };
    const outcome = await policy.run(attempt, WRITE, { signal: controller.signal });
    assert.deepEqual(
      [outcome.type, outcome.effects, outcome.attempts],
      ["cancelled", "unknown", 3],
    );
    assert.equal(made, 3);
  });
});

test("an abort while a decision is made", async () => {
  const policy = await Policy.load("omnigraph");
  const controller = new AbortController();
  let made = 0;
  const count = () => {
    made++;
    return FAILED;
  };
  const outcome = await policy.run(count, WRITE, {
    signal: controller.signal,
    observe: (event) => event.type === "waiting" && controller.abort(),
  });
  assert.deepEqual([outcome.type, outcome.effects, made], ["cancelled", "none", 1]);
});

test("an abort in a repair says nothing of the call", async () => {
  const policy = await Policy.load("omnigraph");
  const controller = new AbortController();
  let made = 0;
  const outcome = await policy.run(
    () => {
      made++;
      return { exitCode: 1, stderr: DRIFT };
    },
    { remote: false, write: true },
    {
      signal: controller.signal,
      repair: () => {
        controller.abort();
        return { exitCode: 0 };
      },
    },
  );
  assert.equal(outcome.type, "cancelled");
  assert.equal(made, 1);
});
