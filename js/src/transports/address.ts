/** Looks at the address that a request itself goes to. */

import { lookup } from "node:dns/promises";
import type { Peer } from "../evidence/requests.js";
import { Requests } from "../evidence/requests.js";
import { endOf } from "../evidence/traffic.js";
import type { Watch, Watcher } from "../watch/readiness.js";
import { watcherOf } from "../watch/watcher.js";

/** Sees nothing. */
const BLIND: Watch = { seen: () => ({ down: false }), stop: () => {} };

/** Looks at a request's own address, if the request was seen to go there: behind a proxy, or by a
 * connection that is made in another way, a look would see another server. */
export class OwnAddress implements Watcher {
  readonly #to: Peer;
  readonly #target: string | URL;
  #isDirect = false; // the last attempt led there

  /**
   * @param url Where the request goes.
   * @param health What is asked for there, as a path; none: whether it accepts.
   */
  constructor(url: URL, health: string | undefined) {
    const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
    this.#to = { host: bare(url.hostname), port };
    this.#target = health ? new URL(health, url.origin) : `tcp://${url.hostname}:${port}`;
  }

  /** An attempt has ended, by an error or an answer. To be called as a part of it. */
  async ended(error?: unknown): Promise<void> {
    const { peer } = Requests.current() ?? {};
    const end = endOf(error);
    this.#isDirect = end ? this.#isTo(end, error) : peer !== undefined && (await this.#has(peer));
  }

  watch(eager: boolean, news: () => void): Watch {
    return this.#isDirect ? watcherOf(this.#target).watch(eager, news) : BLIND;
  }

  /** Whether a connection that was not made was one to the address. */
  #isTo({ host, port }: Peer, error: unknown): boolean {
    return bare(host) === this.#to.host && port === this.#to.port && led(error, this.#to);
  }

  /** Whether the server at the other end of a connection has the address. */
  async #has({ host, port }: Peer): Promise<boolean> {
    const found = await lookup(this.#to.host, { all: true }).catch(() => []);
    return port === this.#to.port && found.some(({ address }) => address === host);
  }
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
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
