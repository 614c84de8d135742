// Replays the contract's cases in Extism's JavaScript SDK. Run it in the repository's root.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { replay } from "../browser/replay.js";

// The SDK is installed elsewhere: where, the environment says.
const require = createRequire(pathToFileURL(`${process.env.OUTLAST_NODE_MODULES}/`));
const { createPlugin } = require("@extism/extism");

let host = {};

/** A host function. A block of one byte is at offset 0, which is none of the plugin's. */
function answer(name) {
  return (context, offset) => {
    const said = host[name](offset === 0n ? "" : context.read(offset).text());
    return said ? context.store(said) : 0n;
  };
}

const names = ["outlast_now", "outlast_sleep", "outlast_attempt"];
const functions = Object.fromEntries(names.map((name) => [name, answer(name)]));
const plugin = await createPlugin(await WebAssembly.compile(readFileSync("plugin/outlast.wasm")), {
  useWasi: true,
  functions: { "extism:host/user": functions },
});

/** The plugin in Extism's SDK, as the transcripts call it. */
const called = {
  async call(name, input, answers) {
    host = answers;
    await plugin.reset(); // its kernel never uses a block again
    return (await plugin.call(name, input)).text();
  },
};

const lines = gunzipSync(readFileSync("abi/transcripts/transcripts.jsonl.gz")).toString();
const exchanges = lines.trimEnd().split("\n").map((line) => JSON.parse(line));
let failed = 0;
for (const each of exchanges) {
  const problems = await replay(called, each);
  if (problems.length > 0) {
    failed++;
    console.log(`${each.case} ${each.door}: ${problems.join("; ")}`);
  }
}
console.log(`${exchanges.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
