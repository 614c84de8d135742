/** Clients that ride out restarts by themselves, for tests of all of them. */

import { retryInterceptor, retryingFetch, type TransportOptions } from "outlast";
import * as undici from "undici";
import * as undici6 from "undici6";

/** Makes a request: gives its status, once the body has come whole. */
export type Asking = (
  url: string,
  init: { method: string; headers?: Record<string, string>; body?: unknown; signal?: AbortSignal },
) => Promise<{ status: number; text: string }>;

/** Undici, whichever version. */
type Undici = typeof undici;

/** Undici 8 needs a newer Node. */
export const undici8 = await import("undici8").then(
  (found) => found as unknown as Undici,
  () => undefined,
);

/** What comes before each attempt, and gives where that goes. */
export type Before = () => Promise<string>;

function byFetch(
  base: typeof globalThis.fetch,
  before?: Before,
  options: TransportOptions = {},
): Asking {
  const led: typeof globalThis.fetch = async (_, init) => base(await before!(), init);
  const fetch = retryingFetch({ ...options, fetch: before ? led : base });
  return async (url, init) => {
    const answer = await fetch(url, init as RequestInit);
    return { status: answer.status, text: await answer.text() };
  };
}

/** Undici that is led elsewhere. */
const leading =
  (before: Before): undici.Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    before().then((url) => dispatch({ ...options, origin: new URL(url).origin }, handler));
    return true;
  };

function byRequest(
  { Agent, request }: Undici,
  before?: Before,
  options: TransportOptions = {},
): Asking {
  const inner = before ? [leading(before)] : [];
  const dispatcher = new Agent().compose(...inner, retryInterceptor(options));
  return async (url, init) => {
    const { statusCode, body } = await request(url, { ...init, dispatcher } as never);
    return { status: statusCode, text: await body.text() };
  };
}

type Transport = (options?: TransportOptions, before?: Before) => Asking;

/** Each with connections of its own that are kept. */
export const TRANSPORTS: Record<string, Transport> = {
  retryingFetch: (options, before) => byFetch(fetch, before, options),
  "retryingFetch, of undici's": (options, before) => {
    const dispatcher = new undici.Agent();
    const fetch = (url: string, init?: undici.RequestInit) =>
      undici.fetch(url, { ...init, dispatcher });
    return byFetch(fetch as never, before, options);
  },
  "undici 6": (options, before) => byRequest(undici6 as never, before, options),
  "undici 7": (options, before) => byRequest(undici, before, options),
  ...(undici8 && {
    "undici 8": (options?: TransportOptions, before?: Before) =>
      byRequest(undici8!, before, options),
  }),
};
