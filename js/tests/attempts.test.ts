import assert from "node:assert/strict";
import { test } from "node:test";
import { attempts, type CallEvent, Exhausted, Failed, Indeterminate } from "outlast";
import { virtualTime } from "outlast/testing";
import { closedPort, counting, READ, refused, reset, serve, thrown, WRITE } from "./helpers.js";

/** Makes the attempts of a loop whose work is given. */
async function loop(work: (number: number) => unknown, call = READ, options = {}) {
  const made: unknown[] = [];
  for await (const attempt of attempts(call, options)) {
    made.push(await attempt.run(() => work(attempt.number)));
  }
  return made;
}

const failing =
  (error: unknown, times = Infinity) =>
  (number: number) => {
    if (number <= times) {
      throw error;
    }
    return "done";
  };

test("a loop goes on until an attempt does not fail, and waits meanwhile", async () => {
  await virtualTime(async (clock) => {
    const seen = await loop(failing(refused(), 2));
    assert.deepEqual(seen, [undefined, undefined, "done"]);
    assert.equal(clock.slept.length, 2);
    assert.deepEqual(await loop(() => "at once"), ["at once"]);
  });
});

test("when the policy stops, the loop throws how", async () => {
  await virtualTime(async () => {
    const error = refused();
    await assert.rejects(
      loop(failing(error)),
      (e: unknown) => e instanceof Exhausted && e.cause === error,
    );
    await assert.rejects(loop(failing(reset()), WRITE), Indeterminate);
  });
});

test("what a loop's attempt sends is watched: a write waits for a server that is away", async (t) => {
  const url = `http://127.0.0.1:${await closedPort()}/`;
  const post = (to: string) => fetch(to, { method: "POST", body: "x" });
  await virtualTime(async () => {
    await assert.rejects(
      loop(() => post(url), WRITE),
      Exhausted,
    );
    const [port, got] = await counting(t, (socket) => socket.resetAndDestroy());
    await assert.rejects(
      loop(() => post(`http://127.0.0.1:${port}/`), WRITE),
      Indeterminate,
    );
    assert.equal(got(), 1);
  });
});

test("an answer of fetch that stands for a failure is one", async (t) => {
  let asked = 0;
  const url = await serve(t, (_, answer) => answer.writeHead(++asked < 3 ? 503 : 200).end());
  await virtualTime(async () => {
    const seen = await loop(() => fetch(url));
    assert.deepEqual([seen.length, (seen[2] as Response).status], [3, 200]);
  });
  const gone = await serve(t, (_, answer) => answer.writeHead(404).end());
  await assert.rejects(
    loop(() => fetch(gone)),
    (e: unknown) => e instanceof Failed && e.result?.httpStatus === 404,
  );
});

test("an error that no policy knows comes out of run, and out of the loop", async () => {
  const bug = new TypeError("a bug");
  let caught: unknown;
  const looping = (async () => {
    for await (const attempt of attempts(READ)) {
      await attempt.run(thrown(bug)).catch((e) => {
        caught = e;
      });
    }
  })();
  await assert.rejects(looping, (e) => e === bug);
  assert.equal(caught, bug);
});

test("a body may say itself how its attempt failed", async () => {
  await virtualTime(async () => {
    const numbers: number[] = [];
    for await (const attempt of attempts(WRITE)) {
      numbers.push(attempt.number);
      if (attempt.number < 3) {
        attempt.failed({ failure: "unconnected", sent: "no" });
      }
    }
    assert.deepEqual(numbers, [1, 2, 3]);
  });
});

test("a loop that is left ends its call: as it had succeeded, or was given up", async () => {
  await virtualTime(async () => {
    const ends: string[] = [];
    const observe = (event: CallEvent) => {
      if (event.type === "stopped") {
        ends.push(`${event.outcome.type} ${event.outcome.attempts}`);
      }
    };
    const found = await (async () => {
      for await (const attempt of attempts(READ, { observe })) {
        const value = await attempt.run(() => failing(refused(), 1)(attempt.number));
        if (value) {
          return value;
        }
      }
      return undefined;
    })();
    assert.equal(found, "done");
    for await (const attempt of attempts(READ, { observe })) {
      await attempt.run(thrown(refused()));
      assert.equal(await attempt.run(() => "too late"), undefined);
      break;
    }
    assert.deepEqual(ends, ["ok 2", "cancelled 1"]);
  });
});

test("the attempt has a signal, and a loop takes the options of retry but for what it cannot do", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const looping = loop(() => controller.abort(new Error("enough")), READ, { signal });
  assert.deepEqual(await looping, [undefined]);
  const reraise = attempts(READ, { reraise: true } as never);
  await assert.rejects(reraise.next(), /no member "reraise"/);
});
