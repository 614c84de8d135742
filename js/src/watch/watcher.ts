/** Looks at each server that a call of this process waits for, for all of them at once. */

import type { Readiness } from "../call/action.js";
import { inContext, Requests } from "../evidence/requests.js";
import { look } from "./look.js";
import type { Seen, Watch, Watcher } from "./readiness.js";
import { keyOf, Level, parseTarget, portOnly, type Target } from "./target.js";

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
      const key = keyOf(target);
      const server = servers.get(key) ?? new Server(target, () => servers.delete(key));
      servers.set(key, server);
      return server.join(eager, news);
    },
  };
}

/** A server that calls wait for. */
class Server {
  readonly #views = new Set<View>();
  readonly #began = performance.now();
  #last = -Infinity; // when the last look began
  #timer: NodeJS.Timeout | undefined;
  #looks = 0; // begun so far; the number of the last
  #flying = 0; // under way
  #latest = 0; // the number of the look that the level is from
  #level = Level.Unanswered;
  #ended = -Infinity; // when the last look ended
  #good: number | undefined; // when the first good look in a row began
  #ready = false; // two of them, far enough apart
  #busy: number | undefined; // since when it has answered 503
  #denied = 0; // the status for which its health check is not asked for; 0: it is

  /** @param left Called when nobody waits any more. */
  constructor(
    readonly target: Target,
    readonly left: () => void,
  ) {}

  join(eager: boolean, news: () => void): View {
    const view = new View(this, eager, news, this.#looks);
    this.#views.add(view);
    this.#plan();
    return view;
  }

  leave(view: View): void {
    if (this.#views.delete(view) && this.#views.size === 0) {
      clearTimeout(this.#timer);
      this.left();
    }
  }

  /** Whether the last look that began after another one was refused, lately. */
  isDown(since: number): boolean {
    const fresh = this.#latest > since && performance.now() - this.#ended <= FRESH;
    return fresh && this.#level === Level.Down;
  }

  /** Plans the next look. */
  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#views.size > 0) {
      const due = this.#last + this.#pause() - performance.now();
      this.#timer = setTimeout(() => this.#begin(), Math.max(0, due));
    }
  }

  #pause(): number {
    const isEager = [...this.#views].some(({ eager }) => eager);
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
      // What a look sends is no part of the attempts beside it.
      const number = ++this.#looks;
      inContext(undefined, () => new Requests().within(() => this.#look(number, this.#last)));
    }
    this.#plan();
  }

  async #look(number: number, began: number): Promise<void> {
    const target = this.#denied ? portOnly(this.target) : this.target;
    let status = 0;
    const connected = () => this.#connected(number);
    const level = await look(target, connected, (answered) => {
      status ||= answered;
    }).catch(() => Level.Unanswered);
    this.#flying--;
    if (number < this.#latest) {
      return; // one that began later has said something
    }
    this.#latest = number;
    this.#level = level;
    this.#ended = performance.now();
    this.#judge(began);
    this.#heed(status);
    for (const view of this.#views) {
      view.saw(number, level);
    }
    this.#tell(number);
  }

  /** A look that goes on has a connection. */
  #connected(number: number): void {
    if (number >= this.#latest) {
      this.#latest = number;
      this.#level = Math.max(this.#level, Level.Accepting);
      this.#tell(number);
    }
  }

  #judge(began: number): void {
    if (this.#level !== Level.Healthy) {
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
    if (this.#level < Level.Accepting || this.#level === Level.Healthy) {
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
    const seen = this.#ready ? Level.Healthy : Math.min(this.#level, Level.Accepting);
    for (const view of this.#views) {
      if (number > view.since && view.rise(seen)) {
        view.news();
      }
    }
  }
}

/** One call's view of a server. */
class View implements Watch {
  #least: Level | undefined; // that a look which counts ended with
  #rose = Level.Unanswered; // above that

  /** @param since The number of the last look that began before it. */
  constructor(
    readonly server: Server,
    readonly eager: boolean,
    readonly news: () => void,
    readonly since: number,
  ) {}

  saw(number: number, level: Level): void {
    if (number > this.since) {
      this.#least = Math.min(level, this.#least ?? level);
    }
  }

  /** Whether the server has risen further. */
  rise(now: Level): boolean {
    const before = this.#rose;
    const has = this.#least !== undefined && now > this.#least && now >= Level.Accepting;
    this.#rose = has ? now : Level.Unanswered;
    return this.#rose > before;
  }

  seen(): Seen {
    return { rose: WORDS[this.#rose], down: this.server.isDown(this.since), why: this.server.why };
  }

  stop(): void {
    this.server.leave(this);
  }
}

const WORDS: Partial<Record<Level, Readiness>> = {
  [Level.Accepting]: "accepting",
  [Level.Healthy]: "ready",
};
