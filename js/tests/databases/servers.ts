/** Real servers, which a test starts, stops and kills. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import pg from "pg";
import { closedPort, folder, ROOT } from "../helpers.js";

/** A server's process. What was applied to it outlives it. */
export abstract class Server {
  #process: ChildProcess | undefined;

  constructor(
    t: TestContext,
    readonly port: number,
    readonly data: string,
  ) {
    t.after(() => this.kill());
  }

  protected abstract readonly command: readonly string[];
  /** Kills it with its children. */
  protected readonly deadly: NodeJS.Signals = "SIGKILL";
  /** Throws until it answers. */
  protected abstract look(): Promise<unknown>;
  /** How often a write was applied. */
  abstract applied(): Promise<number>;
  /** Makes what writes need. */
  async prepare(): Promise<void> {}

  get isUp(): boolean {
    return this.#process !== undefined;
  }

  async start(...options: string[]): Promise<void> {
    await this.begin(...options);
    await this.#until(() => this.look());
  }

  /** Starts it, and waits only until it listens. */
  async begin(...options: string[]): Promise<void> {
    const [program = "", ...args] = this.command;
    this.#process = spawn(program, [...args, ...options], { stdio: ["ignore", "pipe", "pipe"] });
    this.#said = "";
    for (const stream of [this.#process.stdout!, this.#process.stderr!]) {
      stream.on("data", (data) => {
        this.#said += data;
      });
    }
    await this.#until(async () => {
      const socket = connect(this.port, "127.0.0.1");
      try {
        await once(socket, "connect");
      } finally {
        socket.destroy();
      }
    });
  }

  #said = "";

  async #until(look: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await look();
        return;
      } catch (error) {
        if (this.#process?.exitCode !== null) {
          throw new Error(`the server ended: ${this.#said.slice(-2000)}`, { cause: error });
        }
        await pause(30);
      }
    }
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    const [child] = [this.#process];
    this.#process = undefined;
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill(this.deadly);
      await once(child, "exit");
    }
  }
}

const SERVE = join(ROOT, "../tests/databases/serve.sh");

/** A folder that the user whom a server runs as can enter. */
function open(t: TestContext): string {
  const path = folder(t);
  chmodSync(path, 0o755);
  return path;
}

export class Postgres extends Server {
  static async make(t: TestContext): Promise<Postgres> {
    return new Postgres(t, await closedPort(), open(t));
  }

  protected override readonly deadly = "SIGQUIT";

  protected get command() {
    return [SERVE, "postgres", this.data, `${this.port}`, "-c", "max_connections=4"].concat([
      "-c",
      "superuser_reserved_connections=1",
      "-c",
      "max_wal_senders=0",
    ]);
  }

  get address() {
    return { host: "127.0.0.1", port: this.port, user: "postgres", database: "postgres" };
  }

  async ask(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client(this.address);
    client.on("error", () => {});
    try {
      await client.connect();
      return (await client.query(text)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  protected look() {
    return this.ask("select 1");
  }

  override async prepare() {
    await this.ask("create table applied ()");
    await this.ask(
      "create procedure apply_and_wait() language plpgsql as " +
        "$$ begin insert into applied default values; commit; perform pg_sleep(600); end $$",
    );
  }

  async applied() {
    const [row] = await this.ask("select count(*) from applied");
    return Number(row?.count);
  }
}

export class MariaDb extends Server {
  static async make(t: TestContext): Promise<MariaDb> {
    return new MariaDb(t, await closedPort(), open(t));
  }

  protected get command() {
    return [SERVE, "mariadb", this.data, `${this.port}`, "--max-connections=10"];
  }

  get address() {
    return { host: "127.0.0.1", port: this.port, user: "root", multipleStatements: true };
  }

  async ask(text: string): Promise<unknown> {
    const client = await createConnection(this.address);
    try {
      return (await client.query(text))[0];
    } finally {
      client.destroy();
    }
  }

  protected look() {
    return this.ask("select 1");
  }

  override async prepare() {
    await this.ask("create database test; create table test.applied (n int)");
  }

  async applied() {
    const [row] = (await this.ask("select count(*) as count from test.applied")) as [RowDataPacket];
    return Number(row.count);
  }
}

export class RedisServer extends Server {
  static async make(t: TestContext): Promise<RedisServer> {
    return new RedisServer(t, await closedPort(), open(t));
  }

  protected get command() {
    const lasting = ["--appendonly", "yes", "--appendfsync", "always"];
    return [SERVE, "redis", this.data, `${this.port}`, "--maxclients", "4", ...lasting];
  }

  async ask<T>(work: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(this.port, { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => {});
    try {
      await client.connect();
      return await work(client);
    } finally {
      client.disconnect();
    }
  }

  protected look() {
    return this.ask((client) => client.ping());
  }

  applied() {
    return this.ask(async (client) => Number(await client.get("applied")));
  }
}

export class Grpc extends Server {
  static async make(t: TestContext): Promise<Grpc> {
    return new Grpc(t, await closedPort(), folder(t));
  }

  protected get command() {
    const program = fileURLToPath(new URL("grpc-server.js", import.meta.url));
    return [process.execPath, program, `${this.port}`, this.#ledger];
  }

  get #ledger() {
    return join(this.data, "ledger");
  }

  protected async look() {}

  async applied() {
    appendFileSync(this.#ledger, ""); // so that there is one
    return statSync(this.#ledger).size;
  }
}
