// Benchmarks of the package, to be compared within one run:
//
//     npm run build && npm run bench
//
// The event loop's delay is what node:perf_hooks measures of timers, in steps of 1 ms: 1 ms
// or less of each figure is the measuring itself.

import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import { info, Plugin, Policy, retry, setHooks } from "outlast";
import { virtualTime } from "outlast/testing";

const READ = { remote: true, write: false };
const REFUSED =
  "Error: \n   0: error sending request for url (http://127.0.0.1:8080/)\n" +
  "   1: client error (Connect)\n   2: tcp connect error\n\n" +
  "Location:\n   crates/omnigraph-cli/src/client.rs:1\n";
const FAILED = { exitCode: 1, stderr: REFUSED };

setHooks([]);

function show(what, value, unit) {
  console.log(`${what.padEnd(66)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit}`);
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

/** Does some work, and gives the worst and the 99th delay of the event loop meanwhile. */
async function delayed(work) {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  await turn();
  histogram.enable();
  const value = await work();
  await pause(5); // so that the last delay is in it
  histogram.disable();
  return { value, worst: histogram.max / 1e6, p99: histogram.percentile(99) / 1e6 };
}

async function starting() {
  const program = `
    const began = performance.now();
    const { Policy, setHooks } = await import("outlast");
    const imported = performance.now();
    setHooks([]);
    const session = (await Policy.load("omnigraph")).session({ remote: true, write: false });
    await session.next({ exitCode: 1 });
    console.log(JSON.stringify([imported - began, performance.now() - imported]));
  `;
  const runs = Array.from({ length: 7 }, () => {
    const args = ["--input-type=module", "-e", program];
    const cwd = new URL("../", import.meta.url);
    return JSON.parse(spawnSync(process.execPath, args, { cwd }).stdout);
  });
  show("import", median(runs.map(([imported]) => imported)), "ms");
  show(
    "first failure of a process: load, compile, decide",
    median(runs.map(([, first]) => first)),
    "ms",
  );
}

async function deciding(policy) {
  const once = async () => {
    const began = performance.now();
    for (let i = 0; i < 2000; i++) {
      await policy.session(READ, { seed: i }).next(FAILED, { now: 0 });
    }
    return ((performance.now() - began) / 2000) * 1000;
  };
  await once();
  show("one decision", median([await once(), await once(), await once()]), "µs");
}

async function calling() {
  const time = async (count, failures) => {
    const began = performance.now();
    await virtualTime(async () => {
      for (let i = 0; i < count; i++) {
        let left = failures;
        await retry(() => {
          if (left-- > 0) {
            throw Object.assign(new Error("x"), { code: "ECONNREFUSED", syscall: "connect" });
          }
        }, READ);
      }
    });
    return ((performance.now() - began) / count) * 1000;
  };
  await time(1000, 1);
  show("a call that succeeds at once", await time(20_000, 0), "µs");
  show("a call that fails once, then succeeds", await time(2000, 1), "µs");
}

async function aborting(policy) {
  const took = [];
  for (let i = 0; i < 20; i++) {
    const controller = new AbortController();
    const run = policy.run(() => FAILED, READ, { signal: controller.signal });
    await pause(30);
    const began = performance.now();
    controller.abort();
    await run;
    took.push(performance.now() - began);
  }
  show("abort of a wait, until the outcome is there: the worst of 20", Math.max(...took), "ms");
}

async function waiting(policy, count) {
  const before = process.memoryUsage().rss;
  const controller = new AbortController();
  const { value, worst, p99 } = await delayed(async () => {
    const began = performance.now();
    const failing = () => FAILED;
    const { signal } = controller;
    const calls = Array.from({ length: count }, () => policy.run(failing, READ, { signal }));
    await pause(400);
    const each = (process.memoryUsage().rss - before) / count / 1024;
    await pause(2600); // each fails a second and a third time
    const aborted = performance.now();
    controller.abort();
    const outcomes = await Promise.all(calls);
    const attempts = outcomes.reduce((sum, outcome) => sum + outcome.attempts, 0);
    return { each, attempts, ended: performance.now() - aborted, all: aborted - began };
  });
  const calls = `${count.toLocaleString("en")} waiting calls`;
  show(`${calls}: memory of each`, value.each, "KiB");
  show(
    `${calls}: decisions a second, in 3 s of an outage`,
    value.attempts / (value.all / 1000),
    "",
  );
  show(`${calls}: abort of all, until every outcome is there`, value.ended, "ms");
  show(`${calls}: the event loop's delay, 99 %`, p99, "ms");
  show(`${calls}: the event loop's delay, worst`, worst, "ms");
}

/** Many requests that are refused at once: by themselves, and as calls that then wait. */
async function failing(count) {
  const nowhere = "http://127.0.0.1:2/"; // nobody listens there
  const post = () => fetch(nowhere, { method: "POST", body: "x" });
  const all = (ask) => Promise.all(Array.from({ length: count }, ask));
  await all(() => post().catch(() => {}));
  await retry(post, { remote: true, write: true, connectRetry: false }).catch(() => {});
  const bare = await delayed(() => all(() => post().catch(() => {})));
  const controller = new AbortController();
  const { signal } = controller;
  let left = count;
  const called = await delayed(
    () =>
      new Promise((waiting) => {
        const observe = ({ type }) => type === "waiting" && --left === 0 && waiting();
        const write = { remote: true, write: true };
        all(() => retry(post, write, { signal, observe }).catch(() => {}));
      }),
  );
  controller.abort();
  const requests = `${count.toLocaleString("en")} requests refused at once`;
  show(`${requests}: the event loop's delay, worst`, bare.worst, "ms");
  show(`${requests}, called by retry: the same`, called.worst, "ms");
}

/** Answers of a server in this process, while decisions are made as fast as can be. */
async function serving(policy) {
  const server = createServer((_, answer) => answer.end("x")).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  let on = true;
  const decide = async () => {
    while (on) {
      await policy.session(READ).next(FAILED, { now: 0 });
    }
  };
  const { value, worst, p99 } = await delayed(async () => {
    const busy = Array.from({ length: 500 }, decide);
    const took = [];
    for (let i = 0; i < 100; i++) {
      const began = performance.now();
      await (await fetch(url)).text();
      took.push(performance.now() - began);
    }
    on = false;
    await Promise.all(busy);
    return median(took);
  });
  server.close();
  server.closeAllConnections();
  show("while it decides without a pause: a request and its answer", value, "ms");
  show("while it decides without a pause: the event loop's delay, 99 %", p99, "ms");
  show("while it decides without a pause: the event loop's delay, worst", worst, "ms");
}

async function memory() {
  const plugin = new Plugin();
  await plugin.load();
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const more = Array.from({ length: 10 }, () => new Plugin());
  await Promise.all(more.map((each) => each.load()));
  globalThis.gc?.();
  show("memory of an instance", (process.memoryUsage().rss - before) / 10 / 2 ** 20, "MiB");
  await Promise.all([plugin, ...more].map((each) => each.close()));
}

const { version, sha256 } = await info();
console.log(`outlast ${version} (${sha256.slice(0, 12)}), Node ${process.version}\n`);
const policy = await Policy.load("omnigraph");
await starting();
await deciding(policy);
await calling();
await aborting(policy);
await serving(policy);
await memory();
await failing(1000);
await waiting(policy, 1000);
await waiting(policy, 10_000);
