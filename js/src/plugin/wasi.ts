/** What Go's runtime asks of WASI. The policy asks for nothing of it, so there are no files,
 * no arguments and no environment. */

import { getRandomValues } from "node:crypto";

/** The module that has these functions. */
export const WASI = "wasi_snapshot_preview1";

/** Of WASI's error numbers. */
const DONE = 0;
const NO_SUCH_FILE = 8;

/**
 * The functions of WASI that a module imports. Those that are not here are about files.
 *
 * @param memory The module's memory, once it has one.
 */
export function wasi(
  module: WebAssembly.Module,
  memory: () => WebAssembly.Memory,
): WebAssembly.ModuleImports {
  const view = () => new DataView(memory().buffer);
  const nothing = (count: number, size: number) => {
    view().setUint32(count, 0, true);
    view().setUint32(size, 0, true);
    return DONE;
  };
  const functions: WebAssembly.ModuleImports = {
    args_get: () => DONE,
    args_sizes_get: nothing,
    clock_time_get(_id: number, _precision: bigint, at: number) {
      view().setBigUint64(at, BigInt(Date.now()) * 1_000_000n, true);
      return DONE;
    },
    environ_get: () => DONE,
    environ_sizes_get: nothing,
    poll_oneoff: () => DONE,
    proc_exit(code: number) {
      throw new Error(`the plugin ended itself with ${code}`);
    },
    random_get(at: number, length: number) {
      getRandomValues(new Uint8Array(memory().buffer, at, length));
      return DONE;
    },
    sched_yield: () => DONE,
  };
  const wanted = WebAssembly.Module.imports(module).filter((each) => each.module === WASI);
  return Object.fromEntries(
    wanted.map(({ name }) => [name, functions[name] ?? (() => NO_SUCH_FILE)]),
  );
}
