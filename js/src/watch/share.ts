/** One look for all processes of a user: who looks, and who goes by that. docs/looking.md has the
 * protocol, and why the times are what they are. */

import { readFileSync } from "node:fs";
import { Caller, type Callers } from "./callers.js";
import { boot } from "./clock.js";
import { addressesOf } from "./look.js";
import { Conn, directory, levelOf, nameOf, Place, Seat, wordOf } from "./meeting.js";
import type { How } from "./readiness.js";
import { type Level, nameTarget, type Target } from "./target.js";

const ASKING = 1000;
const ANSWERED = 500;
const UNHEARD = 2;
const AGAIN = 10_000;
const EACH = 150;
const TICK = 100; // at which what is due is looked for
const HOLDS = 300; // milliseconds that a look does
const TURN = 1_000_000; // microseconds that a turn does
const MOST = 2000; // connections of a looker
const CALLS = 10_000; // of others that a looker knows: each takes memory, and time at each look
const SPARE = 16; // lines of each kind that a looker may say beyond what it is asked for: some cross
const ASIDE = 300; // milliseconds that a call stays away whose turn was none

/** How many connections a looker takes: a quarter of the files that its process may have. */
function seats(): number {
  const [, files] =
    /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
  return Math.min(MOST, Math.floor(Number(files ?? 0) / 4));
}

/** What a server that is watched is for those who share its looks. */
export interface Looker {
  readonly target: Target;
  readonly callers: Callers;
  readonly level: Level;
  /** When the last look began, on the clock of `boot`. */
  readonly looked: number;
  /** How many looks have begun. */
  readonly looks: number;
  /** Nobody waits any more. */
  readonly over: boolean;
  /** Looks with this process's own eyes, where that is due. */
  peek(now: number): void;
  /** Looks with its own eyes, soon, and has {@link Share.saw} told. */
  check(): void;
  /** Another looks from now on, or does no more. */
  lookAnew(): void;
  /** Takes a call out that makes an attempt. */
  leave(caller: Caller): void;
  /** Takes how an attempt ended. */
  went(caller: Caller, how: How): void;
  /** Gives the turns that are free, soon. */
  deal(): void;
}

/** A turn that a looker has said. */
interface Turn {
  readonly level: Level;
  /** The number of the last look that began before. */
  readonly since: number;
}

export class Share {
  follows = false; // another looks
  readonly remotes = new Set<Caller>();
  readonly #server: Looker;
  readonly #pending = new Map<number, Caller>(); // whose attempts the looker has to hear of
  readonly #turns = new Map<Caller, Turn>(); // that a look of its own has to confirm
  readonly #aside = new Set<Caller>(); // who gave a turn back
  #to: Conn | undefined; // the looker's
  #due: Record<string, number> = {}; // how many lines it may yet say, by their first word
  #known = 0; // calls of others, in the line or under way
  #stop: () => void = () => {};

  constructor(server: Looker) {
    this.#server = server;
  }

  get isPending(): boolean {
    return this.#pending.size > 0;
  }

  /** Whether there is a turn since which no look has begun. */
  get isUnseen(): boolean {
    const { looks } = this.#server;
    return [...this.#turns.values()].some(({ since }) => since >= looks);
  }

  /** Tells the looker of a call that waits. */
  wait(caller: Caller): void {
    if (this.#to && !caller.remote && caller.held <= performance.now()) {
      const { number, by, least, eager } = caller;
      const seen = least === undefined ? "unseen" : wordOf(least);
      this.#aside.delete(caller);
      this.#due.turn!++;
      this.#to.say("wait", number, wordOf(by), seen, eager ? "eager" : "seldom");
    }
  }

  /** Tells it of one that makes an attempt. */
  goes(caller: Caller): void {
    this.#turns.delete(caller);
    if (this.#to && !caller.remote) {
      this.#pending.set(caller.number, caller);
      this.#to.say("go", caller.number);
    }
  }

  /** Tells it how that ended. */
  went(caller: Caller, how: How): void {
    if (this.#to && this.#pending.delete(caller.number)) {
      this.#to.say("done", caller.number, how);
    }
  }

  /** Ends it: the server is watched no more. */
  stop(): void {
    this.#stop();
  }

  /** Meets other processes, for as long as the server is watched. */
  async run(): Promise<void> {
    let gone = 0;
    let last = "";
    while (!this.#server.over) {
      try {
        const addresses = await addressesOf(this.#server.target.host);
        const name = nameOf(nameTarget(this.#server.target), "direct", addresses);
        const place = new Place(directory(), name);
        const entered = await place.enter(name === last ? gone : 0);
        last = name;
        gone = 0;
        if (this.#server.over) {
          // Its last call ended meanwhile, and nothing will end what begins now.
          entered instanceof Seat ? entered.leave(false) : entered.conn.end();
        } else if (entered instanceof Seat) {
          this.#followNobody();
          await this.#lead(entered, addresses);
        } else if (await this.#follow(entered.conn, place, entered.term)) {
          gone = entered.term;
        }
      } catch {
        this.#followNobody();
        await this.#pause();
      }
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, AGAIN).unref();
      this.#stop = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #followNobody(): void {
    if (this.follows) {
      this.follows = false;
      this.#server.lookAnew();
    }
  }

  /** Goes by what a looker says.
   *
   * @returns Whether that is gone. */
  #follow(conn: Conn, place: Place, term: number): Promise<boolean> {
    const server = this.#server;
    let asked = Number.NEGATIVE_INFINITY;
    let questions = 0;
    return new Promise((resolve, reject) => {
      const end = (gone: boolean) => {
        clearInterval(timer);
        this.#to = undefined;
        this.#pending.clear();
        this.#turns.clear();
        this.#aside.clear();
        conn.end();
        resolve(gone);
      };
      const leaveIt = (why: string) => {
        reject(new Error(why));
        end(false);
      };
      const tick = () => {
        const now = performance.now();
        server.peek(now);
        if (now - asked <= (questions ? ANSWERED : ASKING)) {
          return;
        }
        if (now - asked > 4 * ANSWERED) {
          questions = 0; // it was itself stopped
        }
        if (questions >= UNHEARD || (questions && place.highest() > term)) {
          end(true);
          return;
        }
        conn.say("ask");
        asked = now;
        questions++;
        this.#due.here!++;
      };
      conn.hear(
        ([word, first = "", second = "", third]) => {
          if (word === "full") {
            leaveIt("the looker has too many followers");
          } else if (!this.#wanted(word)) {
            leaveIt("the looker says more than it is asked for");
          } else if (word === "turn") {
            this.#turn(Number(first), levelOf(second), Number(third));
          } else if (word === "here" && Number(second) > boot()) {
            questions = 0;
            this.#hears(levelOf(first), asked);
          }
        },
        () => end(true),
      );
      const timer = setInterval(tick, TICK).unref();
      this.#stop = () => end(false);
      this.#to = conn;
      this.#due = { here: SPARE, turn: SPARE };
      for (const caller of server.callers) {
        this.wait(caller);
      }
      tick();
    });
  }

  /** Whether a looker was asked for what it says. One that says more would keep this process busy
   * with it. */
  #wanted(word = ""): boolean {
    const due = (this.#due[word] ?? 0) - 1;
    this.#due[word] = due;
    return due >= 0;
  }

  /** It is a call's turn, as a looker says. One that comes too late or is too little is given back,
   * and so is one of a call that is held off, of which the looker learned before. */
  #turn(number: number, level: Level, until: number): void {
    const caller = this.#server.callers.get(number);
    if (!caller || caller.remote || this.#aside.has(caller)) {
      return;
    }
    if (caller.held > performance.now() || until <= boot() || level < caller.by) {
      this.#giveBack(caller);
    } else {
      this.#turns.set(caller, { level, since: this.#server.looks });
      this.#server.check();
    }
  }

  /** Goes by what this process's own eyes saw: where the server is up its calls take their turns.
   * One good look is enough for that, since the looker has made the others. */
  saw(look: number, seen: Level): void {
    for (const [caller, { level, since }] of this.#turns) {
      if (look <= since) {
        this.#server.check(); // it may not have begun: so many are under way at most
      } else if (seen < caller.by || caller.held > performance.now()) {
        this.#giveBack(caller);
      } else {
        this.#turns.delete(caller);
        caller.rose = Math.min(seen, level);
        caller.news();
      }
    }
  }

  /** The call waits on, at the end of the line, but not at once: a looker whose turns are all none
   * would keep both of them busy. */
  #giveBack(caller: Caller): void {
    this.#to?.say("done", caller.number, "left");
    this.#turns.delete(caller);
    this.#aside.add(caller);
    const again = () => {
      if (this.#aside.has(caller) && this.#server.callers.get(caller.number)) {
        this.wait(caller);
      }
    };
    setTimeout(again, ASIDE).unref();
  }

  /** The looker is there. What it saw counts for the calls that waited already. */
  #hears(level: Level, asked: number): void {
    if (!this.follows) {
      this.follows = true;
      this.#server.lookAnew();
    }
    for (const caller of this.#server.callers) {
      if (asked - caller.began > HOLDS) {
        caller.saw(caller.since + 1, level);
      }
    }
  }

  /** Looks for others, until another has followed, or the server moves. */
  #lead(seat: Seat, addresses: string): Promise<void> {
    const server = this.#server;
    const ends = new Set<() => void>();
    const room = seats();
    return new Promise((resolve) => {
      const end = () => {
        clearInterval(timer);
        clearInterval(moves);
        seat.leave(this.remotes.size > 0);
        for (const each of ends) {
          each();
        }
        resolve();
      };
      const timer = setInterval(() => seat.taken && end(), EACH).unref();
      const moves = setInterval(async () => {
        const now = await addressesOf(server.target.host).catch(() => addresses);
        if (now !== addresses) {
          end();
        }
      }, ASKING).unref();
      seat.server.on("connection", (socket) => {
        const conn = new Conn(socket);
        if (ends.size < room) {
          this.#serve(conn, ends);
        } else {
          socket.end("full\n", () => conn.end());
        }
      });
      this.#stop = end;
    });
  }

  /** Looks for one follower. */
  #serve(conn: Conn, ends: Set<() => void>): void {
    const server = this.#server;
    const callers = new Map<string, Caller>();
    const lose = (id: string) => {
      const caller = callers.get(id);
      if (caller) {
        callers.delete(id);
        this.#known--;
        server.leave(caller);
        server.callers.window.out.delete(caller);
        server.deal();
      }
    };
    const end = () => conn.end();
    ends.add(end);
    conn.hear(
      ([word, id = "", by = "", least = "", pace]) => {
        const caller = callers.get(id);
        if (word === "ask") {
          conn.say("here", wordOf(server.level), server.looked + HOLDS * 1000);
        } else if (word === "wait") {
          lose(id);
          if (this.#known >= CALLS) {
            conn.say("full");
            conn.end();
            return;
          }
          this.#known++;
          const turn = () => conn.say("turn", id, wordOf(waiting.rose), boot() + TURN);
          const waiting: Caller = new Caller(pace === "eager", turn, server.looks, true);
          waiting.by = levelOf(by);
          waiting.least = least === "unseen" ? undefined : levelOf(least);
          callers.set(id, waiting);
          this.remotes.add(waiting);
          server.callers.enter(waiting);
        } else if (word === "go" && caller) {
          server.leave(caller);
        } else if (word === "done" && caller) {
          server.went(caller, by as How);
          lose(id);
        } else if (word !== "go" && word !== "done") {
          conn.end();
        }
      },
      () => {
        ends.delete(end);
        for (const id of callers.keys()) {
          lose(id);
        }
      },
    );
  }
}
