/** The plugin on Extism's runtime. Importing this module imports nothing of it. */

import { createRequire } from "node:module";
import type { CallContext, Plugin as ExtismPlugin } from "@extism/extism";
import { PluginError } from "../call/errors.js";
import { HOST_FUNCTIONS, type Host, USER_MODULE } from "./host.js";

/** One instance of the plugin, for one call at a time: a call and the reading of its
 * output are two steps. */
export class Instance {
  readonly #plugin: ExtismPlugin;
  readonly #hosts: Hosts;

  private constructor(plugin: ExtismPlugin, hosts: Hosts) {
    this.#plugin = plugin;
    this.#hosts = hosts;
  }

  /**
   * A new instance.
   *
   * @throws PluginError if the module does not start.
   */
  static async of(module: WebAssembly.Module): Promise<Instance> {
    const hosts = new Hosts();
    try {
      quietly(() => createRequire(import.meta.url)("node:wasi"));
      const { createPlugin } = await import("@extism/extism");
      const plugin = await createPlugin(module, {
        useWasi: true,
        enableWasiOutput: false,
        functions: { [USER_MODULE]: hosts.functions() },
      });
      return new Instance(plugin, hosts);
    } catch (thrown) {
      throw new PluginError("starting the plugin", textOf(thrown), { cause: thrown });
    }
  }

  /**
   * Gives a request to an export, and gets its answer.
   *
   * @param name One of the contract's exports.
   * @param data The request.
   * @param host Answers the host functions; without one they fail.
   * @throws Error if the plugin failed. The instance must be closed then.
   */
  async call(name: string, data: string | Uint8Array, host?: Host): Promise<string> {
    // Extism's kernel never uses a block again, and has 16,383 calls' worth of them.
    await this.#plugin.reset();
    this.#hosts.current = host;
    try {
      // Extism would take the whole buffer behind a view of it, so it gets a copy.
      const input = typeof data === "string" ? data : Uint8Array.from(data);
      const output = await this.#plugin.call(name, input);
      if (output === null) {
        throw new Error("the plugin gave no answer");
      }
      return output.text();
    } catch (thrown) {
      // What ends a program in WebAssembly is thrown as a Symbol.
      throw thrown instanceof Error ? thrown : new Error(textOf(thrown), { cause: thrown });
    } finally {
      this.#hosts.current = undefined;
      this.#hosts.rethrow();
    }
  }

  /** Frees the instance, and the two files that WASI has opened. */
  async close(): Promise<void> {
    await this.#plugin.close();
  }
}

/** The host functions of one instance, and who answers them. */
class Hosts {
  current: Host | undefined;
  #failed: { error: unknown } | undefined;

  functions(): Record<string, (context: CallContext, offset: bigint) => bigint> {
    return Object.fromEntries(
      HOST_FUNCTIONS.map((name) => [
        name,
        (context, offset) => this.#answer(name, context, offset),
      ]),
    );
  }

  /** Answers with 0 whatever goes wrong: an error cannot pass through the plugin. */
  #answer(name: keyof Host, context: CallContext, offset: bigint): bigint {
    try {
      // There is a block of one byte at 0, which is none of the plugin's.
      const input = offset === 0n ? "" : (context.read(offset)?.text() ?? "");
      const answer = this.current?.[name](input);
      return answer ? context.store(answer) : 0n;
    } catch (error) {
      this.#failed ??= { error };
      return 0n;
    }
  }

  rethrow(): void {
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

/**
 * Loads Node's WASI without the warning that it is experimental: nothing of the plugin
 * depends on what WASI says, and a program's stderr is its own. Nothing else can run, and
 * so warn, meanwhile.
 */
function quietly(load: () => void): void {
  const warn = process.emitWarning;
  process.emitWarning = () => {};
  try {
    load();
  } finally {
    process.emitWarning = warn;
  }
}
