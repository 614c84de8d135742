// What a request that succeeds costs by a transport of outlast's, beside the same client without:
//
//     npm run build && node benchmarks/transports.mjs [hook]
//
// The server is a process of its own, and connections are kept. Both are asked in turn, 100
// requests at a time; the figures are medians of the rounds, and of the rounds' differences. With
// `hook` there is a hook that does nothing.

import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { retryInterceptor, retryingFetch, setHooks } from "outlast";
import { Agent, request, fetch as undicisFetch } from "undici";

const ROUNDS = 150;
const REQUESTS = 100;

if (process.argv[2] === "serve") {
  const server = createServer((asked, answer) => asked.resume().on("end", () => answer.end("x")));
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
} else {
  await compare();
}

async function compare() {
  setHooks(process.argv[2] === "hook" ? [() => {}] : []);
  const server = fork(new URL(import.meta.url), ["serve"]);
  const [port] = await once(server, "message");
  const url = `http://127.0.0.1:${port}/`;
  const text = async (answer) => (await answer).text();
  const body = async (answer) => (await answer).body.text();
  const posted = { method: "POST", body: "text" };
  const riding = retryingFetch();
  const undicis = retryingFetch({ fetch: undicisFetch });
  const bare = { dispatcher: new Agent() };
  const composed = { dispatcher: new Agent().compose(retryInterceptor()) };
  for (const [what, one, other] of [
    ["fetch, GET", () => text(fetch(url)), () => text(riding(url))],
    ["fetch, POST", () => text(fetch(url, posted)), () => text(riding(url, posted))],
    ["undici's fetch, GET", () => text(undicisFetch(url)), () => text(undicis(url))],
    ["undici's request, GET", () => body(request(url, bare)), () => body(request(url, composed))],
    [
      "undici's request, POST",
      () => body(request(url, { ...posted, ...bare })),
      () => body(request(url, { ...posted, ...composed })),
    ],
  ]) {
    await pairs(what, one, other);
  }
  server.kill();
}

async function pairs(what, one, other) {
  await timed(one);
  await timed(other);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 ? [await timed(one), await timed(other)] : undefined;
    rounds.push(first ?? [await timed(other), await timed(one)].reverse());
  }
  const alone = median(rounds.map(([bare]) => bare));
  const more = median(rounds.map(([bare, riding]) => riding - bare));
  const share = ((more / alone) * 100).toFixed(1);
  console.log(
    `${what.padEnd(26)} ${alone.toFixed(0)} µs, and ${more.toFixed(1)} µs more (${share} %)`,
  );
}

/** Microseconds of one request. */
async function timed(ask) {
  const began = performance.now();
  for (let n = 0; n < REQUESTS; n++) {
    await ask();
  }
  return ((performance.now() - began) / REQUESTS) * 1000;
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}
