// The contract's cases through the package's own door, policy.session. What it asks of the
// plugin must decode as the transcripts' requests do, so its encoders are tested too.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Action, type Call, PluginError, Policy, type Result, type Session } from "outlast";
import { readAction } from "../../dist/call/action.js";
import { Plugin } from "../../dist/plugin/plugin.js";
import { type Exchange, load } from "./transcripts.js";

// biome-ignore lint/suspicious/noExplicitAny: what a request has, the contract tells
type Json = Record<string, any>;

/** Microseconds up to which milliseconds give the same microseconds again. */
const LARGEST = 1e14;

class Inexpressible extends Error {}

/** Members as the package names them, if it can say them. */
function members(wire: Json): Json {
  return Object.fromEntries(
    Object.entries(wire).map(([name, value]) => {
      const later = ["failure", "only_request", "refuses_before_acting"].includes(name);
      if (later || /_(head|tail)$/.test(name) || value === null || typeof value === "object") {
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

interface Step {
  request: Json;
  answer: Json;
}

/** Cases, each with its requests and what answers them. */
function decided(): Map<string, Step[]> {
  const cases = new Map<string, Step[]>();
  for (const each of load().filter(({ door }: Exchange) => door === "decide")) {
    const steps = cases.get(each.case) ?? [];
    steps.push({ request: JSON.parse(each.input ?? ""), answer: JSON.parse(each.output) });
    cases.set(each.case, steps);
  }
  return cases;
}

/** Whether the package can say what the case does. */
function expressible(steps: Step[]): boolean {
  const last = steps.at(-1)!;
  const field = last.answer.error?.field;
  // The package always gives a seed, so a case that has none must not miss it; and a session
  // knows itself whether a repair was asked for.
  if (field === "event.random" || (field === "event.type" && last.request.event.result)) {
    return false;
  }
  try {
    for (const { request } of steps) {
      members(request.call);
      ms(request.event.now_us);
      members(request.event.result ?? {});
    }
    return true;
  } catch (error) {
    if (error instanceof Inexpressible) {
      return false;
    }
    throw error;
  }
}

function send(session: Session, { event, explain = false }: Json): Promise<Action> {
  const random = "random" in event ? event.random / 2 ** 32 : undefined;
  const when = { now: ms(event.now_us), random };
  const result = event.result && (members(event.result) as Result);
  switch (event.type) {
    case "woken":
      return session.woken(event.by, when);
    case "down":
      return session.down(when);
    case "not_ready":
      return session.notReady(when);
    case "cancelled":
      return session.cancelled(result, { now: when.now });
    default:
      return session.next(result, { ...when, explain });
  }
}

async function play(steps: Step[], sent: Json[]): Promise<void> {
  const { policy: source, call: wire } = steps[0]!.request;
  const policy = await Policy.load(source, { check: false });
  const { seed, ...call } = members(wire);
  const session = policy.session(call as Call, { seed });
  for (const { request, answer } of steps) {
    const said = send(session, request);
    if (answer.error) {
      const { code, field = "" } = answer.error;
      await assert.rejects(said, (error: PluginError) => {
        assert.ok(error instanceof PluginError);
        assert.deepEqual([error.code, error.field], [code, field]);
        return true;
      });
    } else {
      assert.deepEqual(withoutResult(await said), readAction(answer.ok.action));
    }
    assert.deepEqual(withoutChoices(sent.at(-1)!, request), withoutChoices(request, request));
  }
}

function withoutResult(action: Action): Action {
  if (action.type !== "stop") {
    return action;
  }
  const { result: _, ...outcome } = action.outcome;
  return { ...action, outcome };
}

/** A request without what the package decides: how it names the policy, and a seed where the
 * case has none. Members that have their default may be left out. */
function withoutChoices({ policy: _, call, ...rest }: Json, like: Json): Json {
  const defaults: Json = {
    label: "",
    surface_conflict: false,
    connect_retry: true,
    repeatable: false,
  };
  const told = Object.entries(call).filter(
    ([name, value]) => defaults[name] !== value && (name !== "seed" || "seed" in like.call),
  );
  return { ...rest, call: Object.fromEntries(told) };
}

test("cases through policy.session", { timeout: 600_000 }, async (t) => {
  const sent: Json[] = [];
  const ask = Plugin.prototype.ask;
  t.mock.method(Plugin.prototype, "ask", function (this: Plugin, ...asked: Parameters<typeof ask>) {
    const [name, request] = asked;
    if (name === "decide") {
      sent.push(JSON.parse(request));
    }
    return ask.apply(this, asked);
  });
  const failed: string[] = [];
  const cases = decided();
  let passed = 0;
  for (const [name, steps] of cases) {
    if (!expressible(steps)) {
      continue;
    }
    try {
      await play(steps, sent);
      passed++;
    } catch (error) {
      failed.push(`${name}: ${error}`);
    }
  }
  console.log(`sessions: ${passed} passed, ${failed.length} failed`);
  assert.deepEqual(failed, []);
  assert.ok(passed > 0.8 * cases.size, `of ${cases.size} cases ${passed} can be said`);
});
