// The measured restart of 61 s, on a virtual clock, through the real plugin.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Policy, type PolicyDocument, type Result } from "outlast";
import { virtualTime } from "outlast/testing";
import { READ, REFUSED, WRITE } from "./helpers.js";

/** How long a server's restart took, measured, in milliseconds. */
const RESTART = 61_000;

function policyWith(maxWait: string): PolicyDocument {
  const backoff = { type: "exponential", base: "500ms", multiplier: 2, cap: "10s", jitter: 0.1 };
  const causes = [{ in: "cause", at: 1, is: ["client error (Connect)"] }];
  return {
    version: 1,
    name: "sized",
    budgets: { unavailable: { max_wait: maxWait, backoff } },
    rules: [
      { kind: "unavailable", when: [{ text: causes }], then: [{ retry: "unavailable" }] },
      { kind: "failed", then: [{ stop: { effects: "unknown" } }] },
    ],
  };
}

for (const call of [READ, WRITE]) {
  for (const [source, survives] of [
    ["omnigraph", true],
    [policyWith("150s"), true],
    [policyWith("42.5s"), false],
  ] as const) {
    const name = typeof source === "string" ? source : JSON.stringify(source.budgets).slice(28, 38);
    test(`${name}, write ${call.write}: ${survives ? "survives" : "gives up"}`, async () => {
      const policy = await Policy.load(source);
      await virtualTime(async (clock) => {
        const starts: number[] = [];
        const attempt = (): Result => {
          starts.push(clock.now());
          return clock.now() < RESTART ? { exitCode: 1, stderr: REFUSED } : { exitCode: 0 };
        };
        const outcome = await policy.run(attempt, call, { seed: 1 });
        assert.equal(outcome.type, survives ? "ok" : "exhausted");
        assert.equal(outcome.attempts, starts.length);
        if (survives) {
          assert.ok(starts.at(-1)! >= RESTART && starts.at(-1)! <= RESTART + 10_000);
        } else {
          assert.equal(outcome.reason, "window");
          assert.equal(starts.at(-1), 42_500); // the deadline itself gets an attempt
          assert.equal(outcome.effects, "none");
        }
      });
    });
  }
}

test("a server that stays away is given up after 150 s", async () => {
  const policy = await Policy.load("omnigraph");
  await virtualTime(async (clock) => {
    const attempt = () => ({ exitCode: 1, stderr: REFUSED });
    const outcome = await policy.run(attempt, READ);
    assert.equal(outcome.type, "exhausted");
    assert.equal(clock.now(), 150_000);
    assert.equal(outcome.elapsed, 150_000);
    assert.ok(clock.slept.every((ms) => ms <= 10_000));
  });
});
