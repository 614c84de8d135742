// What becomes of a read and of a write by clients of databases, when the real server is away,
// refuses, or breaks off. Waits are on a virtual clock. docs/databases.md has the tables of it.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { createConnection } from "mysql2/promise";
import { outcomeOf, retry } from "outlast";
import { virtualTime } from "outlast/testing";
import pg from "pg";
import { assertDocumented, row } from "../evidence/tables.js";
import { ROOT, WRITE } from "../helpers.js";
import type { Client } from "./clients.js";
import * as clients from "./clients.js";
import { Grpc, MariaDb, Postgres, RedisServer, type Server } from "./servers.js";

/** How long a trouble lasts, in milliseconds. */
const AWAY = 6000;

/** A trouble of a server that is up; gives what ends it. */
type Trouble<S> = (server: S) => Promise<() => Promise<unknown>>;

const refused: Trouble<Server> = async (server) => {
  await server.kill();
  return () => server.start();
};

const startingUp: Trouble<Postgres> = async (server) => {
  await server.kill();
  const recovery = `${server.data}/cluster/recovery.signal`;
  writeFileSync(recovery, "");
  await server.begin("-c", "restore_command=sleep 600; false");
  return async () => {
    await server.kill();
    await rm(recovery);
    await server.start();
  };
};

/** It loads 50,000 keys and waits for 1 ms after each. */
const loading: Trouble<RedisServer> = async (server) => {
  await server.ask(async (client) => {
    await client.eval("for key = 1, 50000 do redis.call('set', key, key) end", 0);
    await client.bgrewriteaof();
    while (/aof_rewrite_(in_progress|scheduled):1/.test(await client.info("persistence"))) {
      await pause(20);
    }
  });
  await server.kill();
  await server.begin("--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024");
  return async () => {
    await server.kill();
    await server.start();
  };
};

/** Other clients take all its connections. */
function crowded<S extends Server>(take: (server: S) => Promise<{ end(): unknown }>): Trouble<S> {
  return async (server) => {
    const taken: { end(): unknown }[] = [];
    try {
      for (;;) {
        taken.push(await take(server));
      }
    } catch {
      return () => Promise.all(taken.map((each) => each.end()));
    }
  };
}

const takePg = async ({ address }: Postgres) => {
  const client = new pg.Client(address);
  client.on("error", () => {});
  await client.connect();
  return client;
};

const takeMysql = ({ address }: MariaDb) => createConnection(address);

/** A connection that the server takes is closed by it at once if it has too many. */
const takeRedis = async ({ port }: RedisServer) => {
  const client = new Redis(port, { lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => {});
  await client.connect();
  return { end: () => client.disconnect() };
};

/** A call as the columns of the tables have it. */
interface How {
  readonly write: boolean;
  readonly onlyRequest: boolean;
}

const COLUMNS: readonly How[] = [
  { write: false, onlyRequest: false },
  { write: true, onlyRequest: false },
  { write: true, onlyRequest: true },
];

/** What a call comes to, by a client that is made in the trouble. */
async function play<S extends Server>(
  server: S,
  make: () => Client,
  trouble: Trouble<S>,
  { write, onlyRequest }: How,
): Promise<string> {
  const before = await server.applied();
  const mend = await trouble(server);
  const client = make();
  let isOver = false;
  const end = async () => {
    isOver = true;
    await mend();
    await client.back();
  };
  const ended = await virtualTime((clock) => {
    const attempt = async () => {
      if (clock.now() >= AWAY && !isOver) {
        await end();
      }
      return write ? client.write() : client.read();
    };
    return outcome(retry(attempt, { remote: true, write }, { onlyRequest }));
  });
  const rodeOut = isOver ? ", rode it out" : "";
  await (isOver || end());
  return `${write ? `${(await server.applied()) - before}, ` : ""}${ended}${rodeOut}`;
}

/** The same of a call whose server is killed when its first attempt has been applied, and is
 * back at the second one. */
async function playKilled(
  server: Server,
  make: () => Client,
  { write, onlyRequest }: How,
): Promise<string> {
  const client = make();
  await client.back();
  const before = await server.applied();
  const attempt = async ({ attempt }: { attempt: number }) => {
    if (attempt === 1) {
      return client.applyAndWait();
    }
    await server.start();
    await client.back();
    return write ? client.write() : client.read();
  };
  const call = virtualTime(() => outcome(retry(attempt, { remote: true, write }, { onlyRequest })));
  while ((await server.applied()) === before) {
    await pause(20);
  }
  await server.kill();
  const ended = await call;
  if (!server.isUp) {
    await server.start();
  }
  await client.back();
  return write ? `${(await server.applied()) - before}, ${ended}` : ended;
}

const outcome = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (error) => outcomeOf(error)?.type ?? `thrown: ${error}`,
  );

const KILLED = ["killed, after the write", undefined] as const;

const HEADS = [
  "what happens",
  "read: outcome",
  "write: applied, outcome",
  "write, `onlyRequest`: applied, outcome",
];

/** Plays a trouble with a client that is closed after that. */
async function played(make: () => Client, play: (make: () => Client) => Promise<string>) {
  const made: Client[] = [];
  try {
    return await play(() => {
      const client = make();
      made.push(client);
      return client;
    });
  } finally {
    await Promise.all(made.map((each) => each.close()));
  }
}

/** Plays all troubles with a server's clients, and wants the page to say so. */
async function assertPlayed<S extends Server>(
  server: S,
  troubles: Readonly<Record<string, Trouble<S>>>,
  clients: Readonly<Record<string, (server: S) => Client>>,
): Promise<void> {
  await server.start();
  await server.prepare();
  const tables: Record<string, string[]> = {};
  for (const [name, make] of Object.entries(clients)) {
    const rows: string[] = [];
    for (const [what, trouble] of [...Object.entries(troubles), KILLED] as const) {
      const cells: string[] = [];
      for (const how of COLUMNS) {
        const one = (make: () => Client) =>
          trouble ? play(server, make, trouble, how) : playKilled(server, make, how);
        cells.push(await played(() => make(server), one));
      }
      rows.push(row([what, ...cells]));
    }
    tables[name] = rows;
  }
  assertDocumented("databases.md", HEADS, tables);
}

/** What a statement raises is the program's own, though it looks like a refusal. */
async function assertOwn(write: () => Promise<unknown>, own: object): Promise<void> {
  let made = 0;
  const attempt = () => {
    made++;
    return write();
  };
  await assert.rejects(retry(attempt, WRITE, { onlyRequest: true }), own);
  assert.equal(made, 1);
}

const hasApt = existsSync("/usr/bin/apt-get");
const debian = { skip: hasApt ? false : "the servers are Debian's packages" };

test("pg, with PostgreSQL", debian, async (t) => {
  const troubles = {
    refused,
    "starting up": startingUp,
    "too many clients": crowded(takePg),
  };
  const server = await Postgres.make(t);
  await assertPlayed(server, troubles, { pg: clients.pgPool });
  const raise = "do $$ begin raise exception 'x' using errcode = '57P03'; end $$";
  await assertOwn(() => server.ask(raise), { code: "57P03", severity: "ERROR" });
});

test("mysql2, with MariaDB", debian, async (t) => {
  const troubles = { refused, "too many connections": crowded(takeMysql) };
  const server = await MariaDb.make(t);
  await assertPlayed(server, troubles, { mysql2: clients.mysql2Pool });
  const raise = "signal sqlstate '08004' set mysql_errno = 1040, message_text = 'x'";
  await assertOwn(() => server.ask(raise), { errno: 1040, sqlState: "08004" });
});

test("ioredis and node-redis, with Redis", debian, async (t) => {
  const troubles = { refused, loading, "too many clients": crowded(takeRedis) };
  const { ioredis, nodeRedis } = clients;
  await assertPlayed(await RedisServer.make(t), troubles, { ioredis, "node-redis": nodeRedis });
});

test("@grpc/grpc-js", async (t) => {
  const { grpcJs, grpcJsAnew } = clients;
  const server = await Grpc.make(t);
  const both = {
    "@grpc/grpc-js": grpcJs,
    "@grpc/grpc-js, a channel for each attempt": grpcJsAnew,
  };
  await assertPlayed(server, { refused }, both);
  for (const make of Object.values(both)) {
    const client = make(server);
    t.after(() => client.close());
    for (const how of ["applyAndForward", "applyAndForwardLate"] as const) {
      const before = await server.applied();
      const call = retry(() => client.call(how), WRITE, { onlyRequest: true });
      await assert.rejects(call, { name: "Indeterminate" });
      assert.equal((await server.applied()) - before, 1);
    }
  }
  await server.kill();
  const client = grpcJs(server);
  t.after(() => client.close());
  const before = await server.applied();
  await virtualTime((clock) => {
    const attempt = async () => {
      if (clock.now() >= AWAY) {
        await server.start();
        await client.back();
      }
      return client.write();
    };
    const call = { ...WRITE, refusesBeforeActing: true };
    return retry(attempt, call, { onlyRequest: true });
  });
  assert.equal((await server.applied()) - before, 1);
});

test("each client's file names the version that is tried here", () => {
  const folder = join(ROOT, "src/evidence/drivers");
  const packages: Record<string, string> = { grpc: "@grpc/grpc-js", "node-redis": "redis" };
  for (const file of readdirSync(folder)) {
    const name = file.replace(".ts", "");
    const path = join(ROOT, "node_modules", packages[name] ?? name, "package.json");
    const { version } = JSON.parse(readFileSync(path, "utf8"));
    const [, tried] = /tried with ([\d.]*\d)/.exec(readFileSync(join(folder, file), "utf8")) ?? [];
    assert.equal(tried, version, file);
  }
});
