/** The plugin, for any number of calls. */

import { PluginError } from "../call/errors.js";
import { isAnswer, openEnvelope } from "./envelope.js";
import { readWasm } from "./file.js";
import type { Host } from "./host.js";
import { Instance, textOf } from "./instance.js";
import { type Code, compile } from "./module.js";
import { Turns } from "./turns.js";

/**
 * How many decisions may be made in one turn of the event loop (a choice: at a tenth of a
 * millisecond each, measured, timers and sockets wait 10 ms at most).
 */
const DECISIONS_A_TURN = 100;

/** Milliseconds after which a turn has no further decision (a choice): one about texts of
 * 64 KiB takes several of them. */
const DECIDING_A_TURN = 10;

/** How the plugin was loaded. */
export interface Loading {
  /** Milliseconds of real time. */
  readonly took: number;
}

/**
 * The plugin, for any number of calls. Nothing is loaded before it is needed. One instance
 * serves all calls, since each holds it for one decision only.
 */
export class Plugin {
  readonly #path: string | URL | undefined;
  readonly #turns = new Turns(DECISIONS_A_TURN, DECIDING_A_TURN);
  #code: Promise<Code> | undefined;
  #instance: Instance | undefined;
  #sha256: string | undefined;
  #loading: Loading | undefined;
  #replaced = 0;

  /** @param path Another plugin than the one that this package carries. */
  constructor(path?: string | URL) {
    this.#path = path;
  }

  /** Whether the plugin is ready to decide. */
  get loaded(): boolean {
    return this.#instance !== undefined;
  }

  /** How many instances have failed and been replaced. */
  get replaced(): number {
    return this.#replaced;
  }

  /**
   * The SHA-256 of the plugin's file. Nothing is compiled for it.
   *
   * @throws PluginError if the file cannot be read, or is not what was built.
   */
  async sha256(): Promise<string> {
    this.#sha256 ??= (await readWasm(this.#path)).sha256;
    return this.#sha256;
  }

  /**
   * Loads the plugin, if it is not loaded. Compiling goes on beside the event loop.
   *
   * @throws PluginError if it cannot be loaded.
   */
  async load(): Promise<void> {
    if (!this.#instance) {
      await this.#turns.take(async () => {
        this.#instance ??= await this.#start();
      });
    }
  }

  /**
   * Loads the plugin, and makes a decision. {@link warmUp} is this of the plugin that the
   * package carries.
   *
   * @throws PluginError if it cannot be loaded, or cannot decide.
   */
  async warmUp(): Promise<void> {
    try {
      await this.ask("decide", DECISION);
    } catch (error) {
      if (isAnswer(error)) {
        const { text, code, field } = error;
        throw new PluginError("asking the plugin", text, { code, field, cause: error });
      }
      throw error;
    }
  }

  /** How the plugin was loaded, for the first that asks. */
  takeLoading(): Loading | undefined {
    const loading = this.#loading;
    this.#loading = undefined;
    return loading;
  }

  async #start(): Promise<Instance> {
    const began = performance.now();
    const instance = Instance.of(await this.#compiled());
    try {
      instance.call("describe", ""); // the first call costs 15 ms, later ones 0.1 ms
    } catch (cause) {
      throw new PluginError("starting the plugin", textOf(cause), { code: "internal", cause });
    }
    this.#loading = { took: performance.now() - began };
    return instance;
  }

  #compiled(): Promise<Code> {
    this.#code ??= this.#compile().catch((error) => {
      this.#code = undefined; // the next call may try again
      throw error;
    });
    return this.#code;
  }

  async #compile(): Promise<Code> {
    const wasm = await readWasm(this.#path);
    this.#sha256 = wasm.sha256;
    return compile(wasm.bytes);
  }

  /**
   * Gives a request to an export, and gets what its answer has as `ok`. An instance that
   * fails is replaced once, and asked again.
   *
   * @param name `describe`, `check` or `decide`.
   * @param request The request.
   * @param replaced Told of an instance that failed.
   * @throws AnswerError if the plugin answered an error.
   * @throws PluginError if it could not be loaded, or failed twice.
   */
  ask(name: string, request: string, replaced?: (error: Error) => void): Promise<unknown> {
    return this.#turns.take(async () => {
      let failed: unknown;
      for (;;) {
        try {
          return await this.#askOnce(name, request);
        } catch (error) {
          if (isAnswer(error) || error instanceof PluginError) {
            throw error;
          }
          if (failed) {
            const text = `${textOf(failed)} (and again: ${textOf(error)})`;
            throw new PluginError("asking the plugin", text, { code: "internal", cause: error });
          }
          failed = error;
          replaced?.(error as Error);
        }
      }
    });
  }

  async #askOnce(name: string, request: string): Promise<unknown> {
    this.#instance ??= await this.#start();
    const instance = this.#instance;
    try {
      return openEnvelope(instance.call(name, request));
    } catch (error) {
      if (!isAnswer(error)) {
        this.#instance = undefined;
        this.#replaced++;
      }
      throw error;
    }
  }

  /**
   * Gives bytes to an export of a new instance, and gets the text that it answers: the
   * contract with nothing around it.
   *
   * @param name `describe`, `check`, `decide` or `run`.
   * @param data The request.
   * @param host Answers the host functions.
   * @throws PluginError if the plugin cannot be loaded, or no answer came back.
   */
  async call(name: string, data: string | Uint8Array, host?: Host): Promise<string> {
    const instance = Instance.of(await this.#compiled());
    try {
      return instance.call(name, data, host);
    } catch (cause) {
      throw new PluginError(`calling ${name}`, textOf(cause), { cause });
    }
  }

  /** Lets go of what is loaded. The plugin may be used again, and is loaded again then. */
  async close(): Promise<void> {
    await this.#turns.take(async () => {
      this.#instance = undefined;
      this.#code = undefined;
    });
  }
}

/** A request for a decision, about nothing. */
const DECISION = JSON.stringify({
  policy: "omnigraph",
  call: { remote: true, write: false, seed: 1 },
  event: { type: "attempted", now_us: 0, result: { exit_code: 75 } },
});

const packaged = new Plugin();

/** The plugin that this package carries, shared by all of a process. */
export function defaultPlugin(): Plugin {
  return packaged;
}

/**
 * Loads the plugin now, not at the first failure, and makes a decision: for a program's
 * start, so that what is missing is told then, and not first in an outage. It takes 0.1 s.
 *
 * @throws PluginError if the plugin cannot be loaded, or cannot decide.
 */
export function warmUp(): Promise<void> {
  return packaged.warmUp();
}
