import assert from "node:assert/strict";
import { test } from "node:test";
import { Exhausted, Indeterminate, Policy, PolicyError } from "outlast";
import { virtualTime } from "outlast/testing";
import { after, DRIFT, document, FAILED, READ, refused, reset, thrown, WRITE } from "../helpers.js";

test("a call that succeeds at once", async () => {
  const policy = await Policy.load("omnigraph");
  const outcome = await policy.run(() => ({ exitCode: 0, stdout: "x" }), WRITE);
  assert.deepEqual([outcome.type, outcome.ok, outcome.attempts], ["ok", true, 1]);
  assert.equal(outcome.result?.stdout, "x");
});

test("refused connections are waited out, whether they come as results or as errors", async () => {
  const policy = await Policy.load("omnigraph");
  for (const failure of [() => FAILED, thrown(refused())]) {
    await virtualTime(async (clock) => {
      const outcome = await policy.run(after(3, failure), WRITE, {
        seed: 7,
        onlyRequest: true,
      });
      assert.deepEqual([outcome.type, outcome.attempts], ["ok", 4]);
      assert.deepEqual(
        clock.slept,
        [530.509, 1001.847, 2036.788].slice(0, 1).concat(clock.slept.slice(1)),
      );
      assert.equal(clock.slept.length, 3);
    });
  }
});

test("a broken connection: a read is tried again, a write never", async () => {
  const policy = await Policy.load("omnigraph");
  await virtualTime(async () => {
    assert.equal((await policy.run(after(2, thrown(reset())), READ)).type, "ok");
    const outcome = await policy.run(after(1, thrown(reset())), WRITE);
    assert.deepEqual(
      [outcome.type, outcome.effects, outcome.attempts],
      ["indeterminate", "unknown", 1],
    );
  });
});

test("an error that no policy knows comes out at once, as it is", async () => {
  const policy = await Policy.load("omnigraph");
  for (const error of [new Error("mine"), "a text", undefined, { code: 5 }]) {
    let made = 0;
    const run = policy.run(() => {
      made++;
      throw error;
    }, READ);
    const got = await run.then(
      () => assert.fail("it succeeded"),
      (e: unknown) => e,
    );
    assert.equal(got, error);
    assert.equal(made, 1);
  }
});

test("errors of one's own can be mapped, and are asked about first", async () => {
  const policy = await Policy.load("omnigraph");
  await virtualTime(async () => {
    const resultOf = (error: unknown) => (error === "away" ? FAILED : undefined);
    const outcome = await policy.run(after(2, thrown("away")), WRITE, { resultOf });
    assert.deepEqual([outcome.type, outcome.attempts], ["ok", 3]);
  });
});

test("check throws the class that belongs to the outcome, with the cause", async () => {
  const policy = await Policy.load("omnigraph");
  await virtualTime(async () => {
    const error = reset();
    const failed = await policy
      .run(thrown(error), { ...WRITE, label: "mutate" }, { check: true })
      .catch((e: unknown) => e);
    assert.ok(failed instanceof Indeterminate);
    assert.equal(failed.cause, error);
    assert.equal(failed.name, "Indeterminate");
    assert.match(failed.message, /^outlast: mutate: /);
    assert.equal(failed.result, failed.outcome.result);
    await assert.rejects(
      policy.run(() => FAILED, WRITE, { check: true }),
      Exhausted,
    );
  });
});

test("a call's own budget ends it", async () => {
  const policy = await Policy.load("omnigraph");
  await virtualTime(async (clock) => {
    const outcome = await policy.run(() => FAILED, { ...WRITE, budget: 5000 });
    assert.deepEqual([outcome.type, outcome.reason], ["exhausted", "call"]);
    assert.equal(clock.now(), 5000);
  });
});

test("loading counts against the first wait", async () => {
  const policy = await Policy.load("omnigraph");
  let now = 0;
  const slept: number[] = [];
  const clock = {
    now: () => (now += 50), // each look takes 50 ms
    sleep: async (ms: number) => void slept.push(ms),
  };
  await policy.run(
    after(1, () => FAILED),
    READ,
    { clock, seed: 7 },
  );
  assert.equal(slept.length, 1);
  assert.ok(slept[0]! < 530.509 && slept[0]! > 300);
});

test("a clock that goes backwards does not make a wait longer", async () => {
  const policy = await Policy.load("omnigraph");
  const times = [1000, 1000, 1000, 0, 0];
  const slept: number[] = [];
  const clock = {
    now: () => times.shift() ?? 0,
    sleep: async (ms: number) => void slept.push(ms),
  };
  await policy.run(
    after(1, () => FAILED),
    READ,
    { clock, seed: 7 },
  );
  assert.deepEqual(slept, [530.509]);
});

test("an attempt is told its number, and a signal", async () => {
  const policy = await Policy.load("omnigraph");
  await virtualTime(async () => {
    const numbers: number[] = [];
    await policy.run(({ attempt, signal }) => {
      assert.equal(signal.aborted, false);
      numbers.push(attempt);
      return numbers.length < 3 ? FAILED : { exitCode: 0 };
    }, READ);
    assert.deepEqual(numbers, [1, 2, 3]);
  });
});

test("repairs are the caller's", async () => {
  const policy = await Policy.load("omnigraph");
  const local = { remote: false, write: true };
  for (const [repair, want] of [
    [undefined, "failed"],
    [() => ({ exitCode: 0 }), "ok"],
    [() => ({ exitCode: 1 }), "failed"],
    [thrown(new Error("no tool")), "failed"],
  ] as const) {
    await virtualTime(async () => {
      const events: string[] = [];
      let broken = true;
      const attempt = () => (broken ? { exitCode: 1, stderr: DRIFT } : { exitCode: 0 });
      const outcome = await policy.run(attempt, local, {
        repair:
          repair &&
          ((force) => {
            assert.equal(force, false);
            broken = false;
            return repair();
          }),
        observe: (event) => events.push(event.type),
      });
      assert.equal(outcome.type, want);
      assert.equal(outcome.reason, want === "ok" ? "" : "repair_failed");
      assert.ok(events.includes("repairing"));
    });
  }
});

test("a plain mistake of the caller's is told before anything is done", async () => {
  const policy = await Policy.load("omnigraph");
  const attempt = () => assert.fail("an attempt was made");
  for (const [run, text] of [
    [() => policy.run(attempt, { remote: true } as never), /call\.write/],
    [() => policy.run(attempt, READ, { sgnal: 1 } as never), /no member "sgnal"/],
    [() => policy.run(attempt, READ, { seed: -1 }), /seed is -1/],
    [() => policy.run(attempt, READ, { secrets: "abc" as never }), /secrets must be an array/],
  ] as const) {
    await assert.rejects(run, text);
  }
  await assert.rejects(
    policy.run(() => "done" as never, READ),
    /result is "done", and must be an/,
  );
});

test("a wrong document that was not checked ends the call, not the process", async () => {
  const policy = await Policy.load({ ...document(), rules: [] }, { check: false });
  await assert.rejects(
    policy.run(() => FAILED, READ),
    PolicyError,
  );
});

test("what is no plain object is no result", async () => {
  const policy = await Policy.load("omnigraph");
  for (const [value, text] of [
    [new Response("x"), /a Response.*resultOfResponse/],
    [[], /an? Array/],
    [Buffer.from("x"), /a Buffer/],
    [new Map(), /a Map/],
  ] as const) {
    await assert.rejects(
      policy.run(() => value as never, READ),
      text,
    );
  }
  assert.equal((await policy.run(() => Object.create(null), READ, { seed: 1 })).type, "failed");
});
