// The contract's cases through the package's own door, policy.session; and that the runner
// notices what is wrong.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Action, type Call, PluginError, Policy, type Result, type Session } from "outlast";
import { readAction } from "../../dist/action.js";
import { Instance } from "../../dist/engine.js";
import { compile } from "../../dist/module.js";
import { readWasm } from "../../dist/wasm.js";
import { Case, type Door, type Json, load } from "./cases.js";
import { check } from "./doors.js";
import { cutsShort } from "./script.js";

/** Microseconds up to which milliseconds give the same microseconds again. */
const LARGEST = 1e14;

class Inexpressible extends Error {}

/** Members as the package names them, if it can say them. */
function members(wire: Json): Json {
  return Object.fromEntries(
    Object.entries(wire).map(([name, value]) => {
      if (/_(head|tail)$/.test(name) || value === null || typeof value === "object") {
        throw new Inexpressible(name);
      }
      const plain = name.replace(/_us$/, "");
      const camel = plain.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return [camel, plain === name ? value : ms(value)];
    }),
  );
}

function ms(us: unknown): number {
  if (!Number.isInteger(us) || Math.abs(us as number) > LARGEST) {
    throw new Inexpressible(String(us));
  }
  return (us as number) / 1000;
}

interface Playable {
  call: Call;
  seed: number | undefined;
}

/** What the package needs to play a case, if it can say what the case does. */
function playable(each: Case): Playable | undefined {
  const { steps } = each;
  // The package always gives a seed, so a case that has none must not miss it; and a session
  // knows itself whether a repair was asked for.
  const needs = steps.some(
    ({ want_error: wrong, woken, down }) =>
      wrong?.field === "event.random" || (wrong?.field === "event.type" && !woken && !down),
  );
  if (needs || steps.some((step) => step.broken)) {
    return undefined;
  }
  try {
    const { seed, ...call } = members(each.members.call);
    for (const step of steps) {
      ms(step.wait_us ?? 0);
      for (const result of [step.attempt, step.repair, step.cancelled]) {
        if (typeof result === "object") {
          members(result);
        }
      }
    }
    return { call: call as Call, seed };
  } catch (error) {
    if (error instanceof Inexpressible) {
      return undefined;
    }
    throw error;
  }
}

function send(session: Session, step: Json, us: number, explain: boolean): Promise<Action> {
  const random = "random" in step ? step.random / 2 ** 32 : undefined;
  const when = { now: us / 1000, random };
  if (step.woken) {
    return session.woken(step.woken, when);
  }
  if (step.down) {
    return session.down(when);
  }
  if ("cancelled" in step) {
    const result = step.cancelled === true ? undefined : (members(step.cancelled) as Result);
    return session.cancelled(result, { now: when.now });
  }
  return session.next(members(step.attempt ?? step.repair) as Result, { ...when, explain });
}

async function play(each: Case, { call, seed }: Playable): Promise<void> {
  const policy = await Policy.load(each.members.policy, { check: false });
  const session = policy.session(call, { seed });
  let clock = each.clock;
  let pending = 0;
  for (const step of each.steps) {
    const waits = (step.wait_us ?? pending) + (step.takes_us ?? 0);
    clock += cutsShort(step) ? (step.after_us ?? 0) : waits;
    const answer = send(session, step, clock, Boolean(each.members.explain));
    if (step.want_error) {
      const { code, field = "" } = step.want_error;
      await assert.rejects(answer, (error: PluginError) => {
        assert.ok(error instanceof PluginError);
        assert.deepEqual([error.code, error.field], [code, field]);
        return true;
      });
      return;
    }
    const action = await answer;
    if (action.type === "stop") {
      const { result: _, ...outcome } = action.outcome;
      assert.deepEqual({ ...action, outcome }, readAction(step.want));
    } else {
      assert.deepEqual(action, readAction(step.want));
    }
    pending = step.want.delay_us ?? 0;
  }
}

const stepwise = load().filter((each) => each.steps.length > 0 && each.doors.includes("decide"));

test("cases through policy.session", { timeout: 600_000 }, async () => {
  const failed: string[] = [];
  let passed = 0;
  let skipped = 0;
  for (const each of stepwise) {
    const can = playable(each);
    if (!can) {
      skipped++;
      continue;
    }
    try {
      await play(each, can);
      passed++;
    } catch (error) {
      failed.push(`${each.file} ${each.name}: ${error}`);
    }
  }
  console.log(`sessions: ${passed} passed, ${failed.length} failed`);
  assert.deepEqual(failed, []);
  assert.ok(skipped < 0.2 * stepwise.length, `${skipped} cases cannot be said`);
});

test("the runner notices a difference", { timeout: 600_000 }, async () => {
  const instance = await Instance.of(await compile((await readWasm()).bytes));
  for (const door of ["decide", "run", "first", "resumed"] as Door[]) {
    const spoilt = stepwise.flatMap((each) => spoil(each, door)).slice(0, 20);
    assert.equal(spoilt.length, 20);
    for (const each of spoilt) {
      assert.notDeepEqual(await check(instance, each, door), [], `${each.name}, ${door}`);
    }
  }
  await instance.close();
});

/** The case with a delay that is a microsecond longer. */
function spoil(each: Case, door: Door): Case[] {
  const at = each.steps.findIndex(({ want }) => want?.delay_us > 0);
  if (at < 0 || !each.doors.includes(door)) {
    return [];
  }
  const steps = structuredClone(each.steps);
  steps[at]!.want.delay_us++;
  return [new Case(each.file, { ...each.members, steps })];
}
