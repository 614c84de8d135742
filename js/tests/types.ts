// The types that callers see: this file only has to compile.

import {
  attempts,
  type CallError,
  type Outcome,
  outcomeOf,
  retry,
  retryInterceptor,
  retryingFetch,
  withOptions,
  wrap,
} from "outlast";
import * as undici from "undici";
import * as undici6 from "undici6";
import * as undici8 from "undici8";

/** Both types are the same, to the letter. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(_?: T): void => {};

const READ = { remote: true, write: false } as const;

const one = await retry(() => fetch("http://graph"), READ);
is<Same<typeof one, Response>>();

const judged = retry(({ signal, attempt }) => [signal.aborted, attempt] as const, READ, {
  judge: ([aborted]) => (aborted ? { httpStatus: 429 } : undefined),
});
is<Same<typeof judged, Promise<readonly [boolean, number]>>>();

async function find(name: string, limit = 3): Promise<string[]> {
  return [name].slice(0, limit);
}
const found = wrap(find, READ);
is<Same<Parameters<typeof found>, [name: string, limit?: number]>>();
is<Same<ReturnType<typeof found>, Promise<string[]>>>();
is<Same<ReturnType<ReturnType<typeof found.with>>, Promise<string[]>>>();
// @ts-expect-error a name is a string
found(1);
// @ts-expect-error there is no such option
found.with({ retries: 3 });
found.with({ budget: 5000, signal: AbortSignal.timeout(1000), attempts: 2 });

/** One that is not async gives a promise. */
const length = wrap((text: string) => text.length, READ, { judge: (n) => (n ? undefined : {}) });
is<Same<ReturnType<typeof length>, Promise<number>>>();

/** A generic one stays generic. */
const kept = wrap(async <T>(value: T, ...more: T[]): Promise<T[]> => [value, ...more], READ);
is<Same<typeof numbers, number[]>>();
const numbers = await kept(1, 2);
const texts = await kept("a");
is<Same<typeof texts, string[]>>();
// @ts-expect-error all of one type
kept(1, "a");

/** One with overloads keeps them. */
function read(path: string): Promise<Uint8Array>;
function read(path: string, encoding: "utf8"): Promise<string>;
async function read(path: string, encoding?: "utf8"): Promise<Uint8Array | string> {
  return encoding ? path : new Uint8Array();
}
const readAgain = wrap(read, READ);
is<Same<Awaited<ReturnType<typeof asBytes>>, Uint8Array>>();
const asBytes = () => readAgain("x");
const asText = () => readAgain("x", "utf8");
is<Same<Awaited<ReturnType<typeof asText>>, string>>();

/** One that gives anything does. */
// biome-ignore-start lint/suspicious/noExplicitAny: it is what is tested
const anything = wrap((_: number): any => 1, READ);
is<Same<ReturnType<typeof anything>, any>>();
// biome-ignore-end lint/suspicious/noExplicitAny: it was
// @ts-expect-error it takes a number
anything("x");

/** A method keeps what it is called on. */
const client = {
  base: "http://graph",
  get: wrap(async function (this: { base: string }, path: string) {
    return this.base + path;
  }, READ),
};
is<Same<typeof path, string>>();
const path = await client.get("/x");
// @ts-expect-error on nothing that has a base
client.get.call({ other: 1 }, "/x");

for await (const attempt of attempts(READ, { attempts: 3, on: [TypeError, (e) => e === 1] })) {
  const value = await attempt.run(async () => 1);
  is<Same<typeof value, number | undefined>>();
}
// @ts-expect-error a loop has no judge
attempts(READ, { judge: () => undefined });
// @ts-expect-error what the call is must be said
attempts({ remote: true });

const outcome = outcomeOf({} as CallError);
is<Same<typeof outcome, Outcome | undefined>>();

/** A `fetch` that rides out restarts stands wherever one does, and knows one option more. */
const drop: typeof fetch = retryingFetch({
  maxWait: 60_000,
  spread: 5000,
  honoursKey: "POST /orders/*",
});
is<Same<ReturnType<typeof drop>, Promise<Response>>>();
const own = retryingFetch();
const answered = await own("http://graph", { method: "PUT", outlast: { repeatable: true } });
is<Same<typeof answered, Response>>();
// @ts-expect-error there is no such option
own("http://graph", { outlast: { retries: 3 } });
// @ts-expect-error what is asked must be given
own();

/** One on another package's has its types. */
const undicis = retryingFetch({ fetch: undici.fetch });
const theirs = await undicis("http://graph", { dispatcher: new undici.Agent() });
is<Same<typeof theirs, undici.Response>>();

/** An agent stays one. */
const agent = new undici.Agent().compose(
  undici.interceptors.redirect({ maxRedirections: 1 }),
  retryInterceptor({ ready: "/healthz", refusesBeforeActing: ({ method }) => method === "PUT" }),
);
is<Same<typeof agent, undici.Dispatcher.ComposedDispatcher>>();
is<Same<typeof older, undici6.Dispatcher.ComposedDispatcher>>();
const older = new undici6.Agent().compose(retryInterceptor());
is<Same<typeof newer, undici8.Dispatcher.ComposedDispatcher>>();
const newer = new undici8.Agent().compose(retryInterceptor());
// @ts-expect-error a route has a method and a path
retryInterceptor({ repeatable: 1 });
is<Same<typeof within, number>>();
const within = withOptions({ budget: 5000 }, () => 1);
