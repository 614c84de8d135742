// Takes into what is built, as a module of JavaScript, the plugin, its recorded digest, the
// module of its memory, the documents of the policies for common commands and of those that the
// plugin carries, and the package's version. They are beside this folder in a checkout of the
// project, where the project's own build puts the plugin.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";

const plugin = new URL("../../plugin/", import.meta.url);
const builtIn = new URL("policy/builtin/", plugin);
const commands = new URL("../../commands/", import.meta.url);

const QUALITY = 9; // of 11, which takes ten times as long for a tenth less

const own = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const policies = readdirSync(commands)
  .map((name) => [name, new URL(`${name}/policy.json`, commands)])
  .filter(([, policy]) => existsSync(policy))
  .map(([name, policy]) => [name, readFileSync(policy, "utf8")]);

const documents = readdirSync(builtIn).map((file) => {
  const document = JSON.parse(readFileSync(new URL(file, builtIn), "utf8"));
  return [document.name, JSON.stringify(document)];
});

const inlined = {
  WASM: brotliCompressSync(readFileSync(new URL("outlast.wasm", plugin)), {
    params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY },
  }).toString("base64"),
  SHA256: readFileSync(new URL("outlast.wasm.sha256", plugin), "utf8").trim(),
  KERNEL: readFileSync(new URL("kernel.wasm", plugin)).toString("base64"),
  VERSION: own.version,
  POLICIES: Object.fromEntries(policies),
  BUILT_IN: Object.fromEntries(documents),
};

const lines = Object.entries(inlined).map(
  ([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`,
);
writeFileSync(new URL("../dist/plugin/inlined.js", import.meta.url), lines.join(""));
