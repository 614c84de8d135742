/** What makes requests, by each client. */

import { once } from "node:events";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import axios from "axios";
import axiosRetry from "axios-retry";
import got from "got";
import ky from "ky";
import nodeFetch from "node-fetch";
import type { AttemptContext } from "outlast";
import * as undici from "undici";

type Client = (url: string, context?: AttemptContext) => Promise<unknown>;

export const post = { method: "POST", body: "x" } as const;

/** The error of an answer that says of a failure. */
function unlessOk(statusCode: number, headers: object): void {
  if (statusCode >= 400) {
    throw Object.assign(new Error(`status ${statusCode}`), { response: { statusCode, headers } });
  }
}

/** Makes a request with node:http or node:https, and follows redirects as clients on them do. */
export function plain(url: string, options: object = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const { body, ...rest } = { ...post, ...options } as { body?: string; method: string };
    const ask = url.startsWith("https:") ? httpsRequest : httpRequest;
    const asked = ask(url, rest, (answer: IncomingMessage) => {
      answer.resume().on("error", reject);
      const { location } = answer.headers;
      if (location) {
        plain(location, options).then(resolve, reject);
      } else {
        answer.on("end", () => {
          try {
            unlessOk(answer.statusCode!, answer.headers);
            resolve("answered");
          } catch (error) {
            reject(error);
          }
        });
      }
    });
    asked.on("error", reject);
    asked.end(body);
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

/** A client that asks once, without retries of its own. */
export type Asking = (url: string, method: "GET" | "POST") => Promise<unknown>;

/** One for each attempt, with connections of its own that are kept open. */
export const ASKING: Record<string, () => Asking> = {
  fetch: () => async (url, method) => {
    const answer = await fetch(url, { method, ...bodyOf(method) });
    return answer.ok ? answer.text() : answer;
  },
  undici: () => {
    const dispatcher = new undici.Agent().compose(
      undici.interceptors.redirect({ maxRedirections: 3 }),
    );
    return async (url, method) => {
      const options = { method, dispatcher, ...bodyOf(method) };
      const { statusCode, headers, body } = await undici.request(url, options);
      const text = await body.text();
      unlessOk(statusCode, headers);
      return text;
    };
  },
  http: () => {
    const agents = { "http:": new HttpAgent({ keepAlive: true }), "https:": undefined };
    return (url, method) => {
      const agent = agents[new URL(url).protocol as "http:"];
      return plain(url, { method, body: undefined, ...bodyOf(method), agent });
    };
  },
  axios: () => {
    const instance = axios.create({ httpAgent: new HttpAgent({ keepAlive: true }) });
    return (url, method) => instance.request({ url, method, data: bodyOf(method).body });
  },
  got: () => {
    const agent = { http: new HttpAgent({ keepAlive: true }) };
    const client = got.extend({ retry: { limit: 0 }, agent, methodRewriting: false });
    return (url, method) => client(url, { method, ...bodyOf(method) }).text();
  },
  "node-fetch": () => {
    const kept = new HttpAgent({ keepAlive: true });
    const agent = ({ protocol }: URL) => (protocol === "http:" ? kept : undefined);
    return async (url, method) => {
      const answer = await nodeFetch(url, { method, agent, ...bodyOf(method) });
      return answer.ok ? answer.text() : answer;
    };
  },
  ky: () => (url, method) => ky(url, { method, retry: 0, ...bodyOf(method) }).text(),
};

function bodyOf(method: string): { body?: string } {
  return method === "POST" ? { body: "x" } : {};
}

/** Clients that try once more by themselves, writes too. */
export const RETRYING: Record<string, () => Asking> = {
  "undici's RetryAgent": () => {
    const retries = { maxRetries: 1, minTimeout: 1, methods: ["GET", "POST"] as never };
    const dispatcher = new undici.RetryAgent(new undici.Agent(), retries);
    return async (url, method) => {
      const { body } = await undici.request(url, { method, dispatcher, ...bodyOf(method) });
      return body.text();
    };
  },
  "axios-retry": () => {
    const instance = axios.create();
    axiosRetry(instance, { retries: 1, retryCondition: () => true, retryDelay: () => 1 });
    return (url, method) => instance.request({ url, method, data: bodyOf(method).body });
  },
  got: () => (url, method) => {
    const calculateDelay = ({ attemptCount }: { attemptCount: number }) =>
      attemptCount === 1 ? 1 : 0;
    const retry = { limit: 1, methods: [method], calculateDelay };
    return got(url, { method, retry, ...bodyOf(method) }).text();
  },
  ky: () => (url, method) => {
    const retry = { limit: 1, methods: ["get", "post"] as ("get" | "post")[], delay: () => 1 };
    return ky(url, { method, retry, ...bodyOf(method) }).text();
  },
};

/** Clients that speak HTTP/2, to a server with a certificate that nobody trusts. */
export const HTTP2: Record<string, () => Asking> = {
  "node:http2": () => async (url, method) => {
    const { protocol } = new URL(url);
    if (protocol === "http:") {
      return plain(url, { method, body: bodyOf(method).body }); // the server is well, and older
    }
    const session = connectHttp2(url, { rejectUnauthorized: false });
    session.on("error", () => {}); // the stream has it too
    const stream = session.request({ ":method": method });
    stream.end(bodyOf(method).body);
    const closed = once(stream, "close").then(() => {
      throw Object.assign(new Error("closed"), { code: "ERR_HTTP2_STREAM_CANCEL" });
    });
    await Promise.race([once(stream, "response"), closed]);
    return text(stream);
  },
  undici: () => {
    const dispatcher = new undici.Agent({ allowH2: true, connect: { rejectUnauthorized: false } });
    return async (url, method) => {
      const { body } = await undici.request(url, { method, dispatcher, ...bodyOf(method) });
      return body.text();
    };
  },
  got: () => {
    const client = got.extend({ http2: true, https: { rejectUnauthorized: false } });
    return (url, method) => client(url, { method, retry: { limit: 0 }, ...bodyOf(method) }).text();
  },
};
