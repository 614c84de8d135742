/** Policies, and the ways to carry out a call by one. */

import { anything, checkMembers, type Members } from "./arguments/members.js";
import type { Call } from "./call/call.js";
import type { Outcome } from "./call/outcome.js";
import { defaultPlugin, type Plugin } from "./plugin/plugin.js";
import { type Changes, Decider } from "./policy/decider.js";
import { Followed } from "./policy/followed.js";
import { Session as PolicySession, type SessionOptions } from "./policy/session.js";
import {
  type PolicyDocument,
  type PolicySource,
  type PolicyText,
  type Release,
  readPolicy,
} from "./policy/source.js";
import type { Attempter, RunOptions } from "./run/options.js";
import { run } from "./run/run.js";
import { duration, spread } from "./wire/values.js";

/** How a policy is loaded. */
export interface PolicyOptions {
  /** Let the plugin check a document at once, so that its faults show now and not in an
   * outage. That loads the plugin, which takes a tenth of a second. False checks it at
   * the first failure. A built-in policy needs no check. True unless given. */
  readonly check?: boolean | undefined;
  /** The plugin that decides; the one that this package carries unless given. */
  readonly plugin?: Plugin | undefined;
}

const OPTIONS: Members<PolicyOptions> = { check: anything, plugin: anything };

/** One call by a policy, event by event. */
export type Session = PolicySession<Policy>;

/** A policy: which failures there are, what is done about each, for how long. */
export class Policy extends Decider {
  /**
   * Loads a policy.
   *
   * @param source The name of a built-in policy, `network`, `omnigraph` or `witan-core`, or of
   *     one that comes with outlast for a common command, such as `curl`; the path of a
   *     document in JSON, which as a string ends in `.json` or has a directory; or a
   *     document as an object.
   * @throws PolicyError if there is no such policy, or the document has faults.
   * @throws PluginError if the plugin cannot be loaded for the check.
   */
  static async load(
    source: PolicySource = "network",
    options: PolicyOptions = {},
  ): Promise<Policy> {
    checkMembers(options, OPTIONS, "the options of a policy");
    const { check = true, plugin = defaultPlugin() } = options;
    const policy = new Policy(await readPolicy(source), plugin);
    return check ? policy.check() : policy;
  }

  /**
   * A policy that others keep: that of a name in a folder which `outlast policy pull` writes.
   * It may be used wherever a policy may.
   *
   * The folder is looked at between calls: a call goes by what is in force at its first
   * failure, to its end. While the file is faulty, older than what is in force, gone, or can
   * have been written by others, what is in force stays so. Where nothing could be taken yet,
   * that is the policy of this name that comes with outlast.
   *
   * Each call's first failure is followed by the event `policyInForce`. `release()`,
   * `digest()` and `document()` are those of what is in force now.
   *
   * @param folder The folder.
   * @param name The policy's.
   * @param options With `check`, which is so unless given, the first look is now. That loads
   *     the plugin, if there is a file. Else it is at the first failure.
   * @throws PolicyError if nothing can be used, neither in the folder nor of what comes with
   *     outlast; its `cause` says what is wrong with the file.
   */
  static async follow(folder: string, name: string, options: PolicyOptions = {}): Promise<Policy> {
    checkMembers(options, OPTIONS, "the options of a policy");
    const { check = true, plugin = defaultPlugin() } = options;
    const checked = async (text: PolicyText) => new Policy(text, plugin).check();
    const policy = new FollowedPolicy(new Followed(folder, name, checked), name, plugin);
    return check ? policy.check() : policy;
  }

  /**
   * The same policy with another window: how long each of its budgets that has one lasts from
   * the first failure on. Loads the plugin. For calls there is the option `maxWait`.
   *
   * @param ms The window in milliseconds, above 0.
   * @throws PolicyError if no budget of the policy has a window.
   */
  async withMaxWait(ms: number): Promise<Policy> {
    duration(ms, "maxWait");
    return this.#changed({ maxWait: ms });
  }

  /**
   * The same policy with another spread: how far apart callers start that see their server
   * return. It is that of each budget whose waits may be cut short; where there is none, nothing
   * is changed. Loads the plugin. For calls there is the option `spread`.
   *
   * @param ms The spread in milliseconds, above 0, and at most 3,600,000. `outlast verify
   *     --callers` says how wide that of a fleet must be.
   */
  async withSpread(ms: number): Promise<Policy> {
    spread(ms, "spread");
    return this.#changed({ spread: ms });
  }

  async #changed(changes: Changes): Promise<Policy> {
    return Policy.load(await (await this.with(changes)).document(), { plugin: this.plugin });
  }

  /**
   * Starts a call that is driven step by step, by a loop of the caller's.
   *
   * @param call What the call is.
   * @throws TypeError or RangeError if an argument is wrong.
   */
  session(call: Call, options: SessionOptions = {}): Session {
    return new PolicySession<Policy>(this, call, options);
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
  async run(attempt: Attempter, call: Call, options: RunOptions = {}): Promise<Outcome> {
    const { outcome, error } = await run(this, attempt, call, options);
    if (options.check && !outcome.ok) {
      throw error();
    }
    return outcome;
  }
}

/** A policy in a folder. */
class FollowedPolicy extends Policy {
  readonly #followed: Followed<Policy>;

  constructor(followed: Followed<Policy>, name: string, plugin: Plugin) {
    super({ name }, plugin);
    this.#followed = followed;
  }

  override inForce() {
    return this.#followed.inForce();
  }

  override async check(): Promise<this> {
    await this.inForce();
    return this;
  }

  override async digest(): Promise<string> {
    return (await this.inForce()).policy.digest();
  }

  override async document(): Promise<PolicyDocument> {
    return (await this.inForce()).policy.document();
  }

  override async with(changes: Changes): Promise<Decider> {
    return (await this.inForce()).policy.with(changes);
  }

  override async waitsFor(status: number): Promise<boolean> {
    return (await this.inForce()).policy.waitsFor(status);
  }

  override async release(): Promise<Release | undefined> {
    return (await this.inForce()).policy.release();
  }
}
