import assert from "node:assert/strict";
import { mock, type TestContext, test } from "node:test";
import { Turns } from "../../dist/plugin/turns.js";

/** How many pieces of work, of so many milliseconds each, each turn of the loop had. */
async function played(t: TestContext, turns: Turns, count: number, ms: number): Promise<number[]> {
  let now = 0;
  const clock = mock.method(performance, "now", () => now);
  t.after(() => clock.mock.restore());
  const had: number[] = [0];
  let on = true;
  const tick = () => {
    had.push(0);
    if (on) {
      setImmediate(tick);
    }
  };
  setImmediate(tick);
  const work = async () => {
    now += ms;
    had[had.length - 1]!++;
  };
  await Promise.all(Array.from({ length: count }, () => turns.take(work)));
  on = false;
  return had.filter((each) => each > 0);
}

test("a turn has so many", async (t) => {
  const had = await played(t, new Turns(100, 10), 250, 0);
  assert.deepEqual(had, [100, 100, 50]);
});

test("a turn has so much time", async (t) => {
  const had = await played(t, new Turns(100, 10), 9, 4);
  assert.deepEqual(had, [3, 3, 3]);
});

test("work that takes longer than a turn has one of its own", async (t) => {
  assert.deepEqual(await played(t, new Turns(100, 10), 3, 50), [1, 1, 1]);
});

test("one after another, in order, and a failure is its own", async () => {
  const turns = new Turns(2, 10);
  const done: number[] = [];
  let running = 0;
  const all = await Promise.allSettled(
    [0, 1, 2, 3, 4].map((n) =>
      turns.take(async () => {
        assert.equal(++running, 1);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        done.push(n);
        if (n === 1) {
          throw new Error("mine");
        }
      }),
    ),
  );
  assert.deepEqual(done, [0, 1, 2, 3, 4]);
  assert.deepEqual(
    all.map((each) => each.status),
    ["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"],
  );
});
