/** Where the processes of a user meet that look at the same server, on Linux. docs/looking.md has
 * the protocol, which Go and Python speak too. */

import { createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { Level } from "./target.js";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants;

/** The file systems on which a directory is this machine's alone: tmpfs, ramfs, ext, XFS, Btrfs,
 * F2FS, overlayfs and ZFS, by the numbers that the system gives them. */
const LOCAL = [
  ...[0x01021994, 0x858458f6, 0xef53, 0x58465342],
  ...[0x9123683e, 0xf2f52010, 0x794c7630, 0x2fc12fc1],
];

/** Milliseconds after which the file of a socket is removed that was never given its name. */
const FORGOTTEN = 60_000;

const TRIES = 10;
const MAX_TERM = 2 ** 52;
const MAX_ID = 2 ** 31 - 1;
const MAX_LINE = 64;

/** Characters that may wait for who does not read them (a choice: a thousand lines). */
const MAX_UNREAD = 64 << 10;

/**
 * The user's directory, made if it is not there. It throws if it is not the user's alone.
 *
 * @param run Where sessions have theirs.
 * @param temp Where it is without one. No variable names either.
 */
export function directory(run = "/run/user", temp = "/tmp"): string {
  const uid = process.platform === "linux" ? process.geteuid?.() : undefined;
  if (uid === undefined) {
    throw new Error("this is not Linux");
  }
  const session = join(run, String(uid));
  if (fs.lstatSync(session, { throwIfNoEntry: false })) {
    check(session, uid);
    return made(join(session, "outlast"), uid);
  }
  const parent = fs.lstatSync(temp);
  const isOpen = (parent.mode & 0o022) !== 0 && (parent.mode & 0o1000) === 0;
  if (!parent.isDirectory() || ![0, uid].includes(parent.uid) || isOpen) {
    throw new Error(`others may put something into the place of ${temp}'s`);
  }
  return made(join(temp, `outlast-${uid}`), uid);
}

function made(path: string, uid: number): string {
  try {
    fs.mkdirSync(path, 0o700);
  } catch (error) {
    if (!isCode(error, "EEXIST")) {
      throw error;
    }
  }
  check(path, uid);
  return path;
}

function check(path: string, uid: number): void {
  const fd = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const found = fs.fstatSync(fd);
  fs.closeSync(fd);
  const isPrivate = found.uid === uid && (found.mode & 0o7777) === 0o700;
  if (!isPrivate || !LOCAL.includes(fs.statfsSync(path).type)) {
    throw new Error(`${path} is not this user's alone`);
  }
}

/** What the sockets of a place are called, without a term. */
export function nameOf(...parts: string[]): string {
  const machine = fs.readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  const text = [machine, fs.readlinkSync("/proc/self/ns/net"), ...parts].join("\n");
  return `look1-${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

/** Where those meet who want to know the same. */
export class Place {
  constructor(
    readonly directory: string,
    readonly name: string,
  ) {}

  /** Connects to who looks, or takes the seat.
   *
   * @param from The highest term whose looker is known to be dead or silent. */
  async enter(from: number): Promise<Seat | { conn: Conn; term: number }> {
    let gone = from;
    for (let tries = 0; tries < TRIES; tries++) {
      const highest = this.highest();
      try {
        if (highest <= gone) {
          return await this.#take(gone + 1);
        }
        return { conn: new Conn(await connected(this.path(highest))), term: highest };
      } catch (error) {
        if (isCode(error, "ECONNREFUSED")) {
          gone = highest;
        } else if (!(isCode(error, "ENOENT") || isCode(error, "EEXIST"))) {
          throw error;
        }
      }
    }
    throw new Error("others were always sooner");
  }

  /** The highest term of a socket; 0: there is none. */
  highest(): number {
    return Math.max(0, ...this.#terms());
  }

  #terms(): number[] {
    const rests = fs
      .readdirSync(this.directory)
      .filter((name) => name.startsWith(`${this.name}.`))
      .map((name) => name.slice(this.name.length + 1));
    const terms = rests.filter((rest) => /^[1-9]\d{0,15}$/.test(rest)).map(Number);
    return terms.filter((term) => term <= MAX_TERM);
  }

  path(term: number): string {
    return join(this.directory, `${this.name}.${term}`);
  }

  /** Listens, and gives the socket its name only then. */
  async #take(term: number): Promise<Seat> {
    const hidden = join(this.directory, `.${this.name}.${randomBytes(6).toString("hex")}`);
    const server = createServer().unref();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ path: hidden, exclusive: true, backlog: 4096 }, resolve);
    });
    server.on("error", () => {});
    try {
      const { ino } = fs.lstatSync(hidden);
      fs.linkSync(hidden, this.path(term));
      this.#clear(term);
      return new Seat(this, server, term, ino);
    } catch (error) {
      server.close();
      throw error;
    } finally {
      fs.rmSync(hidden, { force: true });
    }
  }

  /** Removes what lookers before have left. */
  #clear(term: number): void {
    for (const lower of this.#terms()) {
      if (lower < term) {
        fs.rmSync(this.path(lower), { force: true });
      }
    }
    for (const name of fs.readdirSync(this.directory)) {
      const path = join(this.directory, name);
      const age = Date.now() - (fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
      if (name.startsWith(`.${this.name}.`) && age > FORGOTTEN) {
        fs.rmSync(path, { force: true });
      }
    }
  }
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}

/** The looker's, for as long as nobody has followed it. */
export class Seat {
  constructor(
    readonly place: Place,
    readonly server: Server,
    readonly term: number,
    readonly ino: number,
  ) {}

  /** Whether another has followed, or the socket was removed. */
  get taken(): boolean {
    try {
      return !this.#mine || this.place.highest() > this.term;
    } catch {
      return true;
    }
  }

  get #mine(): boolean {
    return fs.lstatSync(this.place.path(this.term), { throwIfNoEntry: false })?.ino === this.ino;
  }

  /** Listens no more. The name stays where somebody follows. */
  leave(followed: boolean): void {
    if (!followed && this.#mine) {
      fs.rmSync(this.place.path(this.term), { force: true });
    }
    this.server.close();
  }
}

const WORDS = ["unanswered", "down", "loading", "unready", "accepting", "ready"];

/** The levels that a look of Node's sees, as the protocol has them. */
const OWN = {
  unanswered: Level.Unanswered,
  loading: Level.Loading,
  accepting: Level.Accepting,
  ready: Level.Healthy,
};

/** The level that a word stands for: whatever is less than accepting is down. */
export function levelOf(word: string): Level {
  return (OWN as Partial<Record<string, Level>>)[word] ?? Level.Down;
}

/** The word for a level. */
export function wordOf(level: Level): string {
  return Object.entries(OWN).find(([, own]) => own === level)?.[0] ?? "down";
}

const ID = String.raw`(?:0|[1-9]\d{0,9})`;
const TIME = String.raw`(?:0|[1-9]\d{0,15})`;
const SEEN = WORDS.join("|");
const LINE = new RegExp(
  `^(?:wait ${ID} (?:accepting|ready) (?:unseen|${SEEN}) (?:eager|seldom)` +
    `|go ${ID}|done ${ID} (?:answered|failed|left)|ask|full` +
    `|here (?:${SEEN}) ${TIME}|turn ${ID} (?:accepting|ready) ${TIME})$`,
);

/** The words of a line; none if it is none of the protocol. */
export function parse(line: string): string[] | undefined {
  const words = line.split(" ");
  const [word = "", first] = words;
  const id = ["wait", "go", "done", "turn"].includes(word) ? Number(first) : 0;
  const until = ["here", "turn"].includes(word) ? Number(words.at(-1)) : 0;
  return LINE.test(line) && id <= MAX_ID && until <= MAX_TERM ? words : undefined;
}

/** Says and hears lines. */
export class Conn {
  #heard = "";

  constructor(readonly socket: Socket) {
    socket
      .unref()
      .setEncoding("latin1")
      .on("error", () => {});
  }

  /** Has lines heard, and the end, which nonsense is too. */
  hear(line: (words: string[]) => void, end: () => void): void {
    this.socket.once("close", end).on("data", (text) => {
      const lines = (this.#heard + text).split("\n");
      this.#heard = lines.pop()!;
      for (const each of lines) {
        const words = parse(each);
        if (this.socket.destroyed) {
          return; // by what was heard before
        }
        if (!words) {
          this.end();
          return;
        }
        line(words);
      }
      if (this.#heard.length >= MAX_LINE) {
        this.end();
      }
    });
  }

  /** Says a line, or ends the connection, where the other side does not read. */
  say(...words: (string | number)[]): void {
    this.socket.write(`${words.join(" ")}\n`);
    if (this.socket.writableLength > MAX_UNREAD) {
      this.end();
    }
  }

  end(): void {
    this.socket.destroy();
  }
}
