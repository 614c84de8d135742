/** Looks at the address that a request itself goes to. */

import { lookup } from "node:dns/promises";
import { type Peer, Requests } from "../evidence/requests.js";
import { endOf } from "../evidence/traffic.js";
import type { Watch, Watcher } from "../watch/readiness.js";
import { bareHost } from "../watch/target.js";
import { watcherOf } from "../watch/watcher.js";

/** What a text says, if it is a URL. */
export function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Sees nothing. */
const BLIND: Watch = { seen: () => ({ down: false }), stop: () => {} };

/** Looks at a request's own address, if the request was seen to go there: behind a proxy, or by a
 * connection that is made in another way, a look would see another server. */
export class OwnAddress implements Watcher {
  readonly #url: URL | undefined;
  readonly #health: string | undefined;
  #target: string | URL | undefined; // none: the last attempt led elsewhere

  /**
   * @param url Where the request goes; none: what was seen of the last attempt says it.
   * @param health What is asked for there, as a path; none: whether it accepts.
   */
  constructor(url: URL | undefined, health: string | undefined) {
    this.#url = url;
    this.#health = health;
  }

  /** An attempt has ended, by an error or an answer. To be called as a part of it. */
  async ended(error?: unknown): Promise<void> {
    const { peer, origin } = Requests.current() ?? {};
    const url = this.#url ?? urlOf(String(origin));
    this.#target = url && (await this.#targetAt(url, peer, error));
  }

  watch(eager: boolean, news: () => void): Watch {
    return this.#target ? watcherOf(this.#target).watch(eager, news) : BLIND;
  }

  async #targetAt(
    url: URL,
    peer: Peer | undefined,
    error: unknown,
  ): Promise<string | URL | undefined> {
    const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
    const to = { host: bareHost(url.hostname), port };
    const end = endOf(error);
    const isDirect = end ? isTo(end, error, to) : peer !== undefined && (await isOf(peer, to));
    const target = this.#health
      ? new URL(this.#health, url.origin)
      : `tcp://${url.hostname}:${port}`;
    return isDirect ? target : undefined;
  }
}

/** Whether a connection that was not made was one to an address. */
function isTo({ host, port }: Peer, error: unknown, to: Peer): boolean {
  return bareHost(host) === to.host && port === to.port && led(error, to);
}

/** Whether the server at the other end of a connection has an address. */
async function isOf({ host, port }: Peer, to: Peer): Promise<boolean> {
  const found = await lookup(to.host, { all: true }).catch(() => []);
  return port === to.port && found.some(({ address }) => address === host);
}

interface Details {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly port?: unknown;
  readonly hostname?: unknown;
  readonly errors?: readonly unknown[];
  readonly cause?: unknown;
}

/** Whether an error says of a connection of the system's that it was to lead to a port, or of a
 * name that it was looked up. One of a path, or of a proxy, says something else. */
function led(error: unknown, to: Peer): boolean {
  const { code, syscall, port, hostname, errors, cause } = Object(error) as Details;
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.every((each) => led(each, to));
  }
  const own =
    (syscall === "connect" && port === to.port) ||
    (syscall === "getaddrinfo" && hostname === to.host) ||
    code === "UND_ERR_CONNECT_TIMEOUT";
  return own || (cause !== undefined && led(cause, to));
}
