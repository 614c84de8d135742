/** What makes requests, by each client. */

import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { AttemptContext } from "outlast";
import * as undici from "undici";

type Client = (url: string, context?: AttemptContext) => Promise<unknown>;

export const post = { method: "POST", body: "x" } as const;

/** Makes a request with node:http, and follows redirects as clients on it do. */
export function plain(url: string, options: { agent?: HttpAgent } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, { method: "POST", ...options }, (answer) => {
      answer.resume();
      const { location } = answer.headers;
      if (location) {
        plain(location, options).then(resolve, reject);
      } else {
        answer.on("end", () => resolve("answered"));
      }
    });
    asked.on("error", reject);
    asked.end("x");
  });
}

const redirecting = new undici.Agent().compose(
  undici.interceptors.redirect({ maxRedirections: 3 }),
);

export const CLIENTS: Record<string, Client> = {
  fetch: (url) => fetch(url, post),
  "undici's fetch": (url) => undici.fetch(url, post),
  "undici's request": (url) => undici.request(url, { ...post, dispatcher: redirecting }),
  "node:http": (url) => plain(url),
  "node:http, kept alive": (url) => plain(url, { agent: new HttpAgent({ keepAlive: true }) }),
  "a client that wraps errors": async (url) => {
    try {
      return await fetch(url, post);
    } catch (cause) {
      throw new Error("asking failed", { cause });
    }
  },
};
