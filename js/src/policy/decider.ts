/** A policy and the plugin that decides by it. */

import { PolicyError } from "../call/errors.js";
import { AnswerError } from "../plugin/envelope.js";
import { builtInDocument } from "../plugin/file.js";
import { info } from "../plugin/info.js";
import type { Plugin } from "../plugin/plugin.js";
import type { WireChecked, WireDecision, WireDescription } from "../wire/types.js";
import { microsIfGiven } from "../wire/values.js";
import type { Dialect } from "./older.js";
import {
  type PolicyDocument,
  type PolicyText,
  type Release,
  statusesTriedAgain,
  withSpread,
  withWindow,
} from "./source.js";

/** The built-in policy that goes by what was seen of requests. */
const SEES_REQUESTS = "network";

/** A policy that was checked, as requests have it. */
interface Checked {
  /** Names it: a built-in one by its name, a document by its digest, which an instance of the
   * plugin knows once it has met the document. */
  readonly reference: string;
  /** The same with the document itself. */
  readonly whole: string;
  /** Of a document. */
  readonly digest?: string | undefined;
  /** It asks what was seen of requests. */
  readonly failures: boolean;
}

/** What a call goes by whose first failure is now. */
export interface InForce {
  /** To the call's end. */
  readonly policy: Decider;
  /** Why what is in the folder now is not it, of a policy that is followed. */
  readonly why?: Error | undefined;
}

/** What a caller changes of a policy, in milliseconds. */
export interface Changes {
  readonly maxWait?: number | undefined;
  readonly spread?: number | undefined;
}

/** A policy and the plugin that decides by it. */
export class Decider {
  /** The plugin that decides. */
  readonly plugin: Plugin;
  #name: string;
  readonly #release: Release | undefined;
  readonly #text: string | undefined;
  #checked: Promise<Checked> | undefined;
  #minor: Promise<number> | undefined; // the plugin's version of the contract
  #statuses: Promise<ReadonlySet<number> | undefined> | undefined; // that it tries again
  readonly #changed = new Map<string, Promise<Decider>>(); // the same with what was changed

  protected constructor({ name, text, release }: PolicyText, plugin: Plugin) {
    this.plugin = plugin;
    this.#name = name;
    this.#text = text;
    this.#release = release;
  }

  /** What the policy calls itself. */
  get name(): string {
    return this.#name;
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

  /** Identifies the policy: equal policies have equal digests. Loads the plugin. */
  async digest(): Promise<string> {
    const { digest } = await this.#check();
    return digest ?? (await info(this.plugin)).policies[this.#name]!;
  }

  /** The policy's document, with every default filled in. Loads the plugin. */
  async document(): Promise<PolicyDocument> {
    const { whole, digest } = await this.#check();
    return digest ? JSON.parse(whole) : this.#builtIn();
  }

  async #builtIn(): Promise<PolicyDocument> {
    const checked = await this.plugin.ask("check", await builtInDocument(this.#name));
    return (checked as { policy: PolicyDocument }).policy;
  }

  /** Whether an answer of HTTP with this status may be one that is tried again. Loads no plugin.
   * @internal */
  async waitsFor(status: number): Promise<boolean> {
    this.#statuses ??= this.#source().then(statusesTriedAgain);
    const statuses = await this.#statuses;
    return statuses?.has(status) ?? true;
  }

  async #source(): Promise<string> {
    return this.#text ?? builtInDocument(this.#name);
  }

  /** The same policy with another window and another spread; of one that is followed, what is in
   * force now.
   * @internal */
  with({ maxWait, spread }: Changes): Promise<Decider> {
    const window = microsIfGiven(maxWait, "maxWait");
    const apart = microsIfGiven(spread, "spread");
    if (window === undefined && apart === undefined) {
      return Promise.resolve(this);
    }
    const key = `${window} ${apart}`;
    let changed = this.#changed.get(key);
    if (!changed) {
      changed = this.#change(window, apart);
      this.#changed.set(key, changed);
      changed.catch(() => this.#changed.delete(key));
    }
    return changed;
  }

  async #change(window: number | undefined, spread: number | undefined): Promise<Decider> {
    const own = await this.document();
    const windowed = window === undefined ? own : withWindow(own, window);
    const document = spread === undefined ? windowed : withSpread(windowed, spread);
    const text = { name: this.#name, text: JSON.stringify(document), release: this.#release };
    return new Decider(text, this.plugin).check();
  }

  /** Where it comes from; none for a policy that is not from a folder which is followed. */
  async release(): Promise<Release | undefined> {
    return this.#release;
  }

  /** What a call goes by whose first failure is now.
   * @internal */
  async inForce(): Promise<InForce> {
    return { policy: this };
  }

  /** Which words the plugin and the policy understand. Loads the plugin.
   * @internal */
  async dialect(): Promise<Dialect> {
    const { failures } = await this.#check();
    this.#minor ??= this.plugin.ask("describe", "").then(
      (said) => (said as WireDescription).abi.minor,
      (error) => {
        this.#minor = undefined; // the next call may try again
        throw error;
      },
    );
    return { minor: await this.#minor, failures };
  }

  /**
   * Decides about one event.
   *
   * @param members The request's members besides the policy, in JSON.
   * @param replaced Told of an instance of the plugin that failed.
   * @internal
   */
  async decide(members: string, replaced?: (error: Error) => void): Promise<WireDecision> {
    const { reference, whole } = await this.#check();
    const ask = async (policy: string) =>
      (await this.plugin.ask(
        "decide",
        `{"policy":${policy},${members}}`,
        replaced,
      )) as WireDecision;
    try {
      return await ask(reference);
    } catch (error) {
      if (error instanceof AnswerError && error.code === "unknown_policy") {
        return await ask(whole); // this instance has not met the document
      }
      throw error;
    }
  }

  #check(): Promise<Checked> {
    this.#checked ??= this.#ask().catch((error) => {
      this.#checked = undefined; // the next call may try again
      throw error;
    });
    return this.#checked;
  }

  async #ask(): Promise<Checked> {
    if (this.#text === undefined) {
      const name = JSON.stringify(this.#name);
      return { reference: name, whole: name, failures: this.#name === SEES_REQUESTS };
    }
    let checked: WireChecked;
    try {
      checked = (await this.plugin.ask("check", this.#text)) as WireChecked;
    } catch (error) {
      throw error instanceof AnswerError ? invalid(this.#name, error) : error;
    }
    const { policy, digest } = checked;
    this.#name = (policy as { name: string }).name;
    const whole = JSON.stringify(policy);
    const failures = asksForFailures(policy as Document);
    return { reference: JSON.stringify(digest), whole, digest, failures };
  }
}

interface Document {
  readonly rules: readonly { readonly when?: readonly { readonly failures?: unknown }[] }[];
}

function asksForFailures({ rules }: Document): boolean {
  return rules.some(({ when = [] }) => when.some(({ failures }) => failures !== undefined));
}

function invalid(name: string, error: AnswerError): PolicyError {
  const faults = error.faults.length ? error.faults : [{ field: error.field, message: error.text }];
  const text = `the document has ${faults.length} fault${faults.length > 1 ? "s" : ""}`;
  return new PolicyError(name, error.code, text, faults, { cause: error });
}
