/** Policies. */

import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Call } from "./call.js";
import { AnswerError } from "./envelope.js";
import { PolicyError } from "./errors.js";
import type { Described } from "./info.js";
import type { Outcome } from "./outcome.js";
import { defaultPlugin, type Plugin } from "./plugin.js";
import { type Attempter, type RunOptions, run } from "./run.js";
import { Session, type SessionOptions } from "./session.js";
import { checkMembers, MAX_DOCUMENT_BYTES, show } from "./wire.js";

/** The policies that the plugin carries. */
const BUILT_IN = ["omnigraph", "witan-core"];

/** A policy's document. What may be in it, docs/policies.md of the project tells. */
export type PolicyDocument = Readonly<Record<string, unknown>>;

/** How a policy is loaded. */
export interface PolicyOptions {
  /** Let the plugin check a document at once, so that its faults show now and not in an
   * outage. That loads the plugin, which takes a tenth of a second. False checks it at
   * the first failure. A built-in policy needs no check. True unless given. */
  readonly check?: boolean | undefined;
  /** The plugin that decides; the one that this package carries unless given. */
  readonly plugin?: Plugin | undefined;
}

/** A policy: which failures there are, what is done about each, for how long. */
export class Policy {
  /** The plugin that decides. */
  readonly plugin: Plugin;
  #name: string;
  #checked: Promise<Checked> | undefined;
  readonly #text: string; // of a document, as it was given; empty for a built-in policy

  private constructor(name: string, text: string, plugin: Plugin) {
    this.plugin = plugin;
    this.#name = name;
    this.#text = text;
  }

  /**
   * Loads a policy.
   *
   * @param source The name of a built-in policy, `omnigraph` or `witan-core`; the path of
   *     a document in JSON, which as a string ends in `.json` or has a directory; or a
   *     document as an object.
   * @throws PolicyError if there is no such policy, or the document has faults.
   * @throws PluginError if the plugin cannot be loaded for the check.
   */
  static async load(
    source: string | URL | PolicyDocument = "omnigraph",
    options: PolicyOptions = {},
  ): Promise<Policy> {
    checkMembers(options, ["check", "plugin"], "the options of a policy");
    const { check = true, plugin = defaultPlugin() } = options;
    if (typeof source === "string" && BUILT_IN.includes(source)) {
      return new Policy(source, "", plugin);
    }
    const [name, text] = await documentOf(source);
    const policy = new Policy(name, text, plugin);
    return check ? policy.check() : policy;
  }

  /**
   * Lets the plugin check the document, if that has not been done, and gets the policy
   * itself.
   *
   * @throws PolicyError if the document has faults; all are listed.
   * @throws PluginError if the plugin cannot be loaded.
   */
  async check(): Promise<this> {
    await this.#check();
    return this;
  }

  #check(): Promise<Checked> {
    this.#checked ??= this.#ask().catch((error) => {
      this.#checked = undefined;
      throw error;
    });
    return this.#checked;
  }

  async #ask(): Promise<Checked> {
    if (!this.#text) {
      const name = JSON.stringify(this.#name);
      return { reference: name, whole: name };
    }
    let ok: { policy: { name: string }; digest: string };
    try {
      ok = (await this.plugin.ask("check", this.#text)) as typeof ok;
    } catch (error) {
      throw error instanceof AnswerError ? invalid(this.#name, error) : error;
    }
    this.#name = ok.policy.name;
    const whole = JSON.stringify(ok.policy);
    return { reference: JSON.stringify(ok.digest), whole, digest: ok.digest };
  }

  /** What the policy calls itself. */
  get name(): string {
    return this.#name;
  }

  /** Identifies the policy: equal policies have equal digests. Loads the plugin. */
  async digest(): Promise<string> {
    const { digest } = await this.#check();
    if (digest) {
      return digest;
    }
    const { policies } = (await this.plugin.ask("describe", "")) as Described;
    return policies.find((each) => each.name === this.#name)!.digest;
  }

  /** A document with every default filled in; none for a built-in policy. Loads the
   * plugin. */
  async document(): Promise<PolicyDocument | undefined> {
    const { whole, digest } = await this.#check();
    return digest ? JSON.parse(whole) : undefined;
  }

  /**
   * Starts a call that is driven step by step, by a loop of the caller's.
   *
   * @param call What the call is.
   * @throws TypeError or RangeError if an argument is wrong.
   */
  session(call: Call, options: SessionOptions = {}): Session {
    return new Session(this, call, options);
  }

  /**
   * Carries out a call, and asks the plugin after each failure. The plugin is not loaded
   * before the first one.
   *
   * @param attempt Makes one attempt and gives its result. An error that stands for a
   *     result, as {@link resultOf} has it, is taken for that; any other ends the call and
   *     comes out of it.
   * @param call What the call is.
   * @returns How the call ended, with the last attempt's result. That of an aborted call
   *     is `cancelled`.
   * @throws CallError if `check` is set and the call did not succeed.
   * @throws PluginError if the plugin cannot be used; it has the last result.
   * @throws PolicyError if the policy's document has faults.
   */
  run(attempt: Attempter, call: Call, options: RunOptions = {}): Promise<Outcome> {
    return run(this, attempt, call, options);
  }

  /** What names the policy in a request: a built-in by its name, a document by its digest,
   * which an instance knows once it has met the document.
   * @internal */
  async reference(): Promise<string> {
    return (await this.#check()).reference;
  }

  /** The same with the document itself.
   * @internal */
  async whole(): Promise<string> {
    return (await this.#check()).whole;
  }
}

interface Checked {
  reference: string;
  whole: string;
  digest?: string;
}

function invalid(name: string, error: AnswerError): PolicyError {
  const faults = error.faults.length ? error.faults : [{ field: error.field, message: error.text }];
  const count = `${faults.length} fault${faults.length > 1 ? "s" : ""}`;
  const text = `the document has ${count}`;
  return new PolicyError(name, error.code, text, faults, { cause: error });
}

/** A document's name, for errors, and its text. */
async function documentOf(source: string | URL | PolicyDocument): Promise<[string, string]> {
  if (typeof source === "string" || source instanceof URL) {
    return readDocument(source);
  }
  if (typeof source !== "object" || source === null) {
    throw new TypeError(
      `outlast: policy is ${show(source)}, and must be a name, a path or an object`,
    );
  }
  const name = typeof source.name === "string" ? source.name : "document";
  try {
    return [name, bounded(name, JSON.stringify(source))];
  } catch (cause) {
    if (cause instanceof PolicyError) {
      throw cause;
    }
    const text = `the document is not JSON: ${cause}`;
    throw new PolicyError(name, "invalid_policy", text, [], { cause });
  }
}

async function readDocument(source: string | URL): Promise<[string, string]> {
  const name = String(source);
  if (typeof source === "string" && !source.endsWith(".json") && basename(source) === source) {
    throw new PolicyError(
      source,
      "unknown_policy",
      `there is no such policy; built in are ${BUILT_IN.join(" and ")}, and the path of a ` +
        "document ends in .json",
    );
  }
  let text: string;
  try {
    const bytes = await readFile(source);
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const why = `cannot read the document: ${(cause as Error).message}`;
    throw new PolicyError(name, "unreadable", why, [], { cause });
  }
  return [name, bounded(name, text)];
}

function bounded(name: string, text: string): string {
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
    const why = `the document has more than ${MAX_DOCUMENT_BYTES} bytes`;
    throw new PolicyError(name, "invalid_policy", why);
  }
  return text || " "; // an empty file is a document with a fault, not a built-in policy
}
