/** Looks at each server that a call of this process waits for, for all of them at once. */

import type { Readiness } from "../call/action.js";
import { apart } from "../evidence/requests.js";
import { Caller, Callers } from "./callers.js";
import { boot } from "./clock.js";
import { look } from "./look.js";
import type { How, Seen, Watch, Watcher } from "./readiness.js";
import type { Looker, Share } from "./share.js";
import { Level, nameTarget, parseTarget, portOnly, type Target } from "./target.js";

/** Milliseconds between two looks, at least and at most. The first is short against a person's
 * patience and against what a look costs a server, the second still notices a return within a
 * sixth of a second (choices). */
const SHORTEST = 50;
const LONGEST = 150;

/** How much of the time that a server has been watched may pass until its return is noticed (a
 * choice): after 30 s the looks begin to be rarer. */
const PATIENCE = 600;

/** Milliseconds between two good answers of a server that is ready: one that starts, or is about
 * to end, may give a single one (a choice). */
const CONFIRMED = 50;

/** The statuses of a health check that is not there, or not for outlast. */
const DENIED = [401, 403, 404];

/** How many looks are under way at most, each of which takes a second at most: where none is
 * answered, one begins whenever one of them may have ended. */
const IN_FLIGHT = 8;
const SPACED = 1000 / IN_FLIGHT;

/** Milliseconds for which a refusal counts as what the server does (a choice, above the time
 * between two looks). */
const FRESH = 1000;

/** Milliseconds before an attempt of the schedule is due at which a process that does not look
 * itself does so once (a choice). */
const BEFORE = 250;

/** Milliseconds that a server is watched on to tell how the last attempt ended, or to see others
 * off to a server that is back. */
const TURN = 1000;
const LINGER = 10_000;

const servers = new Map<string, Server>();

/**
 * A watcher of a server. All calls of this process that wait for the same one share its looks,
 * and there are none while nobody waits.
 *
 * @throws RangeError if it is none of the forms of {@link Ready}.
 */
export function watcherOf(ready: string | URL): Watcher {
  const target = parseTarget(ready);
  return {
    watch(eager, news) {
      const key = nameTarget(target);
      const server = servers.get(key) ?? new Server(target);
      servers.set(key, server);
      return server.join(eager, news, () => {
        if (servers.get(key) === server) {
          servers.delete(key);
        }
      });
    },
  };
}

/** A server that calls wait for. */
class Server implements Looker {
  readonly callers = new Callers();
  over = false;
  looked = 0;
  looks = 0; // begun so far; the number of the last
  level = Level.Unanswered;
  #share: Share | undefined; // none until its module is loaded
  #checking: NodeJS.Immediate | undefined; // begins a look of its own
  #dealing: NodeJS.Immediate | undefined; // gives the turns that are free
  #resting: NodeJS.Timeout | undefined; // ends the watching
  readonly #began = performance.now();
  #last = -Infinity; // when the last look began
  #timer: NodeJS.Timeout | undefined;
  #flying = 0; // under way
  #latest = 0; // the number of the look that the level is from
  #ended = -Infinity; // when the last look ended
  #good: number | undefined; // when the first good look in a row began
  #ready = false; // two of them, far enough apart
  #busy: number | undefined; // since when it has answered 503
  #denied = 0; // the status for which its health check is not asked for; 0: it is

  constructor(readonly target: Target) {}

  /** @param left Called when none of this process waits any more. */
  join(eager: boolean, news: () => void, left: () => void): View {
    if (this.callers.own === 0) {
      apart(() => this.#meet());
    }
    const view = new View(this, eager, news, left);
    this.callers.enter(view);
    this.#share?.wait(view);
    this.#plan();
    return view;
  }

  async #meet(): Promise<void> {
    if (process.platform === "linux") {
      const { Share } = await import("./share.js");
      this.#share = new Share(this);
      await this.#share.run();
    }
  }

  leave(caller: Caller): void {
    if (this.callers.leave(caller)) {
      this.#share?.remotes.delete(caller);
      this.#share?.goes(caller);
      this.#rest();
    }
  }

  went(caller: Caller, how: How): void {
    this.callers.window.went(caller, how, performance.now());
    this.#share?.went(caller, how);
    this.deal();
    this.#rest();
  }

  waits(caller: Caller, changed: boolean): void {
    const held = caller.held - performance.now();
    if (held > 0) {
      setTimeout(() => this.callers.get(caller.number) && this.#share?.wait(caller), held).unref();
    } else if (changed) {
      this.#share?.wait(caller);
    }
  }

  deal(): void {
    // Once for all that was heard at once: a connection may end with thousands of calls, and each
    // time the whole line is gone through.
    this.#dealing ??= setImmediate(() => {
      this.#dealing = undefined;
      for (const caller of this.#share?.follows ? [] : this.callers.deal()) {
        caller.news();
      }
    });
  }

  lookAnew(): void {
    this.callers.anew(false);
    this.#plan();
  }

  peek(now: number): void {
    const due = [...this.callers].filter((caller) => caller.due !== undefined && caller.due <= now);
    for (const caller of due) {
      caller.due = undefined;
    }
    if (due.length > 0 && this.#share?.follows) {
      this.#begin();
    }
  }

  check(): void {
    // Once for all turns that were heard of at once, and only where no look begun since will tell.
    this.#checking ??= setImmediate(() => {
      this.#checking = undefined;
      if (!this.over && this.#share?.isUnseen) {
        this.#begin();
      }
    });
  }

  /** Ends when no call needs it any more. */
  #rest(): void {
    if (this.callers.own > 0 || this.over) {
      return;
    }
    const { isPending = false, remotes } = this.#share ?? {};
    const linger = remotes?.size && this.callers.up ? LINGER : 0;
    const wanted = isPending ? TURN : linger;
    if (!wanted) {
      this.#end();
    } else {
      this.#resting ??= setTimeout(() => this.#end(), wanted).unref();
    }
  }

  #end(): void {
    this.over = true;
    clearTimeout(this.#resting);
    clearTimeout(this.#timer);
    this.#share?.stop();
  }

  /** What the last look that began after another one saw, lately. */
  saw(since: number): Level | undefined {
    const fresh = this.#latest > since && performance.now() - this.#ended <= FRESH;
    return fresh ? this.level : undefined;
  }

  /** Plans the next look. */
  #plan(): void {
    clearTimeout(this.#timer);
    if (!this.over && !(this.#share?.follows && this.looks > 0)) {
      const due = this.#last + this.#pause() - performance.now();
      this.#timer = setTimeout(() => this.#begin(), Math.max(0, due));
    }
  }

  #pause(): number {
    const isEager = [...this.callers].some(({ eager }) => eager);
    // Who answers 503 is about to be ready: the looks slow down anew.
    const watched = this.#last - (this.#busy ?? this.#began);
    const usual = isEager ? Math.min(Math.max(watched / PATIENCE, SHORTEST), LONGEST) : LONGEST;
    const pause = this.#good !== undefined && !this.#ready ? CONFIRMED : usual;
    return this.#flying > 1 ? Math.max(pause, SPACED) : pause;
  }

  #begin(): void {
    this.#last = performance.now();
    if (this.#flying < IN_FLIGHT) {
      this.#flying++;
      this.looked = boot();
      const number = ++this.looks;
      apart(() => this.#look(number, this.#last));
    }
    this.#plan();
  }

  async #look(number: number, began: number): Promise<void> {
    const target = this.#denied ? portOnly(this.target) : this.target;
    let status = 0;
    const level = await look(target, (answered) => {
      status ||= answered;
    }).catch(() => Level.Unanswered);
    this.#flying--;
    const isLast = number >= this.#latest; // else one that began later has said something
    if (isLast) {
      this.#take(number, began, level, status);
    }
    this.#share?.saw(number, level);
  }

  #take(number: number, began: number, level: Level, status: number): void {
    this.#latest = number;
    this.level = level;
    this.#ended = performance.now();
    this.#judge(began);
    this.#heed(status);
    for (const view of this.callers) {
      view.saw(number, level);
    }
    this.#tell(number);
  }

  #judge(began: number): void {
    if (this.level !== Level.Healthy) {
      this.#good = undefined;
      this.#ready = false;
    } else if (this.#good === undefined) {
      this.#good = began;
      this.#plan(); // sooner than it was
    } else {
      this.#ready ||= began - this.#good >= CONFIRMED;
    }
  }

  /** Goes by what the health check was answered with. One that is not there, or not for outlast,
   * is not asked for again until the server has gone away: till then only its port is looked at. */
  #heed(status: number): void {
    if (this.level < Level.Accepting || this.level === Level.Healthy) {
      this.#denied = 0;
    } else if (DENIED.includes(status)) {
      this.#denied = status;
    }
    this.#busy = status === 503 ? (this.#busy ?? performance.now()) : undefined;
  }

  /** Why less is looked at than was asked for. */
  get why(): string | undefined {
    const why = `the health check is answered ${this.#denied}, so that only the port is looked at`;
    return this.#denied ? why : undefined;
  }

  #tell(number: number): void {
    const seen = this.#ready ? Level.Healthy : Math.min(this.level, Level.Accepting);
    const up = seen >= Level.Accepting;
    if (up !== this.callers.up) {
      this.callers.anew(up);
      this.#rest();
    }
    for (const caller of this.callers) {
      if (number > caller.since && !this.#share?.follows) {
        caller.rise(seen);
      }
    }
    this.deal();
  }
}

/** One call's view of a server. */
class View extends Caller implements Watch {
  readonly #server: Server;
  readonly #left: () => void;

  constructor(server: Server, eager: boolean, news: () => void, left: () => void) {
    super(eager, news, server.looks);
    this.#server = server;
    this.#left = left;
  }

  seen(): Seen {
    const { why } = this.#server;
    const level = this.#server.saw(this.since);
    const down = level === Level.Down;
    return { rose: WORDS[this.rose], down, notReady: level === Level.Loading, why };
  }

  stop(): void {
    this.#server.leave(this);
    if (this.#server.callers.own === 0) {
      this.#left();
    }
  }

  waits(by: Readiness, held: number, rest: number): void {
    const now = performance.now();
    const least = by === "ready" ? Level.Healthy : Level.Accepting;
    const changed = held > 0 || least !== this.by;
    this.by = least;
    this.held = held > 0 ? now + held : 0;
    this.due = now + Math.max(0, rest - BEFORE);
    this.#server.waits(this, changed);
  }

  went(how: How): void {
    this.#server.went(this, how);
  }
}

const WORDS: Partial<Record<Level, Readiness>> = {
  [Level.Accepting]: "accepting",
  [Level.Healthy]: "ready",
};
