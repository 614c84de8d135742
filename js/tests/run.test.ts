import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CallEvent,
  Cancelled,
  Exhausted,
  Indeterminate,
  type Outcome,
  Policy,
  PolicyError,
  type Result,
} from "outlast";
import { virtualTime } from "outlast/testing";
import { document, READ, REFUSED, refused, report, reset, WRITE } from "./helpers.js";

const FAILED = { exitCode: 1, stderr: REFUSED };

/** What omnigraph prints of a store that needs a repair. */
const DRIFT = report("table 'people' is ahead of its manifest; run `omnigraph repair` first");

/** An attempt that fails so often, and then succeeds. */
function after(failures: number, failure: () => Result): () => Result {
  return () => (failures-- > 0 ? failure() : { exitCode: 0 });
}

const thrown = (error: unknown) => () => {
  throw error;
};

test("a call that succeeds at once", async () => {
  const policy = await Policy.load();
  const outcome = await policy.run(() => ({ exitCode: 0, stdout: "x" }), WRITE);
  assert.deepEqual([outcome.type, outcome.ok, outcome.attempts], ["ok", true, 1]);
  assert.equal(outcome.result?.stdout, "x");
});

test("refused connections are waited out, whether they come as results or as errors", async () => {
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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
  const policy = await Policy.load();
  await virtualTime(async () => {
    const resultOf = (error: unknown) => (error === "away" ? FAILED : undefined);
    const outcome = await policy.run(after(2, thrown("away")), WRITE, { resultOf });
    assert.deepEqual([outcome.type, outcome.attempts], ["ok", 3]);
  });
});

test("check throws the class that belongs to the outcome, with the cause", async () => {
  const policy = await Policy.load();
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
  const policy = await Policy.load();
  await virtualTime(async (clock) => {
    const outcome = await policy.run(() => FAILED, { ...WRITE, budget: 5000 });
    assert.deepEqual([outcome.type, outcome.reason], ["exhausted", "call"]);
    assert.equal(clock.now(), 5000);
  });
});

test("loading counts against the first wait", async () => {
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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

// Aborting.

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
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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
  const policy = await Policy.load();
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

// Hooks.

test("observers are told everything, in order, without secrets", async () => {
  const policy = await Policy.load();
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
  const policy = await Policy.load();
  const attempt = () => ({ exitCode: 2, stderr: "bad token hunter2" });
  const outcome = await policy.run(attempt, READ, { secrets: ["hunter2"] });
  assert.equal(outcome.lastError, "bad token [redacted]");
  assert.equal(outcome.result?.stderr, "bad token hunter2");
});

test("what is no plain object is no result", async () => {
  const policy = await Policy.load();
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

test("secrets that overlap are hidden whole, in the label too", async () => {
  const policy = await Policy.load();
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
