// What hooks hear of requests: the first one of a process takes another way than those after it.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, test } from "node:test";
import { type CallEvent, outcomeOf, type PerCallHook, retryingFetch, setHooks } from "outlast";
import { virtualTime } from "outlast/testing";
import { refused } from "../helpers.js";

afterEach(() => setHooks(undefined));

/** A hook that writes down what it hears, and in which context attempts are made. */
function listening() {
  const heard: unknown[] = [];
  const around = new AsyncLocalStorage<number>();
  const hook: PerCallHook = {
    begin({ label }, policy, command) {
      heard.push(["begin", label, policy, command]);
      return {
        tell: (event) => void heard.push(withoutTimes(event)),
        attempt(number, _, make) {
          heard.push(["attempt", number]);
          around.run(number, make).then(
            () => heard.push(["made"]),
            ({ message }) => heard.push(["threw", message]),
          );
        },
        end: (error) => void heard.push(["end", error]),
      };
    },
  };
  return { hook, heard, around };
}

function withoutTimes(event: CallEvent): unknown {
  const without = (name: string, value: unknown) =>
    ["at", "started", "ended", "elapsed", "took"].includes(name) ? undefined : value;
  return JSON.parse(JSON.stringify(event, without));
}

const ANSWERS = [
  [200],
  [503, 200],
  [404],
  ["refused", 204],
  ["own"], // an error that no policy knows
] as const;

for (const by of ["setHooks", "observe"]) {
  test(`each request is told alike: ${by}`, async () => {
    const { hook, heard, around } = listening();
    if (by === "setHooks") {
      setHooks([hook]);
    }
    for (const answers of ANSWERS) {
      let made = 0;
      const contexts: unknown[] = [];
      const base = async (_: string) => {
        contexts.push(around.getStore());
        const answer = answers[Math.min(made++, answers.length - 1)]!;
        if (answer === "refused") {
          throw refused();
        } else if (answer === "own") {
          throw new RangeError("own");
        }
        return new Response(answer === 204 ? null : "text", { status: answer });
      };
      const fetch = retryingFetch({
        ...{ fetch: base, secrets: ["secret"], label: "a secret", seed: 7 },
        observe: by === "observe" ? hook : undefined,
      });
      const stories: unknown[] = [];
      await virtualTime(async () => {
        for (const _ of ["first", "second"]) {
          made = 0;
          heard.length = 0;
          contexts.length = 0;
          const answer = await fetch("http://a/").catch((error) => error);
          const { result, elapsed: __, history: ___, ...outcome } = outcomeOf(answer) ?? {};
          const gave = [outcome, result?.exitCode, result?.httpStatus];
          const told = heard.filter((each) => (each as CallEvent).type !== "loaded");
          stories.push([told, [...contexts], gave]);
        }
      });
      assert.deepEqual(stories[1], stories[0], String(answers));
      assert.deepEqual(
        contexts,
        answers.map((_, at) => at + 1),
      );
      assert.match(JSON.stringify(stories), /a \[redacted\]/);
    }
  });
}

test("a label that throws is the request's error", async () => {
  setHooks([() => {}]);
  const fetch = retryingFetch({ fetch: async (_: string, __?: RequestInit) => new Response() });
  const label = () => {
    throw new RangeError("no label");
  };
  await assert.rejects(fetch("http://a/", { outlast: { label } }), RangeError);
  await fetch("http://a/");
  await assert.rejects(fetch("http://a/", { outlast: { label } }), RangeError);
});
