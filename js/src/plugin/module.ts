/** Whether a WebAssembly module is a plugin of this contract. */

import { PluginError } from "../call/errors.js";
import { readKernel } from "./file.js";
import { HOST_FUNCTIONS, USER_MODULE } from "./host.js";
import { WASI } from "./wasi.js";

/** The export whose presence says which contract the plugin keeps. */
const MARKER = "outlast_abi_1";

const EXPORTS = ["describe", "check", "decide", "run"];

/** The module that has the functions of the plugin's memory. */
export const KERNEL_MODULE = "extism:host/env";

/** A plugin, and the module of its memory. */
export interface Code {
  readonly plugin: WebAssembly.Module;
  readonly kernel: WebAssembly.Module;
}

/**
 * Compiles a module, and looks at it before any code of it has run: what Node says of an
 * import that is missing does not name it.
 *
 * @throws PluginError if it is no module, or no plugin of this contract.
 */
export async function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Code> {
  let plugin: WebAssembly.Module;
  let kernel: WebAssembly.Module;
  try {
    plugin = await WebAssembly.compile(bytes);
    kernel = await WebAssembly.compile(await readKernel());
  } catch (cause) {
    throw new PluginError("compiling the plugin", String(cause), { cause });
  }
  const exported = new Set(WebAssembly.Module.exports(plugin).map((each) => each.name));
  for (const name of [MARKER, ...EXPORTS]) {
    if (!exported.has(name)) {
      throw new PluginError(
        "loading the plugin",
        `it has no export "${name}", so it is not a plugin of this contract`,
      );
    }
  }
  const given: Readonly<Record<string, readonly string[]>> = {
    [KERNEL_MODULE]: WebAssembly.Module.exports(kernel).map((each) => each.name),
    [USER_MODULE]: HOST_FUNCTIONS,
  };
  for (const wanted of WebAssembly.Module.imports(plugin)) {
    if (wanted.module !== WASI && !given[wanted.module]?.includes(wanted.name)) {
      throw new PluginError(
        "loading the plugin",
        `it imports "${wanted.name}" from "${wanted.module}", which this package does not give`,
      );
    }
  }
  return { plugin, kernel };
}
