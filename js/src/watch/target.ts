/** What to look at, and what a look may see. */

/** What a look saw of a server, in the order of readiness. */
export enum Level {
  /** No answer in time, or a failure that says nothing. */
  Unanswered,
  /** Refused, no way to it, or no such name. */
  Down,
  /** Its health check is answered 503: it is not ready yet, and will be by itself. */
  Loading,
  /** It accepted a connection, and did not say that it is not ready. */
  Accepting,
  /** It answered its health check as expected. */
  Healthy,
}

/** What is looked at: a port, or an HTTP health check. */
export interface Target {
  readonly scheme: "tcp" | "http" | "https";
  /** A name or an address, one of IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Of HTTP, with a query if it has one. */
  readonly path: string;
  /** Of HTTP, that say ready; none: 200 to 299. */
  readonly statuses: readonly number[];
}

export const DEFAULT_PORTS = { tcp: 0, http: 80, https: 443 };

const FORMS = "tcp://host:port or http(s)://host[:port][/path][#status,...]";

/**
 * Reads a target.
 *
 * @throws RangeError if it is none. A user name, a password and a query are not shown.
 */
export function parseTarget(from: string | URL): Target {
  const text = String(from);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url?.protocol.slice(0, -1) as Target["scheme"];
  if (!url || !Object.hasOwn(DEFAULT_PORTS, scheme)) {
    throw bad(text, `is none of the forms ${FORMS}`);
  }
  if (url.username || url.password) {
    throw bad(text, "has a user name: a look at the server sends none");
  }
  const host = bareHost(url.hostname);
  const port = Number(url.port) || DEFAULT_PORTS[scheme];
  if (!host || !port) {
    throw bad(text, host ? "has no port" : "has no host");
  }
  if (scheme === "tcp" && (url.pathname.replaceAll("/", "") || url.search || url.hash)) {
    throw bad(text, "has more than a host and a port");
  }
  const asked = (url.pathname || "/") + url.search;
  const path = asked === "/" ? "/healthz" : asked;
  return { scheme, host, port, path, statuses: statusesOf(url.hash.slice(1), text) };
}

/** A URL's host as the system knows it: an address of IPv6 without its brackets. */
export function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

function statusesOf(words: string, text: string): number[] {
  const statuses = words ? words.split(",").map(Number) : [];
  if (statuses.some((status) => !Number.isInteger(status) || status < 200 || status > 599)) {
    throw bad(text, "has a status behind the # that is not from 200 to 599");
  }
  return statuses;
}

/** What a health check's answer says of the server; 0 for none. */
export function says({ statuses }: Target, status: number): Level {
  const isReady = statuses.length ? statuses.includes(status) : status >= 200 && status <= 299;
  if (isReady) {
    return Level.Healthy;
  }
  return status === 503 ? Level.Loading : Level.Accepting;
}

/** The same server, of which nothing is asked. */
export function portOnly(target: Target): Target {
  return { ...target, scheme: "tcp" };
}

/** An error that shows no more of a target than where it leads: the rest may hold a secret. */
function bad(text: string, why: string): RangeError {
  const [start = ""] = text.split(/[?#]/);
  const shown = start.includes("@") || text.includes("@") ? "…" : start;
  return new RangeError(`outlast: ready is ${JSON.stringify(shown)}, and ${why}`);
}

/** A target as docs/looking.md names it. */
export function nameTarget({ scheme, host, port, path, statuses }: Target): string {
  const bracketed = host.includes(":") ? `[${host}]` : host;
  const asked = scheme === "tcp" ? "" : path;
  const ready = statuses.length ? `#${statuses.join(",")}` : "";
  return `${scheme}://${bracketed}:${port}${asked}${ready}`;
}
