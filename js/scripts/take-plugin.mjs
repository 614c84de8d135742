// Takes the plugin and its recorded digest into what is built. It is beside this
// folder in a checkout of the project, where the project's own build puts it.
import { copyFileSync, mkdirSync } from "node:fs";

const checkout = new URL("../../plugin/", import.meta.url);
const packaged = new URL("../dist/plugin/", import.meta.url);

mkdirSync(packaged, { recursive: true });
for (const name of ["outlast.wasm", "outlast.wasm.sha256"]) {
  copyFileSync(new URL(name, checkout), new URL(name, packaged));
}
