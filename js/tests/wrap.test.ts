import assert from "node:assert/strict";
import { test } from "node:test";
import { currentAttempt, Exhausted, outcomeOf, wrap } from "outlast";
import { virtualTime } from "outlast/testing";
import { READ, refused, reset, WRITE } from "./helpers.js";

test("a function that is wrapped rides out an outage, with its arguments and its this", async () => {
  await virtualTime(async () => {
    const client = {
      left: 2,
      ask: wrap(async function ask(this: { left: number }, name: string) {
        if (this.left-- > 0) {
          throw refused();
        }
        return `${name}, attempt ${currentAttempt()?.attempt}`;
      }, READ),
    };
    assert.equal(await client.ask("Zoë"), "Zoë, attempt 3");
    assert.equal(client.ask.name, "ask");
  });
});

test("one call may have other options, of the call and of how it is made", async () => {
  await virtualTime(async (clock) => {
    const work = wrap(() => Promise.reject(refused()), { ...READ, label: "usual" });
    const error = await work
      .with({ budget: 5000, label: "urgent", reraise: true })()
      .catch((e: unknown) => e);
    assert.deepEqual([clock.now(), outcomeOf(error)?.reason], [5000, "call"]);
    assert.equal(error instanceof Exhausted, false);
    const usual = await work().catch((e: unknown) => e);
    assert.ok(usual instanceof Exhausted && usual.label === "usual");
    const twice = work.with({ attempts: 5 }).with({ attempts: 2 });
    assert.equal(outcomeOf(await twice().catch((e: unknown) => e))?.attempts, 2);
  });
});

test("a write that may be applied again is said so for one call", async () => {
  await virtualTime(async () => {
    let left = 1;
    const put = wrap((value: string) => {
      if (left-- > 0) {
        throw reset();
      }
      return value;
    }, WRITE);
    assert.equal(await put.with({ repeatable: true })("x"), "x");
  });
});

test("what is wrong is told when the function is wrapped", () => {
  assert.throws(() => wrap(() => 1, { remote: true } as never), /call.write/);
  assert.throws(() => wrap(() => 1, READ, { retries: 3 } as never), /no member "retries"/);
  assert.throws(() => wrap(() => 1, READ).with({ remot: true } as never), /no member "remot"/);
  assert.equal(currentAttempt(), undefined);
});
