// Takes the plugin, its recorded digest and the policies for common commands into
// what is built. They are beside this folder in a checkout of the project, where the
// project's own build puts the plugin.
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";

const checkout = new URL("../../plugin/", import.meta.url);
const packaged = new URL("../dist/plugin/", import.meta.url);

mkdirSync(packaged, { recursive: true });
for (const name of ["outlast.wasm", "outlast.wasm.sha256"]) {
  copyFileSync(new URL(name, checkout), new URL(name, packaged));
}

const commands = new URL("../../commands/", import.meta.url);
const policies = new URL("policies/", packaged);

mkdirSync(policies, { recursive: true });
for (const name of readdirSync(commands)) {
  const policy = new URL(`${name}/policy.json`, commands);
  if (existsSync(policy)) {
    copyFileSync(policy, new URL(`${name}.json`, policies));
  }
}
