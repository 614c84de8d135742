/** Clients of databases, as programs use them. */

import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { credentials, makeGenericClientConstructor, type ServiceError } from "@grpc/grpc-js";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import pg from "pg";
import { createClient } from "redis";
import { until } from "../helpers.js";
import { SERVICE } from "./grpc-service.js";
import type { Grpc, MariaDb, Postgres, RedisServer } from "./servers.js";

/** What a test does with a client. */
export interface Client {
  read(): Promise<unknown>;
  write(): Promise<unknown>;
  /** A write that is applied, and whose answer does not come. */
  applyAndWait(): Promise<unknown>;
  /** Waits until it has noticed that its server is back. */
  back(): Promise<unknown>;
  close(): unknown;
}

export function pgPool({ address }: Postgres): Client {
  const pool = new pg.Pool(address);
  pool.on("error", () => {});
  return {
    read: () => pool.query("select 1"),
    write: () => pool.query("insert into applied default values"),
    applyAndWait: () => pool.query("call apply_and_wait()"),
    back: async () => {},
    close: () => pool.end(),
  };
}

export function mysql2Pool({ address }: MariaDb): Client {
  const pool = createPool(address);
  const write = "insert into test.applied values (1)";
  return {
    read: () => pool.query("select 1"),
    write: () => pool.query(write),
    applyAndWait: () => pool.query(`${write}; select sleep(600)`),
    back: async () => {},
    close: () => pool.end(),
  };
}

export function ioredis({ port }: RedisServer): Client {
  const client = new Redis(port, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 1,
    retryStrategy: () => 50,
  });
  client.on("error", () => {});
  return {
    read: () => client.get("applied"),
    write: () => client.incr("applied"),
    applyAndWait: () => Promise.all([client.incr("applied"), client.wait(1, 0)]),
    back: () => until(() => client.status === "ready"),
    close: () => client.disconnect(),
  };
}

export function nodeRedis({ port }: RedisServer): Client {
  const socket = { port, reconnectStrategy: () => 50 };
  const client = createClient({ socket, disableOfflineQueue: true });
  client.on("error", () => {});
  const connected = client.connect();
  connected.catch(() => {});
  return {
    read: () => client.get("applied"),
    write: () => client.incr("applied"),
    applyAndWait: () => Promise.all([client.incr("applied"), client.wait(1, 0)]),
    back: () => until(() => client.isReady),
    close: () => client.destroy(),
  };
}

const Stub = makeGenericClientConstructor(SERVICE, "Test");

type Method = keyof typeof SERVICE;

/** A client whose other methods can be called too. */
interface Caller extends Client {
  call(name: Method): Promise<unknown>;
}

function byCalls(call: Caller["call"], rest: Pick<Client, "back" | "close">): Caller {
  return {
    call,
    read: () => call("read"),
    write: () => call("write"),
    applyAndWait: () => call("applyAndWait"),
    ...rest,
  };
}

function channel({ port }: Grpc) {
  return new Stub(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.initial_reconnect_backoff_ms": 100,
  });
}

type Call = (message: Buffer, done: (error: ServiceError | null) => void) => void;

/** One channel, as long as the program lives. */
export function grpcJs(server: Grpc): Caller {
  const client = channel(server);
  const call = (name: Method) => promisify((client[name] as Call).bind(client))(Buffer.from("x"));
  // Its own waitForReady was seen to wait in vain for a minute.
  const back = (): Promise<unknown> => call("read").catch(() => pause(20).then(back));
  return byCalls(call, { back, close: () => client.close() });
}

/** A channel for each attempt. */
export function grpcJsAnew(server: Grpc): Caller {
  const call = async (name: Method) => {
    const client = grpcJs(server);
    try {
      return await client.call(name);
    } finally {
      client.close();
    }
  };
  return byCalls(call, { back: async () => {}, close: () => {} });
}
