/** A policy in a folder that others keep, as it stands there from time to time. */

import { PolicyError } from "../call/errors.js";
import type { Decider } from "./decider.js";
import { look, pathOf, readRelease } from "./folder.js";
import { isName, type PolicyText, readPolicy } from "./source.js";

/** What a look has come to. */
interface Seen<P> {
  readonly stamp: string | undefined;
  /** It is in force. */
  readonly policy: P;
  /** Why what is in the folder is not. */
  readonly why?: Error | undefined;
}

/** A policy in a folder, which is looked at when somebody asks. */
export class Followed<P extends Decider> {
  readonly #folder: string;
  readonly #name: string;
  readonly #checked: (text: PolicyText) => Promise<P>;
  #seen: Seen<P> | undefined;
  #last: Promise<unknown> = Promise.resolve(); // looks come one after another

  /** @param checked Makes a policy of a text, or finds its faults. */
  constructor(folder: string, name: string, checked: (text: PolicyText) => Promise<P>) {
    if (!isName(name)) {
      throw new PolicyError(name, "unknown_policy", "is followed by its name, not a path");
    }
    this.#folder = folder;
    this.#name = name;
    this.#checked = checked;
  }

  /**
   * What is in force: the file is read again if it has changed.
   *
   * @throws PolicyError if nothing can be used, and nothing could before.
   */
  inForce(): Promise<Seen<P>> {
    const next = this.#last.then(() => this.#look());
    this.#last = next.catch(() => {});
    return next;
  }

  async #look(): Promise<Seen<P>> {
    // A file that comes after the stamp was taken is read again.
    const stamp = look(pathOf(this.#folder, this.#name));
    const seen = this.#seen;
    // What is wrong with a content stays so as long as the file does; who may write it can
    // change without it.
    if (seen && seen.stamp === stamp && (!seen.why || seen.why instanceof PolicyError)) {
      return seen;
    }
    try {
      this.#seen = { stamp, policy: await this.#read(await seen?.policy.release()) };
    } catch (error) {
      const why = error as Error;
      this.#seen = { stamp, policy: seen?.policy ?? (await this.#bundled(why)), why };
    }
    return this.#seen;
  }

  async #read(held: { readonly serial: number } | undefined): Promise<P> {
    const { document, release } = readRelease(this.#folder, this.#name);
    const { serial } = release;
    if (held && serial < held.serial) {
      const why = `serial ${serial} is lower than ${held.serial}, which is in force`;
      throw new PolicyError(this.#name, "invalid_policy", why);
    }
    return this.#checked({ ...(await readPolicy(document)), release });
  }

  /** What is in force before anything could be taken from the folder. */
  async #bundled(cause: Error): Promise<P> {
    try {
      return await this.#checked(await readPolicy(this.#name));
    } catch (error) {
      if (!(error instanceof PolicyError)) {
        throw error;
      }
      const why = `no such policy comes with outlast, and none in the folder can be used: ${cause.message}`;
      throw new PolicyError(this.#name, "unknown_policy", why, [], { cause });
    }
  }
}
