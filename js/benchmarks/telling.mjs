// What each hook adds to a call that succeeds at once: the figures of docs/node.md.
//
//     npm run build && node benchmarks/telling.mjs
//
// The hooks take turns, so that other work on the machine meets all of them; each figure is
// the least of its rounds.

import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { AlwaysOffSampler, BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { logTo, Policy, setHooks } from "outlast";
import { openTelemetry } from "outlast/opentelemetry";
import { prometheus } from "outlast/prometheus";
import * as client from "prom-client";

const [ROUNDS, CALLS] = [40, 2000];
const READ = { remote: true, write: false };

api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

/** The hook, whose spans a provider makes. */
const traced = (options) => () => {
  api.trace.disable();
  api.trace.setGlobalTracerProvider(new BasicTracerProvider(options));
  return [openTelemetry(api)];
};

const metrics = prometheus(client);
const logs = logTo(console);
const hooks = {
  none: () => [],
  "a function": () => [() => {}],
  logTo: () => [logs],
  Prometheus: () => [metrics],
  "OpenTelemetry, no SDK": () => [openTelemetry(api)],
  "OpenTelemetry, not sampled": traced({ sampler: new AlwaysOffSampler() }),
  OpenTelemetry: traced({}),
};

const policy = await Policy.load("network");

async function round() {
  const began = performance.now();
  for (let i = 0; i < CALLS; i++) {
    await policy.run(() => ({ exitCode: 0 }), READ);
  }
  return ((performance.now() - began) / CALLS) * 1000;
}

const least = {};
for (let i = 0; i < ROUNDS; i++) {
  for (const [name, some] of Object.entries(hooks)) {
    api.trace.disable();
    setHooks(some());
    least[name] = Math.min(least[name] ?? Infinity, await round());
  }
}
for (const [name, us] of Object.entries(least)) {
  console.log(`${name.padEnd(28)}${us.toFixed(1)} µs  +${(us - least.none).toFixed(1)} µs`);
}
