import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
  type AttemptContext,
  type CallEvent,
  Cancelled,
  Exhausted,
  Indeterminate,
  outcomeOf,
  Policy,
  type RetryOptions,
  retry,
  runCommand,
} from "outlast";
import { noRetries, setRetries, virtualTime } from "outlast/testing";
import { plain } from "../evidence/clients.js";
import {
  always,
  counting,
  folder,
  listen,
  nowhere,
  READ,
  ROOT,
  refused,
  reset,
  thrown,
  WRITE,
} from "../helpers.js";

const ended = (asked: Promise<unknown>) => asked.then(outcomeOf, outcomeOf);

test("attempts: as many as the call may make, without a wait after the last", async () => {
  await virtualTime(async (clock) => {
    const error = await retry(thrown(refused()), READ, { attempts: 3 }).catch((e) => e);
    assert.ok(error instanceof Exhausted);
    const { attempts, reason, kind, budget, history, message } = error.outcome;
    assert.deepEqual(
      [attempts, reason, kind, budget],
      [3, "attempts", "unavailable", "unavailable"],
    );
    assert.deepEqual([history.length, clock.slept.length], [3, 2]);
    assert.match(message, /gave up after 3 attempts: .*; nothing was applied/);
    assert.match(error.message, /last error: .*ECONNREFUSED/);
  });
});

test("attempts: a write that was repeated and may have been applied is in doubt", async () => {
  await virtualTime(async () => {
    const call = { ...WRITE, repeatable: true };
    const error = await retry(thrown(reset()), call, { attempts: 2 }).catch((e) => e);
    assert.ok(error instanceof Indeterminate);
    assert.deepEqual([error.outcome.effects, error.outcome.reason], ["unknown", "attempts"]);
  });
});

test("attempts: of a command too", async () => {
  const failing = ["bash", "-c", "echo 'curl: (7) Failed to connect' >&2; exit 7"];
  await virtualTime(async () => {
    const done = await runCommand(failing, READ, { policy: "curl", attempts: 2 });
    assert.deepEqual([done.outcome.attempts, done.outcome.reason], [2, "attempts"]);
  });
});

test("maxWait: another window, of a built-in policy and of a document", async () => {
  await virtualTime(async (clock) => {
    await ended(retry(thrown(refused()), READ, { maxWait: 60_000 }));
    assert.equal(clock.now(), 60_000);
    const policy = await (await Policy.load("network")).withMaxWait(42_500);
    await ended(retry(thrown(refused()), READ, { policy }));
    assert.equal(clock.now(), 102_500);
    const longer = await ended(retry(thrown(refused()), READ, { policy, maxWait: 200_000 }));
    assert.deepEqual([clock.now(), longer?.budget], [302_500, "unavailable"]);
  });
});

test("a built-in policy's document is that policy, but for what is changed", async () => {
  for (const name of ["network", "omnigraph", "witan-core"]) {
    const builtIn = await Policy.load(name);
    const same = await Policy.load(await builtIn.document());
    assert.equal(await same.digest(), await builtIn.digest(), name);
    const changed = await builtIn.withMaxWait(60_000);
    assert.notEqual(await changed.digest(), await builtIn.digest());
    assert.equal(changed.name, name);
  }
  const backoff = { type: "linear", base: "1s", cap: "1s" };
  const without = await Policy.load({
    ...{ version: 1, name: "mine", budgets: { few: { attempts: 2, backoff } } },
    rules: [{ kind: "failed", then: [{ retry: "few" }] }],
  });
  await assert.rejects(without.withMaxWait(1000), /no budget of the document has a window/);
  await assert.rejects(without.withMaxWait(0), /maxWait is 0 ms, and must be above 0/);
});

const table = JSON.parse(readFileSync(join(ROOT, "../host/testdata/spread.json"), "utf8"));

/** The policy of the table that all hosts play, with a wake. */
function waking(wake: object | null): Promise<Policy> {
  const { away, ...others } = table.policy.budgets;
  const budgets = { ...others, away: wake ? { ...away, wake } : away };
  return Policy.load({ ...table.policy, budgets });
}

test("spread: another one, by the table of every host", async () => {
  for (const { name, wake, spread_us: us, becomes } of table.cases) {
    const changed = await (await waking(wake)).withSpread(us / 1000);
    assert.deepEqual(await changed.document(), await (await waking(becomes)).document(), name);
  }
  for (const us of table.wrong_us) {
    const text = new RegExp(`spread is ${us / 1000} ms, and must be above 0 and at most 3600000`);
    for (const wake of [null, table.cases[0].wake]) {
      await assert.rejects((await waking(wake)).withSpread(us / 1000), text);
    }
  }
});

test("spread: that of a call comes before its policy's, wherever that comes from", async (t) => {
  const wide = await (await Policy.load("network")).withSpread(60_000);
  const followed = await Policy.follow(folder(t), "network");
  await virtualTime(async (clock) => {
    /** Milliseconds from the server's return to the attempt. */
    const woken = async (options: RetryOptions<never>) => {
      const began = clock.now();
      const all = { ...options, ready: always("ready"), seed: 1, attempts: 2 };
      await ended(retry(thrown(refused()), READ, all));
      return clock.now() - began;
    };
    assert.ok((await woken({})) < 30);
    for (const options of [{}, { maxWait: 60_000 }, { policy: wide }, { policy: followed }]) {
      // The seed's second number is three quarters.
      assert.equal(Math.round(await woken({ ...options, spread: 2000 })), 1492);
    }
  });
});

test("on: further errors that mean that the server is away", async () => {
  class Away extends Error {}
  const on = [Away, (error: unknown) => error === "away"];
  await virtualTime(async () => {
    for (const error of [new Away("gone"), "away"]) {
      assert.equal((await ended(retry(thrown(error), READ, { on, attempts: 2 })))?.attempts, 2);
      const write = await retry(thrown(error), WRITE, { on }).catch((e) => e);
      assert.ok(write instanceof Indeterminate); // nobody saw that nothing was sent
      const again = { ...WRITE, repeatable: true };
      assert.equal((await ended(retry(thrown(error), again, { on, attempts: 2 })))?.attempts, 2);
    }
    const other = new Error("other");
    assert.equal(await retry(thrown(other), READ, { on }).catch((e) => e), other);
  });
});

/** An attempt that never ends by itself, and what it sends. */
const hanging =
  (url: string) =>
  ({ signal }: AttemptContext) =>
    fetch(url, { signal, method: "POST", body: "x" });

async function silent(t: TestContext) {
  const [port, got] = await counting(t, () => {});
  return { url: `http://127.0.0.1:${port}/`, got };
}

test("attemptTimeout ends an attempt: a read is made again, a write that was sent is in doubt", async (t) => {
  const { url, got } = await silent(t);
  await virtualTime(async () => {
    const options = { attemptTimeout: 50, attempts: 2 };
    const read = await retry(hanging(url), READ, options).catch((e) => e);
    assert.ok(read instanceof Exhausted);
    assert.deepEqual([read.outcome.kind, read.result?.timedOut, got()], ["timed_out", true, 2]);
    assert.equal((read.cause as Error).name, "TimeoutError");
    const write = await retry(hanging(url), WRITE, options).catch((e) => e);
    assert.ok(write instanceof Indeterminate);
    assert.equal(got(), 3);
  });
});

test("attemptTimeout: a write of which nothing was sent is made again", async (t) => {
  const port = await listen(t, () => {}); // takes no part in a handshake
  await virtualTime(async () => {
    const post = ({ signal }: AttemptContext) => plain(`https://127.0.0.1:${port}/`, { signal });
    const outcome = await ended(retry(post, WRITE, { attemptTimeout: 80, attempts: 3 }));
    assert.deepEqual([outcome?.attempts, outcome?.type], [3, "exhausted"]);
    assert.deepEqual(
      outcome?.history.map(({ kind }) => kind),
      ["timed_out", "timed_out", "timed_out"],
    );
  });
});

test("attemptTimeout: an attempt that does not heed its signal is left alone", async (t) => {
  const { url } = await silent(t);
  await virtualTime(async () => {
    const began = performance.now();
    const deaf = () => fetch(url, { method: "POST", body: "x", signal: AbortSignal.timeout(1500) });
    const options = { attemptTimeout: 50, attempts: 2 };
    const read = await retry(deaf, READ, options).catch((e) => e);
    assert.ok(read instanceof Exhausted);
    const write = await retry(() => pause(1500), WRITE, options).catch((e) => e);
    assert.ok(write instanceof Indeterminate);
    assert.ok(performance.now() - began < 1200);
  });
});

test("attemptTimeout: what ends in time is as it was, and the caller's abort is one", async () => {
  const options = { attemptTimeout: 1000 };
  assert.equal(await retry(() => pause(20, "x"), READ, options), "x");
  const controller = new AbortController();
  const waits = ({ signal }: AttemptContext) => pause(5000, "x", { signal });
  const asked = retry(waits, READ, { ...options, signal: controller.signal });
  setTimeout(() => controller.abort(), 30);
  await assert.rejects(asked, Cancelled);
});

test("nothing is tried again where tests want it so", async () => {
  await virtualTime(async (clock) => {
    const url = await nowhere();
    const once = await noRetries(() => ended(retry(() => fetch(url), READ)));
    assert.deepEqual([once?.attempts, once?.reason, clock.slept], [1, "attempts", []]);
    setRetries(false);
    try {
      assert.equal((await ended(retry(thrown(refused()), READ, { attempts: 9 })))?.attempts, 1);
    } finally {
      setRetries(true);
    }
    assert.equal((await ended(retry(thrown(refused()), READ, { attempts: 2 })))?.attempts, 2);
  });
});

test("limits that are none are refused", async () => {
  for (const [options, text] of [
    [{ attempts: 0 }, /attempts is 0, and must be an integer above 0/],
    [{ attempts: 1.5 }, /attempts is 1.5/],
    [{ maxWait: -1 }, /maxWait is -1 ms, and must be above 0/],
    [{ maxWait: "60s" }, /must be a number of milliseconds/],
    [{ spread: 0 }, /spread is 0 ms, and must be above 0 and at most 3600000/],
    [{ spread: "5s" }, /spread is "5s", and must be a number of milliseconds/],
    [{ attemptTimeout: 0 }, /attemptTimeout is 0, and must be above 0/],
    [{ on: Error }, /on is .* must be an array of classes/],
  ] as const) {
    await assert.rejects(
      retry(() => 1, READ, options as never),
      text,
    );
  }
});

test("the events of a call whose window is another name its policy", async () => {
  await virtualTime(async () => {
    const names = new Set<string>();
    const observe = ({ policy }: CallEvent) => void names.add(policy);
    await ended(retry(thrown(refused()), READ, { maxWait: 3000, observe }));
    assert.deepEqual([...names], ["network"]);
  });
});
