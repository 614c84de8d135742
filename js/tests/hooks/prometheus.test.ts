// What is counted for Prometheus.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { type CallEvent, Policy, type Release, runCommand } from "outlast";
import { prometheus } from "outlast/prometheus";
import { virtualTime } from "outlast/testing";
import * as client from "prom-client";
import { after, FAILED, READ, ROOT } from "../helpers.js";

const TOLD = { call: READ, policy: "omnigraph", command: "" };

/** A hook, and what it has counted. */
function counted() {
  const registry = new client.Registry();
  const hook = prometheus(client, [registry]);

  async function value(name: string, labels: Record<string, string> = {}) {
    const metric = await registry
      .getSingleMetric(`outlast_${name.replace(/_(sum|count)$/, "")}`)!
      .get();
    const wanted = Object.entries({ policy: "omnigraph", command: "", ...labels });
    const found = metric.values.find(
      (each) =>
        ((each as { metricName?: string }).metricName ?? metric.name) === `outlast_${name}` &&
        wanted.every(([label, text]) => String(each.labels[label]) === text),
    );
    return found?.value;
  }

  /** One call that is told so much; a number is when an attempt begins. */
  function call(...told: (CallEvent | number)[]): void {
    const one = hook.begin(READ, "omnigraph", "")!;
    for (const each of told) {
      if (typeof each === "number") {
        one.attempt!(1, each, async () => undefined);
      } else {
        one.tell(each);
      }
    }
  }
  return { registry, hook, value, call };
}

const ended = (at: number): CallEvent => ({
  ...{ type: "attemptEnded", attempt: 1, ok: false, result: FAILED, at, ...TOLD },
});

const waiting = (at: number, remaining: number | undefined, again = false): CallEvent => ({
  ...{ type: "waiting", kind: "unavailable", budget: "b", attempt: 2, delay: 9000, ...TOLD },
  ...{ remaining, at, again },
});

const woken = (at: number): CallEvent => ({ type: "woken", by: "ready", at, ...TOLD });

test("a call that succeeds in the end, one at once, one that never does", async () => {
  const { hook: observe, value } = counted();
  const policy = await Policy.load("omnigraph");
  let waited = await virtualTime(async (clock) => {
    await policy.run(
      after(2, () => FAILED),
      READ,
      { observe },
    );
    await policy.run(() => ({ exitCode: 0 }), READ, { observe });
    return clock.now();
  });
  const close = async (name: string, wanted: number) =>
    assert.ok(Math.abs((await value(name))! - wanted) < 1e-3, name);
  await close("budget_used_ratio_sum", waited / 150_000);
  waited += await virtualTime(async (clock) => {
    await policy.run(() => FAILED, READ, { observe });
    return clock.now();
  });
  assert.equal(await value("attempts_total", { ok: "true" }), 2);
  assert.equal(await value("calls_total", { outcome: "ok", kind: "unavailable" }), 1);
  assert.equal(await value("calls_total", { outcome: "ok", kind: "none" }), 1);
  assert.equal(await value("calls_total", { outcome: "exhausted", kind: "unavailable" }), 1);
  const retries = { kind: "unavailable", budget: "unavailable" };
  assert.ok((await value("retries_total", retries))! > 15);
  assert.equal(await value("retried_call_seconds_count", { outcome: "ok" }), 1);
  await close("wait_seconds_total", waited / 1000);
  assert.equal(await value("budget_used_ratio_count"), 2);
});

test("wakes, and those that were in vain", async () => {
  const { call, value } = counted();
  call(0, ended(0), waiting(0, 20_000));
  // What woke it first was not heeded.
  const first = [0, ended(1000), waiting(1000, 20_000), woken(3000), waiting(3000, 18_000, true)];
  call(...first, woken(4000), 4000, ended(4000), waiting(4000, 17_000), woken(6000), 6000);
  assert.equal(await value("wakes_total"), 2);
  assert.equal(await value("vain_wakes_total"), 1);
  assert.equal(await value("retries_total", { kind: "unavailable", budget: "b" }), 3);
  assert.equal(await value("wait_seconds_total"), 5);
});

test("the share of the fullest budget", async () => {
  const { call, value } = counted();
  const outcome = await (await Policy.load("omnigraph")).run(() => ({ exitCode: 0 }), READ);
  const stopped: CallEvent = { type: "stopped", outcome, at: 11_000, ...TOLD };
  call(ended(1000), waiting(1000, 20_000), ended(5000), waiting(5000, 16_000), stopped);
  assert.equal(await value("budget_used_ratio_sum"), 0.5);
  call(ended(1000), waiting(1000, undefined), stopped); // no window
  assert.equal(await value("budget_used_ratio_count"), 1);
});

test("a followed policy, and instances that failed", async () => {
  const { call, value } = counted();
  const release = {
    serial: 9,
    source: "s",
    since: new Date(0),
    expires: new Date(7000),
  } as Release;
  call({ type: "policyInForce", digest: "d", release, ...TOLD });
  call({ type: "instanceReplaced", error: new Error(), ...TOLD });
  assert.equal(await value("policy_serial"), 9);
  assert.equal(await value("policy_expires_timestamp_seconds"), 7);
  assert.equal(await value("instances_replaced_total"), 1);
});

test("a command is a label", async () => {
  const { hook: observe, value } = counted();
  await runCommand([process.execPath, "-e", ""], READ, { policy: "network", observe });
  const labels = { policy: "network", command: basename(process.execPath), ok: "true" };
  assert.equal(await value("attempts_total", labels), 1);
});

interface Named {
  name: string;
  type: string;
  counts: string;
  labels: string[];
  buckets?: number[];
  hosts?: string[];
}

test("names are those of all hosts", () => {
  const { registry } = counted();
  const ours = registry.getMetricsAsArray().map((metric) => {
    const { name, help, labelNames, type, buckets } = metric as unknown as Record<string, unknown>;
    const kind = metric instanceof client.Counter ? "counter" : (type ?? kindOf(metric));
    return [name, kind, help, labelNames, ...(buckets ? [buckets] : [])];
  });
  const file = readFileSync(join(ROOT, "../abi/telemetry.json"), "utf8");
  const theirs = (JSON.parse(file).metrics as Named[])
    .filter(({ hosts }) => !hosts || hosts.includes("node"))
    .map(({ name, type, counts, labels, buckets }) => [
      ...[name, type, counts, labels],
      ...(buckets ? [buckets] : []),
    ]);
  const byName = (list: unknown[][]) => list.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  assert.deepEqual(byName(ours), byName(theirs));
});

function kindOf(metric: unknown): string {
  return metric instanceof client.Gauge ? "gauge" : "histogram";
}
