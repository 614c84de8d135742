// Calls and attempts as spans.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Policy, type Result, runCommand } from "outlast";
import { openTelemetry } from "outlast/opentelemetry";
import { virtualTime } from "outlast/testing";
import { after, READ, ROOT, refused, WRITE } from "../helpers.js";

const REPOSITORY = join(ROOT, "..");
const json = (...path: string[]) => JSON.parse(readFileSync(join(REPOSITORY, ...path), "utf8"));

const exporter = new InMemorySpanExporter();
const tracer = () => api.trace.getTracer("test");

function register(options = {}) {
  api.trace.disable();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors, ...options }));
}

api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

beforeEach(() => {
  register();
  exporter.reset();
});

/** The spans that ended, by their beginning. */
function spans(): ReadableSpan[] {
  const number = (span: ReadableSpan) => Number(span.attributes["outlast.attempt"] ?? 0);
  const all = exporter.getFinishedSpans();
  return all.sort(
    ({ startTime: [s, ns], ...a }, { startTime: [t, nt], ...b }) =>
      s - t || ns - nt || number(a as ReadableSpan) - number(b as ReadableSpan),
  );
}

const named = (name: string) => spans().filter((span) => span.name === name);

/** The name of each span and of that around it. */
function parents(): string[] {
  const names = new Map(spans().map((span) => [span.spanContext().spanId, span.name]));
  return spans().map(
    (span) => `${span.name} in ${names.get(span.parentSpanContext?.spanId ?? "")}`,
  );
}

/** Spans without what differs from run to run. */
function normal(all: ReadableSpan[]) {
  const of = (id = "") => all.find((span) => span.spanContext().spanId === id);
  const rounded = (value: unknown) => (typeof value === "number" ? +value.toFixed(6) : value);
  return all.map((span) => ({
    name: span.name,
    parent: of(span.parentSpanContext?.spanId)?.name ?? "",
    links: span.links.map((link) => of(link.context.spanId)?.attributes["outlast.attempt"]),
    status: span.status.code === api.SpanStatusCode.ERROR ? "error" : "unset",
    attributes: Object.fromEntries(
      Object.entries(span.attributes)
        .map(([name, value]) => [name, rounded(value)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  }));
}

/** The call of which each language keeps a trace: a server is refused twice, answers 503, and
 * then 200. */
async function riddenOut(): Promise<void> {
  const busy: Result = { httpStatus: 503, retryAfter: 2000 };
  const attempts = [refused(), refused(), busy, { httpStatus: 200 }];
  const attempt = () => {
    const next = attempts.shift()!;
    if (next instanceof Error) {
      throw next;
    }
    return next;
  };
  const observe = openTelemetry(api);
  const policy = await Policy.load("network");
  const call = { ...READ, label: "items" };
  const outcome = await virtualTime(() => policy.run(attempt, call, { observe, seed: 7 }));
  assert.deepEqual([outcome.type, outcome.attempts], ["ok", 4]);
}

test("the trace of a call that was ridden out", async () => {
  await riddenOut();
  assert.deepEqual(normal(spans()), json("tests/traces/node.json"));
  const { version } = json("js/package.json");
  assert.deepEqual(
    spans().map(({ instrumentationScope: scope }) => `${scope.name} ${scope.version}`),
    Array(5).fill(`outlast ${version}`),
  );
});

test("names are those of all hosts", () => {
  const known = new Map<string, Map<string, string>>(
    json("abi/telemetry.json").spans.map(
      (span: { name: string; attributes: { name: string; type: string }[] }) => [
        span.name,
        new Map(span.attributes.map(({ name, type }) => [name, type])),
      ],
    ),
  );
  for (const { name, attributes } of json("tests/traces/node.json")) {
    for (const [attribute, value] of Object.entries(attributes)) {
      const type = known.get(name)?.get(attribute);
      assert.equal(typeof value, type === "string" ? "string" : "number", attribute);
      assert.ok(type !== "int" || Number.isInteger(value), attribute);
    }
  }
});

test("the client's own spans are in those of attempts, while calls take turns", async () => {
  const policy = await Policy.load("network");
  const observe = openTelemetry(api);
  const call = () =>
    tracer().startActiveSpan("work", async (span) => {
      const fail = after(1, () => ({ failure: "unconnected" }));
      const attempt = async () => {
        await null;
        tracer().startActiveSpan("GET", (child) => child.end());
        return fail();
      };
      await virtualTime(() => policy.run(attempt, READ, { observe }));
      span.end();
    });
  await Promise.all([call(), call(), call()]);
  const one = ["work in undefined", "outlast.call in work"];
  one.push("outlast.attempt in outlast.call", "GET in outlast.attempt");
  one.push("outlast.attempt in outlast.call", "GET in outlast.attempt");
  assert.deepEqual(parents().sort(), [...one, ...one, ...one].sort());
  assert.equal(new Set(spans().map((span) => span.spanContext().traceId)).size, 3);
  assert.equal(api.trace.getActiveSpan(), undefined);
});

test("a command", async () => {
  const argv = [process.execPath, "-e", "process.exit(3)"];
  const done = await runCommand(argv, READ, { policy: "network", observe: openTelemetry(api) });
  assert.equal(done.exitCode, 3);
  assert.equal(named("outlast.attempt")[0]!.attributes["error.type"], "_OTHER");
  assert.equal(named("outlast.call")[0]!.attributes["error.type"], "failed");
  assert.deepEqual(new Set(spans().map((span) => span.status.code)), new Set([2]));
});

test("a write that may have been applied", async () => {
  const policy = await Policy.load("network");
  await policy.run(() => ({ failure: "broke" }), WRITE, { observe: openTelemetry(api) });
  const [call, attempt] = [named("outlast.call")[0]!, named("outlast.attempt")[0]!];
  assert.equal(call.attributes["outlast.effects"], "unknown");
  assert.equal(call.attributes["error.type"], "indeterminate");
  assert.ok(!("outlast.waited" in call.attributes));
  assert.equal(attempt.attributes["error.type"], "broke");
  assert.equal(attempt.attributes["outlast.kind"], call.attributes["outlast.kind"]);
});

test("what ends a call without an outcome", async () => {
  const policy = await Policy.load("network");
  const attempt = () => {
    throw new RangeError("none of a server's");
  };
  await assert.rejects(policy.run(attempt, READ, { observe: openTelemetry(api) }), RangeError);
  const errors = spans().map((span) => span.attributes["error.type"]);
  assert.deepEqual(errors, ["RangeError", "RangeError"]);
  assert.ok(!("outlast.outcome" in named("outlast.call")[0]!.attributes));
});

test("a call that is given up", async () => {
  const policy = await Policy.load("network");
  const give = new AbortController();
  const attempt = () => {
    give.abort();
    return { failure: "unconnected" } as const;
  };
  await policy.run(attempt, READ, { observe: openTelemetry(api), signal: give.signal });
  const [call] = named("outlast.call");
  assert.equal(call!.attributes["outlast.outcome"], "cancelled");
  assert.equal(spans().length, 2);
});

test("the time of an attempt is its own, though its span ends when the policy has decided", async () => {
  const span = tracer().startSpan("call");
  const call = openTelemetry(api).begin(READ, "network", "")!;
  await new Promise<void>((resolve) => {
    call.attempt!(1, 0, async () => setImmediate(resolve));
  });
  const told = { call: READ, policy: "network", command: "" };
  const result = { failure: "broke" } as const;
  call.tell({ type: "attemptEnded", attempt: 1, at: 0, ok: false, result, ...told });
  const later = performance.now() + 30;
  while (performance.now() < later) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(spans().length, 0);
  call.end!(new Error("over"));
  span.end();
  const [attempt] = named("outlast.attempt");
  const ms = ([s, ns]: [number, number]) => s * 1000 + ns / 1e6;
  assert.ok(ms(attempt!.duration as [number, number]) < 25, String(attempt!.duration));
});

test("a trace that is not sampled, and one that nobody takes", async () => {
  register({ sampler: new AlwaysOffSampler() });
  await riddenOut();
  api.trace.disable();
  await riddenOut();
  assert.deepEqual(spans(), []);
});
