/** Whether a WebAssembly module is a plugin of this contract. */

import { PluginError } from "../call/errors.js";
import { HOST_FUNCTIONS, USER_MODULE } from "./host.js";

/** The export whose presence says which contract the plugin keeps. */
const MARKER = "outlast_abi_1";

const EXPORTS = ["describe", "check", "decide", "run"];

const KERNEL = "alloc free length load_u8 load_u64 store_u8 store_u64 input_length";

/** What a plugin may import, by the module that gives it. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  "extism:host/env": `${KERNEL} input_load_u8 input_load_u64 output_set error_set`.split(" "),
  [USER_MODULE]: HOST_FUNCTIONS,
};

/** The module that has the functions of WASI, which Node gives. */
const WASI = "wasi_snapshot_preview1";

/**
 * Compiles a module, and looks at it before any code of it has run: what Node says of an
 * import that is missing does not name it.
 *
 * @throws PluginError if it is no module, or no plugin of this contract.
 */
export async function compile(bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  let module: WebAssembly.Module;
  try {
    module = await WebAssembly.compile(bytes);
  } catch (cause) {
    throw new PluginError("compiling the plugin", String(cause), { cause });
  }
  const exported = new Set(WebAssembly.Module.exports(module).map((each) => each.name));
  for (const name of [MARKER, ...EXPORTS]) {
    if (!exported.has(name)) {
      throw new PluginError(
        "loading the plugin",
        `it has no export "${name}", so it is not a plugin of this contract`,
      );
    }
  }
  for (const wanted of WebAssembly.Module.imports(module)) {
    if (wanted.module !== WASI && !GIVEN[wanted.module]?.includes(wanted.name)) {
      throw new PluginError(
        "loading the plugin",
        `it imports "${wanted.name}" from "${wanted.module}", which this package does not give`,
      );
    }
  }
  return module;
}
