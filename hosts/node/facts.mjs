// What Extism's JavaScript SDK does in Node with exports and host functions that
// misbehave. Each fact is a line "fact: ROW: WORDS", in words that come from what was
// seen. Run it in the repository's root: facts.mjs PROBE.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The SDK is installed elsewhere: where, the environment says.
const require = createRequire(pathToFileURL(`${process.env.OUTLAST_NODE_MODULES}/`));
const { createPlugin } = require("@extism/extism");
const module = await WebAssembly.compile(readFileSync("plugin/outlast.wasm"));
const probe = await WebAssembly.compile(readFileSync(process.argv[2]));
const CALL = { remote: true, write: false };
const EVENT = { type: "attempted", now_us: 1, result: { exit_code: 1, stderr: "graph is loading" } };

function boom() {
  throw new Error("boom");
}
const loading = () => EVENT;
const cancelled = () => ({ wait: "cancelled", now_us: 2 });

function load(outlast_sleep = boom, outlast_attempt = boom, more = {}) {
  const says = { outlast_now: boom, outlast_sleep, outlast_attempt };
  const functions = Object.entries(says).map(([name, answer]) => [
    name,
    (context) => {
      const said = answer();
      return said instanceof Promise ? said : context.store(JSON.stringify(said));
    },
  ]);
  return createPlugin(module, {
    useWasi: true,
    functions: { "extism:host/user": Object.fromEntries(functions) },
    ...more,
  });
}

/** The outcome's type, or the error's code. */
async function run(plugin) {
  const request = { policy: "omnigraph", call: { ...CALL, seed: 1, started_us: 0 } };
  const { ok, error } = (await plugin.call("run", JSON.stringify(request))).json();
  return ok?.outcome?.type ?? error?.code;
}

async function decide(plugin, seed = 1) {
  const request = { policy: "omnigraph", call: { ...CALL, seed }, event: EVENT };
  return (await plugin.call("decide", JSON.stringify(request))).text();
}

/** Whether the instance still decides. */
async function afterwards(plugin) {
  const answer = await decide(plugin).catch(String);
  return answer.startsWith('{"v":1,"ok"') ? "the instance goes on" : "the instance is lost";
}

async function code() {
  const plugin = await createPlugin(probe, { useWasi: true });
  try {
    return `not noticed; the output is given, \`${(await plugin.call("seven")).text()}\``;
  } catch (error) {
    return `an error, \`${error.message}\``;
  }
}

async function clock() {
  const told = await (await createPlugin(probe, { useWasi: true })).call("clock");
  const seen = told.getBigUint64(0, true) / 1_000_000n;
  return Math.abs(Date.now() - Number(seen)) < 600_000 ? "the real one" : `not the real one: ${seen} ms`;
}

async function missing() {
  try {
    await createPlugin(module, { useWasi: true });
    return "not noticed when it is loaded";
  } catch (error) {
    return error.message.includes("outlast_") ? "an error that names it" : "an error that does not name it";
  }
}

async function exception() {
  const plugin = await load();
  const said = await run(plugin).catch((error) => error);
  const words = said?.message === "boom" ? "it comes out of the call as it is" : `\`${said}\``;
  return `${words}; ${await afterwards(plugin)}`;
}

/** Whether a timer goes off while a host function waits. */
async function cancel() {
  const plugin = await load(() => {
    for (const until = performance.now() + 300; performance.now() < until; );
    return { wait: "cancelled", now_us: 2 };
  }, loading);
  let heard = false;
  setTimeout(() => {
    heard = true;
  }, 50);
  await run(plugin);
  const words = heard ? "a timer goes off meanwhile" : "none: no event is heard before the call returns";
  return `${words}; and an \`async\` host function fails with ${await waits()}`;
}

/** A host function that has to wait. */
async function waits() {
  const plugin = await load(boom, async () => EVENT);
  return run(plugin).then(
    (said) => `\`${said}\``,
    (error) => `\`${error.message}\``,
  );
}

async function shared() {
  const plugin = await load(boom, boom, { runInWorker: true });
  const answers = await Promise.allSettled([1, 2, 3, 4].map((seed) => decide(plugin, seed)));
  await plugin.close();
  const refused = answers.find(({ status }) => status === "rejected");
  return refused ? `a second call is refused, \`${refused.reason.message}\`` : "nothing seen";
}

async function apart() {
  const one = await load();
  const seeds = Array.from({ length: 50 }, (_, seed) => seed);
  const each = async (plugin) => {
    const answers = [];
    for (const seed of seeds) {
      answers.push(await decide(plugin, seed));
    }
    return answers;
  };
  const want = await each(one);
  const workers = await Promise.all([1, 2, 3, 4].map(() => load(boom, boom, { runInWorker: true })));
  const got = await Promise.all(workers.map(each));
  await Promise.all(workers.map((plugin) => plugin.close()));
  const wrong = got.flatMap((answers) => answers.filter((answer, seed) => answer !== want[seed]));
  return wrong.length ? `${wrong.length} of 200 wrong` : "all right, in workers";
}

const found = { code, clock, missing, exception, cancel, shared, apart };
for (const [row, find] of Object.entries(found)) {
  console.log(`fact: ${row}: ${(await find()).replaceAll("\n", " ")}`);
}
console.log(`fact: cancelled: \`${await run(await load(cancelled, loading))}\``);
process.exit(0);
