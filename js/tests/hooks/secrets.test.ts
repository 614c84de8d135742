import assert from "node:assert/strict";
import { test } from "node:test";
import { type CallEvent, Policy, type Result } from "outlast";
import { virtualTime } from "outlast/testing";
import { after, READ, REFUSED } from "../helpers.js";

test("observers are told everything, in order, without secrets", async () => {
  const policy = await Policy.load("omnigraph");
  await virtualTime(async () => {
    const events: CallEvent[] = [];
    const stderr = `${REFUSED}token=hunter2 é\n`;
    const outcome = await policy.run(
      after(1, () => ({ exitCode: 1, stderr: Buffer.from(stderr), stdout: "hunter2" })),
      { ...READ, label: "q" },
      { observe: (event) => events.push(event), secrets: ["hunter2", ""] },
    );
    assert.equal(outcome.type, "ok");
    const types = events.map((event) => event.type).filter((type) => type !== "loaded");
    assert.deepEqual(types, ["attemptEnded", "waiting", "attemptEnded", "stopped"]);
    assert.ok(!JSON.stringify(events).includes("hunter2"));
    const [ended] = events;
    assert.ok(ended?.type === "attemptEnded");
    assert.ok(String(ended.result.stderr).includes("token=[redacted] é"));
    assert.equal(ended.policy, "omnigraph");
  });
});

test("an outcome's words hide secrets, and its result stays the caller's", async () => {
  const policy = await Policy.load("omnigraph");
  const attempt = () => ({ exitCode: 2, stderr: "bad token hunter2" });
  const outcome = await policy.run(attempt, READ, { secrets: ["hunter2"] });
  assert.equal(outcome.lastError, "bad token [redacted]");
  assert.equal(outcome.result?.stderr, "bad token hunter2");
});

test("secrets that overlap are hidden whole, in the label too", async () => {
  const policy = await Policy.load("omnigraph");
  const seen: CallEvent[] = [];
  const secrets = ["abc", "abcdef", "defgh"];
  for (const stderr of ["Error: abcdefgh\n", Buffer.from("Error: abcdefgh\n")]) {
    const run = policy.run(
      () => ({ exitCode: 1, stderr }),
      { ...READ, label: "ask abcdef" },
      { secrets, check: true, observe: (event) => seen.push(event) },
    );
    const error = await run.catch((e: Error) => e);
    assert.ok(error instanceof Error);
    assert.match(error.message, /\[redacted\]/);
    assert.doesNotMatch(error.message, /abc|def|gh/);
  }
  const texts = seen.map((event) => {
    const { result } = event as { result?: Result };
    return `${event.call.label} ${result?.stderr ?? ""}`;
  });
  assert.doesNotMatch(texts.join(), /abc|def|gh/);
});
