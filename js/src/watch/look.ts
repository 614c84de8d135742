/** One look at a server: does it accept a connection, and is it healthy? */

import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP, type Socket } from "node:net";
import { DEFAULT_PORTS, Level, says, type Target } from "./target.js";

/** Milliseconds that one look takes at most (a choice: a connection that takes longer is no sign
 * of a server that a call should hurry to). */
const TIMEOUT = 1000;

/** Milliseconds that a connection must last to count as accepted: what stands before a server that
 * is away may accept, and close at once (a choice, far above a round trip on a machine or in its
 * network). */
const STEADY = 20;

/** How many addresses of a name one look tries (a choice: a server with more has others to be
 * found by). */
const MAX_ADDRESSES = 8;

/** The errors of a connection that was refused, or had no way to its address; the last two are of
 * a family of addresses that this machine does not have. */
const NO_WAY =
  /^(ECONNREFUSED|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|EAFNOSUPPORT)$/;

/**
 * Looks at a target, on all its addresses at once. No token, no cookie, no redirect, no proxy.
 * Where there is a health check, a connection says nothing before that has been answered or the
 * look is over: the answer may be that the server is not ready.
 *
 * @param answered Is called with the status of the health check's answer.
 */
export async function look(
  target: Target,
  answered: (status: number) => void = () => {},
): Promise<Level> {
  const over = AbortSignal.timeout(TIMEOUT);
  let addresses: LookupAddress[];
  try {
    const all = await Promise.race([resolve(target.host), rejected(over)]);
    addresses = all.slice(0, MAX_ADDRESSES);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOTFOUND" ? Level.Down : Level.Unanswered;
  }
  const best = target.scheme === "tcp" ? Level.Accepting : Level.Healthy;
  const all = addresses.map(({ address }) => at(target, address, over, answered));
  const found = Promise.any(
    all.map(async (each) => ((await each) === best ? best : Promise.reject())),
  );
  return found.catch(async () => {
    const seen = await Promise.all(all);
    const reached = Math.max(...seen) as Level;
    // An attempt is sure to fail only if each address says so.
    const unsure = reached < Level.Accepting && seen.includes(Level.Unanswered);
    return unsure ? Level.Unanswered : reached;
  });
}

/** The addresses, looked up afresh each time: a restart may move a server. */
async function resolve(host: string): Promise<LookupAddress[]> {
  const family = isIP(host);
  return family ? [{ address: host, family }] : lookup(host, { all: true });
}

/** The addresses that a host has now, as docs/looking.md names them: all of them, since a resolver
 * may give them in another order each time. */
export async function addressesOf(host: string): Promise<string> {
  const found = await resolve(host);
  return [...new Set(found.map(({ address }) => address))].sort().join(",");
}

function rejected(over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => over.addEventListener("abort", () => reject(over.reason)));
}

/** Looks at one address. */
async function at(
  target: Target,
  host: string,
  over: AbortSignal,
  answered: (status: number) => void,
): Promise<Level> {
  const socket = await connect({ host, port: target.port }, over);
  if (typeof socket === "number") {
    return socket;
  }
  try {
    // Where nobody listens at a port of this machine, the system may give a connection that port.
    if (socket.localPort === socket.remotePort && socket.localAddress === socket.remoteAddress) {
      return Level.Down;
    }
    const steady = stays(socket);
    // An answer is waited for no longer than it takes. A certificate that is not trusted would end
    // a connection that lasts.
    const asked = target.scheme === "http" ? ask(target, socket, over) : undefined;
    if (!(await steady)) {
      return Level.Unanswered;
    }
    if (target.scheme === "tcp") {
      return Level.Accepting;
    }
    const status = await (asked ?? ask(target, socket, over));
    answered(status);
    return says(target, status);
  } finally {
    socket.destroy();
  }
}

async function connect(to: { host: string; port: number }, over: AbortSignal) {
  const { connect } = await import("node:net");
  return new Promise<Socket | Level>((resolve) => {
    const socket = connect(to);
    const end = (level: Level) => {
      socket.destroy();
      resolve(level);
    };
    over.addEventListener("abort", () => socket.connecting && end(Level.Unanswered));
    socket.once("connect", () => resolve(socket));
    socket.on("error", ({ code = "" }: NodeJS.ErrnoException) =>
      end(NO_WAY.test(code) ? Level.Down : Level.Unanswered),
    );
  });
}

/** Whether a connection is kept for a while, or something is said on it. */
function stays(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, STEADY, true);
    const end = (stood: boolean) => {
      clearTimeout(timer);
      resolve(stood);
    };
    socket.once("data", () => end(true)).once("close", () => end(false));
    socket.once("end", () => end(false));
  });
}

/** The status of the health check's answer, on a connection that stands; 0 for none. */
async function ask(target: Target, socket: Socket, over: AbortSignal): Promise<number> {
  const { request } = await import("node:http");
  const { connect } = await import("node:tls");
  const { scheme, host, port, path } = target;
  const servername = isIP(host) ? "" : host;
  const encrypted = () => connect({ socket, host, servername }).on("error", () => {});
  return new Promise((resolve) => {
    const asked = request({
      ...{ host, port, path, signal: over, defaultPort: DEFAULT_PORTS[scheme] },
      createConnection: scheme === "https" ? encrypted : () => socket,
      headers: { "user-agent": "outlast", connection: "close" },
    });
    asked.on("response", (answer) => {
      answer.on("error", () => {}).destroy();
      resolve(answer.statusCode!);
    });
    asked.on("error", () => resolve(0)).on("close", () => resolve(0));
    asked.end();
  });
}
