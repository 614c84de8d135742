/** The plugin on WebAssembly as Node has it. */

import { PluginError } from "../call/errors.js";
import { HOST_FUNCTIONS, type Host, USER_MODULE } from "./host.js";
import { Memory } from "./memory.js";
import { type Code, KERNEL_MODULE } from "./module.js";
import { WASI, wasi } from "./wasi.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One instance of the plugin, for one call at a time. */
export class Instance {
  readonly #memory: Memory;
  readonly #exports: WebAssembly.Exports;
  #host: Host | undefined;
  #failed: { error: unknown } | undefined;

  private constructor({ plugin, kernel }: Code) {
    this.#memory = new Memory(kernel);
    const instance = new WebAssembly.Instance(plugin, {
      [KERNEL_MODULE]: this.#memory.functions,
      [USER_MODULE]: Object.fromEntries(
        HOST_FUNCTIONS.map((name) => [name, (offset: bigint) => this.#answer(name, offset)]),
      ),
      [WASI]: wasi(plugin, () => this.#exports.memory as WebAssembly.Memory),
    });
    this.#exports = instance.exports;
    this.#exported("_initialize")?.();
  }

  /**
   * A new instance.
   *
   * @throws PluginError if the module does not start.
   */
  static of(code: Code): Instance {
    try {
      return new Instance(code);
    } catch (cause) {
      throw new PluginError("starting the plugin", textOf(cause), { cause });
    }
  }

  /**
   * Gives a request to an export, and gets its answer.
   *
   * @param name One of the contract's exports.
   * @param data The request.
   * @param host Answers the host functions; without one they fail.
   * @throws Error if the plugin failed. The instance must not be used again then.
   */
  call(name: string, data: string | Uint8Array, host?: Host): string {
    this.#memory.start(typeof data === "string" ? encoder.encode(data) : data);
    this.#host = host;
    let code: unknown;
    try {
      code = this.#exported(name)?.();
    } finally {
      this.#host = undefined;
      this.#rethrow();
    }
    if (code !== 0) {
      throw new Error(`the plugin's export ${name} gave ${code}, and not 0`);
    }
    return decoder.decode(this.#memory.output());
  }

  #exported(name: string): (() => unknown) | undefined {
    return this.#exports[name] as (() => unknown) | undefined;
  }

  /** Answers with 0 whatever goes wrong: an error cannot pass through the plugin. */
  #answer(name: keyof Host, offset: bigint): bigint {
    try {
      const answer = this.#host?.[name](decoder.decode(this.#memory.block(offset)));
      return answer ? this.#memory.give(encoder.encode(answer)) : 0n;
    } catch (error) {
      this.#failed ??= { error };
      return 0n;
    }
  }

  #rethrow(): void {
    const failed = this.#failed;
    this.#failed = undefined;
    if (failed) {
      throw failed.error;
    }
  }
}

/** What was thrown, in words: an Error or anything else. */
export function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
