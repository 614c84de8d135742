import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { afterEach, test } from "node:test";
import { type CallEvent, getHooks, type Hook, logTo, Policy, retry, setHooks } from "outlast";
import { virtualTime } from "outlast/testing";
import { READ, REFUSED, ROOT, thrown, WRITE } from "../helpers.js";

afterEach(() => setHooks(undefined));

function failing(times: number) {
  return () => (times-- > 0 ? { exitCode: 1, stderr: REFUSED } : { exitCode: 0 });
}

test("hooks are told of all calls, and can be chosen", async () => {
  const policy = await Policy.load("omnigraph");
  const told: CallEvent[] = [];
  setHooks([(event) => told.push(event)]);
  assert.equal(getHooks().length, 1);
  await virtualTime(() => policy.run(failing(1), READ));
  assert.ok(told.some((event) => event.type === "waiting" && event.kind === "unavailable"));
  setHooks([]);
  const before = told.length;
  await policy.run(failing(0), READ);
  assert.equal(told.length, before);
});

test("a hook that throws ends no call, and is warned of", async () => {
  const policy = await Policy.load("omnigraph");
  const warned: string[] = [];
  const hear = (warning: Error) => warned.push(warning.message);
  process.on("warning", hear);
  const failed = new Error("no metrics");
  const throwing = () => {
    throw failed;
  };
  for (const observe of [throwing, async () => throwing()]) {
    warned.length = 0;
    const outcome = await virtualTime(() => policy.run(failing(1), READ, { observe }));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(outcome.ok, true);
    assert.ok(warned.includes("outlast: a hook failed at stopped: Error: no metrics"));
  }
  process.off("warning", hear);
});

test("a hook that waits for an attempt which fails has not failed itself", async () => {
  const warned: string[] = [];
  const hear = (warning: Error) => warned.push(warning.message);
  process.on("warning", hear);
  const hook = (then: () => void): Hook => ({
    begin: () => ({
      tell: () => {},
      async attempt(_, __, make) {
        await make().finally(then);
      },
    }),
  });
  const own = new Error("the attempt's own");
  for (const [then, heard] of [
    [() => {}, []],
    [thrown(new Error("late")), ["outlast: a hook failed at an attempt's begin: Error: late"]],
  ] as const) {
    warned.length = 0;
    setHooks([hook(then), hook(() => {})]);
    await assert.rejects(retry(thrown(own), READ), own);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(warned, heard);
  }
  process.off("warning", hear);
});

test("lines of a log name the kind, and never quote an attempt", async () => {
  const policy = await Policy.load("omnigraph");
  const lines: string[] = [];
  const write = (level: string) => (text: string) => void lines.push(`${level}: ${text}`);
  const logger = {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
  setHooks([logTo(logger)]);
  await virtualTime(async () => {
    await policy.run(failing(2), { ...READ, label: "query" }, { seed: 7 });
    await policy.run(() => ({ exitCode: 1, stderr: "client error (Connect)" }), WRITE);
    await policy.run(failing(0), READ);
  });
  const shown = lines.filter((line) => !line.startsWith("debug"));
  assert.equal(shown[0], "warn: outlast: query: unavailable; attempt 2 in 0.53 s, of 150.0 s left");
  assert.match(shown.at(-2)!, /^info: outlast: query: succeeded after 3 attempts/);
  assert.match(shown.at(-1)!, /^error: outlast: failed after 1 attempt/);
  assert.ok(!lines.some((line) => /client error|tcp connect|refused/i.test(line)));
});

test("NODE_DEBUG=outlast shows the lines, and else nothing is shown", () => {
  const program = `
    import { Policy } from "outlast";
    import { virtualTime } from "outlast/testing";
    let failures = 1;
    const stderr = ${JSON.stringify(REFUSED)};
    const attempt = () => failures-- > 0 ? { exitCode: 1, stderr } : { exitCode: 0 };
    const policy = await Policy.load("omnigraph");
    await virtualTime(() => policy.run(attempt, { remote: true, write: false }));
  `;
  const command = `exec "${process.execPath}" --input-type=module -e '${program}' 2>&1`;
  for (const [debug, shown] of [
    ["outlast", /unavailable; attempt 2 in 0\.5\d s(.|\n)*succeeded after 2 attempts/],
    ["", /^$/],
  ] as const) {
    const env = { ...process.env, NODE_DEBUG: debug };
    assert.match(String(execFileSync("sh", ["-c", command], { cwd: ROOT, env })), shown);
  }
});
