/** Those who wait for a server, and whose turn it is to go to one that is back. docs/looking.md has
 * the rules. */

import type { How } from "./readiness.js";
import { Level } from "./target.js";

/** Milliseconds that a turn lasts which is not told of (a choice). */
const LEASE = 1000;

/** How many times as long as the fastest an attempt takes where no more, and where fewer should be
 * under way (choices). */
const BUSY = 3;
const FULL = 6;

/** How often the pause after failures doubles, from a second on. */
const PAUSES = 2;

/** A call that waits: of this process, or of one that follows it. */
export class Caller {
  number = 0; // tells those of a server apart
  readonly began = performance.now();
  least: Level | undefined; // that a look which counts ended with
  risen = Level.Unanswered; // above that
  rose = Level.Unanswered; // what it was told of that, when its turn came
  by = Level.Accepting; // the least that wakes it
  held = 0; // nothing does before
  dealt = false; // of another process: has its turn, until it says anew that it waits
  due: number | undefined; // when its process has to look itself

  /** @param since The number of the last look that began before it. */
  constructor(
    readonly eager: boolean,
    readonly news: () => void,
    readonly since: number,
    readonly remote = false,
  ) {}

  saw(number: number, level: Level): void {
    if (number > this.since) {
      this.least = Math.min(level, this.least ?? level);
    }
  }

  rise(now: Level): void {
    const has = this.least !== undefined && now > this.least && now >= Level.Accepting;
    this.risen = has ? now : Level.Unanswered;
    this.rose = Math.min(this.rose, this.risen);
  }
}

/** The line before a server. */
export class Callers {
  readonly #line = new Map<number, Caller>();
  #numbers = 0;
  #up = false; // the server is, as far as was seen last
  #own = 0; // of this process
  #dealt = performance.now(); // when a turn could last be given
  window = new Window();

  [Symbol.iterator](): IterableIterator<Caller> {
    return this.#line.values();
  }

  get up(): boolean {
    return this.#up;
  }

  get own(): number {
    return this.#own;
  }

  get(number: number): Caller | undefined {
    return this.#line.get(number);
  }

  enter(caller: Caller): void {
    caller.number = ++this.#numbers;
    this.#line.set(caller.number, caller);
    this.#own += Number(!caller.remote);
  }

  /** A call makes an attempt: at a server that is there that is a turn.
   *
   * @returns Whether it was in the line. */
  leave(caller: Caller): boolean {
    if (!this.#line.delete(caller.number)) {
      return false;
    }
    this.#own -= Number(!caller.remote);
    if (this.#up) {
      this.window.begin(caller, performance.now());
    }
    return true;
  }

  /** The server came or went, or another gives the turns from now on. */
  anew(up: boolean): void {
    this.#up = up;
    this.window = new Window();
    this.#dealt = performance.now();
  }

  /** Gives the turns that are free. The last call of this process comes last: the process may end
   * with it, and all looks. */
  deal(): Caller[] {
    const now = performance.now();
    if (now - this.#dealt > LEASE) {
      this.window = new Window(); // the process was stopped: all places would be free at once
    }
    this.#dealt = now;
    this.window.expire(now);
    const told: Caller[] = [];
    let last: Caller | undefined;
    for (const caller of this) {
      const { held, risen, rose, by } = caller;
      const has = this.window.out.has(caller); // its place, and the server is readier
      if (caller.dealt || held > now || risen <= rose || risen < by) {
        continue;
      }
      if (!has && !this.window.isFree(now)) {
        return told;
      }
      if (!has && !caller.remote && this.#own === 1) {
        last = caller;
      } else {
        told.push(this.#give(caller, now));
      }
    }
    return last && this.window.isFree(now) ? [...told, this.#give(last, now)] : told;
  }

  #give(caller: Caller, now: number): Caller {
    this.window.begin(caller, now);
    caller.rose = caller.risen;
    caller.dealt = caller.remote;
    return caller;
  }
}

/** How many may be under way: one at the return, and more as those are answered. */
export class Window {
  size = 1;
  readonly out = new Map<Caller, { taken: number; began: number }>(); // under way
  #fastest: number | undefined; // of those that were answered
  #failed = 0; // in a row
  #held = 0; // no turn is given before

  isFree(now: number): boolean {
    return this.out.size < this.size && now >= this.#held;
  }

  /** Has a turn be under way: as it is given, and again as the attempt begins. What passes between,
   * such as a look, says nothing of how fast the server answers. */
  begin(caller: Caller, now: number): void {
    this.out.set(caller, { taken: this.out.get(caller)?.taken ?? now, began: now });
  }

  went(caller: Caller, how: How, now: number): void {
    const turn = this.out.get(caller);
    this.out.delete(caller);
    if (turn && how === "answered") {
      this.#answered(now - turn.began);
    } else if (turn && how === "failed") {
      this.size = Math.floor(this.size / 2);
      if (this.size === 0) {
        this.size = 1;
        this.#held = now + 1000 * 2 ** Math.min(this.#failed++, PAUSES);
      }
    }
  }

  #answered(took: number): void {
    this.#failed = 0;
    this.#fastest = Math.min(took, this.#fastest ?? took);
    if (took < BUSY * this.#fastest || took === 0) {
      this.size++;
    } else if (took > FULL * this.#fastest) {
      this.size = Math.max(1, this.size - 1);
    }
  }

  /** Frees the places of those who said nothing for too long. Before anything was answered that
   * lets more go, since attempts may just take long; later fewer. */
  expire(now: number): void {
    for (const [caller, { taken }] of this.out) {
      if (now - taken >= LEASE) {
        this.out.delete(caller);
        this.size = Math.max(1, this.size + (this.#fastest === undefined ? 1 : -1));
      }
    }
  }
}
