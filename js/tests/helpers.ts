/** What several tests need. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after as afterAll, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type CallEvent, Policy, type Readiness, type Result } from "outlast";

/** The folder of the package. */
export const ROOT = fileURLToPath(new URL("../", import.meta.url));

export const READ = { remote: true, write: false };
export const WRITE = { remote: true, write: true };

/** What omnigraph 0.8 to 0.10 prints of a failure. Without its end, the blank line and
 * `Location:`, it may have been cut, and proves nothing of a write. */
export function report(...causes: string[]): string {
  const lines = causes.map((cause, number) => `   ${number}: ${cause}\n`);
  return `Error: \n${lines.join("")}\nLocation:\n   crates/omnigraph-cli/src/client.rs:1\n`;
}

/** What it prints of a server that is away. */
export const REFUSED = report(
  "error sending request for url (http://127.0.0.1:8080/)",
  "client error (Connect)",
  "tcp connect error",
  "Connection refused (os error 111)",
);

/** How an attempt ends that meets no server. */
export const FAILED: Result = { exitCode: 1, stderr: REFUSED };

/** What it prints of a store that needs a repair. */
export const DRIFT = report(
  "table 'people' is ahead of its manifest; run `omnigraph repair` first",
);

/** An attempt that fails so often, and then succeeds. */
export function after(failures: number, failure: () => Result): () => Result {
  let left = failures;
  return () => (left-- > 0 ? failure() : { exitCode: 0 });
}

/** An attempt that throws. */
export const thrown = (error: unknown) => () => {
  throw error;
};

/** The error of a connection that was refused, as Node has it. */
export function refused(): Error {
  const details = { code: "ECONNREFUSED", syscall: "connect", address: "127.0.0.1", port: 8080 };
  return Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:8080"), details);
}

/** The error of a connection that broke. */
export function reset(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" });
}

/** A port on which nobody listens, and none of those that systems give to whoever names none: by
 * the time it is used, such a one may be that of a server in another test, which says nothing. */
export async function closedPort(): Promise<number> {
  const port = randomInt(10_000, 30_000);
  const server = createTcpServer().listen(port, "127.0.0.1");
  const isFree = await once(server, "listening").then(
    () => true,
    () => false,
  );
  server.close();
  return isFree ? port : closedPort();
}

/** The address of a server that is away. */
export async function nowhere(): Promise<string> {
  return `http://127.0.0.1:${await closedPort()}/`;
}

/** A server that is away until it is opened, and what it was sent. */
export async function opening(t: TestContext) {
  const port = await closedPort();
  const sent: string[] = [];
  const server = createServer(async (asked, answer) => {
    sent.push(`${asked.method} ${await text(asked)}`);
    answer.end("well");
  });
  t.after(() => shut(server));
  const open = () => once(server.listen(port, "127.0.0.1"), "listening");
  return { url: `http://127.0.0.1:${port}/`, sent, open };
}

/** Gets what comes of something that must come to an end, or says that it did not. */
export async function soon<T>(asked: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = pause(20_000, undefined, over).then(() => {
    throw new Error("it did not end within 20 s");
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    over.abort();
  }
}

/** Ends this process once its tests have ended, though they left something open. */
export function endWithTests(): void {
  afterAll(() => {
    const left = () => {
      console.error("left open:", process.getActiveResourcesInfo());
      process.exit(1);
    };
    setTimeout(left, 10_000).unref();
  });
}

/** An HTTP server for one test; gives its address. */
export async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => shut(server));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Ends an HTTP server and its connections. */
export function shut(server: Server): void {
  server.close();
  server.closeAllConnections();
}

/** A server that does with each connection what it is told; gives its port. */
export async function listen(t: TestContext, accept: (socket: Socket) => void): Promise<number> {
  const open = new Set<Socket>();
  const server = createTcpServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    accept(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of open) {
      socket.destroy();
    }
  });
  return (server.address() as AddressInfo).port;
}

/** Waits for something that will be so, up to 20 s. */
export async function until(what: () => boolean): Promise<void> {
  for (let waited = 0; !what(); waited += 20) {
    assert.ok(waited < 20_000, `never: ${what}`);
    await pause(20);
  }
}

/** A folder for one test. */
export function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "outlast-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A key and a certificate that nobody trusts. */
export function certificate(path: string): { key: Buffer; cert: Buffer } {
  const [key, cert] = [`${path}/key.pem`, `${path}/cert.pem`];
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const to = ["-nodes", "-keyout", key, "-out", cert, "-days", "1", "-subj", "/CN=localhost"];
  execFileSync("openssl", [...made, ...to], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

/** A server with TLS that takes part in no handshake for half a second, and then in all; gives its
 * address, and what it was sent. */
export async function slowToConnect(t: TestContext): Promise<[url: string, sent: string[]]> {
  const sent: string[] = [];
  const server = createSecureServer(certificate(folder(t)), async (asked, answer) => {
    sent.push(`${asked.method} ${await text(asked)}`);
    answer.end("well");
  });
  let opened: Promise<void> | undefined;
  const port = await listen(t, async (socket) => {
    opened ??= pause(500);
    await opened;
    server.emit("connection", socket);
  });
  return [`https://127.0.0.1:${port}/`, sent];
}

/** What a watcher that always says the same sees. */
export function always(
  rose: Readiness | undefined,
  seen: { down?: boolean; notReady?: boolean } = {},
) {
  const watches: [eager: boolean, stopped: boolean][] = [];
  return {
    watches,
    watch(eager: boolean) {
      const place = watches.push([eager, false]) - 1;
      return {
        seen: () => ({ rose, down: false, ...seen }),
        stop: () => {
          watches[place]![1] = true;
        },
      };
    },
  };
}

/** A policy document that waits for what comes with exit code 7. */
export function document(maxWait = "60s"): Record<string, unknown> {
  const backoff = { type: "exponential", base: "500ms", multiplier: 2, cap: "10s" };
  return {
    version: 1,
    name: "mine",
    budgets: { away: { max_wait: maxWait, backoff } },
    rules: [
      { kind: "away", when: [{ exit_codes: [7] }], then: [{ retry: "away" }] },
      { kind: "failed", then: [{ stop: { effects: "unknown" } }] },
    ],
  };
}

/** The policy `network`, whose waits are of half a minute: who comes back sooner was woken. */
export async function patient(): Promise<Policy> {
  const { budgets, ...rest } = (await (await Policy.load("network")).document()) as {
    budgets: Record<string, object>;
  };
  const backoff = { type: "exponential", base: "30s", multiplier: 2, cap: "60s", jitter: 0.1 };
  const unavailable = { ...budgets.unavailable, backoff };
  return Policy.load({ ...rest, name: "patient", budgets: { ...budgets, unavailable } });
}

/** A server that is away when a call first waits for it, and comes back a while later. */
export async function returning(t: TestContext) {
  const port = await closedPort();
  const asked: string[] = [];
  const types = new Set<string>();
  let isReady = false;
  const server = createServer(({ method, url }, answer) => {
    asked.push(`${method} ${url}`);
    answer.writeHead(isReady || url === "/" ? 200 : 503).end(method);
  });
  const timers: NodeJS.Timeout[] = [];
  t.after(() => {
    timers.forEach(clearTimeout);
    shut(server);
  });
  return {
    url: `http://127.0.0.1:${port}/`,
    port,
    /** What it was asked for. */
    asked,
    /** Which events of the call there were. */
    types,
    isReady: () => isReady,
    /** To be told of the call's events. */
    observe({ type }: CallEvent) {
      types.add(type);
      if (type === "waiting" && timers.length === 0) {
        timers.push(setTimeout(() => server.listen(port, "127.0.0.1"), 500));
        timers.push(setTimeout(() => (isReady = true), 900));
      }
    },
  };
}

/** A server that counts connections' first words and then does something. */
export async function counting(
  t: TestContext,
  then: (socket: Socket) => void,
): Promise<[number, () => number]> {
  let got = 0;
  const port = await listen(t, (socket) => {
    socket.once("data", () => {
      got++;
      then(socket);
    });
  });
  return [port, () => got];
}
