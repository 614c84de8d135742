// What a browser, and what is written here for it, does with exports and host functions
// that misbehave. Each fact is a line "fact: ROW: WORDS", and WORDS come from what was seen.

import { Plugin } from "./outlast.js";

const CALL = { remote: true, write: false };
const EVENT = { type: "attempted", now_us: 1, result: { exit_code: 1, stderr: "graph is loading" } };
const THREADS = 4;

export function decide(plugin, seed) {
  const request = { policy: "omnigraph", call: { ...CALL, seed }, event: EVENT };
  return plugin.call("decide", JSON.stringify(request));
}

function run(plugin, host) {
  const request = { policy: "omnigraph", call: { ...CALL, seed: 1, started_us: 0 } };
  const { ok, error } = JSON.parse(plugin.call("run", JSON.stringify(request), host));
  return ok?.outcome?.type ?? error?.code;
}

export async function facts(url, probeUrl) {
  const module = await WebAssembly.compileStreaming(fetch(url));
  const probe = new Plugin(await WebAssembly.compileStreaming(fetch(probeUrl)));
  const found = {
    code: code(probe),
    clock: clock(probe),
    missing: missing(module),
    exception: exception(new Plugin(module)),
    cancelled: cancelled(new Plugin(module)),
    cancel: await cancel(new Plugin(module)),
    shared: shared(),
    apart: await apart(module),
  };
  return Object.entries(found).map(([row, words]) => `fact: ${row}: ${words}`);
}

function code(probe) {
  try {
    probe.call("seven", "");
    return "not noticed";
  } catch (error) {
    return `an error, \`${error.message}\`; the output is lost`;
  }
}

function clock(probe) {
  const told = probe.bytes("clock", "");
  const seen = new DataView(told.buffer, told.byteOffset).getBigUint64(0, true) / 1_000_000n;
  return Math.abs(Date.now() - Number(seen)) < 600_000 ? "the real one" : `not the real one: ${seen} ms`;
}

/** Everything that is asked for, except outlast's host functions. */
function missing(module) {
  const anything = new Proxy({}, { get: () => () => 0 });
  const imports = {
    wasi_snapshot_preview1: anything,
    "extism:host/env": anything,
    "extism:host/user": {},
  };
  try {
    new WebAssembly.Instance(module, imports);
    return "not noticed when it is loaded";
  } catch (error) {
    const named = error.message.includes("outlast_");
    return named ? "an error that names it" : `\`${error.message}\``;
  }
}

function exception(plugin) {
  const boom = new Error("boom");
  const outlast_attempt = () => {
    throw boom;
  };
  let said = "swallowed";
  try {
    run(plugin, { outlast_attempt });
  } catch (error) {
    said = error === boom ? "it comes out of the call as it is" : "an error comes out of the call";
  }
  return `${said}; ${decide(plugin, 1).startsWith('{"v":1,"ok"') ? "the instance goes on" : "the instance is lost"}`;
}

function cancelled(plugin) {
  const outlast_sleep = () => JSON.stringify({ wait: "cancelled", now_us: 2 });
  const outlast_attempt = () => JSON.stringify(EVENT);
  return `\`${run(plugin, { outlast_sleep, outlast_attempt })}\``;
}

/** Whether a timer goes off while a host function waits. */
async function cancel(plugin) {
  let heard = false;
  setTimeout(() => {
    heard = true;
  }, 50);
  const outlast_sleep = () => {
    for (const until = performance.now() + 300; performance.now() < until; );
    return JSON.stringify({ wait: "cancelled", now_us: 2 });
  };
  run(plugin, { outlast_sleep, outlast_attempt: () => JSON.stringify(EVENT) });
  return heard ? "a timer goes off meanwhile" : "none: no event is heard before the call returns";
}

/** Whether an instance, of the smallest module that there is, can be given to another thread. */
function shared() {
  const empty = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  const { port1, port2 } = new MessageChannel();
  try {
    port1.postMessage(new WebAssembly.Instance(empty));
    return "it can be given away";
  } catch (error) {
    return `cannot be: \`${error.name}\``;
  } finally {
    port2.close();
  }
}

async function apart(module) {
  const one = new Plugin(module);
  const want = Array.from({ length: 50 }, (_, seed) => decide(one, seed));
  const answers = await Promise.all(Array.from({ length: THREADS }, () => elsewhere(module)));
  const wrong = answers.flatMap((got) => got.filter((answer, seed) => answer !== want[seed]));
  return wrong.length ? `${wrong.length} of ${THREADS * 50} wrong` : "all right, in workers";
}

function elsewhere(module) {
  const worker = new Worker("worker.js", { type: "module" });
  return new Promise((resolve, reject) => {
    worker.onerror = reject;
    worker.onmessage = ({ data }) => {
      worker.terminate();
      resolve(data);
    };
    worker.postMessage(module);
  });
}
