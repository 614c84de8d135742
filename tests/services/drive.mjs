/** Makes the calls that stdin names, by Node's clients: one line of JSON for each.
 *
 * Usage: drive.mjs URL */

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const js = new URL("../../js/", import.meta.url);
const { outcomeOf, retryInterceptor, retryingFetch } = await import(new URL("dist/index.js", js));
const undici = createRequire(new URL("package.json", js))("undici");

const url = process.argv[2];
const options = { ready: "/readyz", honoursKey: "POST /orders/*" };

const byFetch = (fetch) => async (to, request) => (await fetch(to, request)).text();
const byUndici = (dispatcher) => async (to, request) =>
  (await undici.request(to, { ...request, dispatcher })).body.text();

const CLIENTS = {
  undici: byUndici(new undici.Agent().compose(retryInterceptor(options))),
  fetch: byFetch(retryingFetch(options)),
  "undici RetryAgent": byUndici(new undici.RetryAgent(new undici.Agent())),
  "fetch alone": byFetch(fetch),
};

async function make({ id, client, method, path, key, at }) {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - Date.now())));
  const headers = key ? { "Idempotency-Key": key } : {};
  const body = method === "PUT" || method === "POST" ? { body: "x" } : {};
  const from = Date.now();
  let said = { outcome: "answered", message: "" };
  try {
    const text = await CLIENTS[client](url + path, { method, headers, ...body });
    if (!text.includes(id)) {
      said = { outcome: "raised", message: text };
    }
  } catch (error) {
    const doubt = outcomeOf(error)?.type === "indeterminate";
    said = { outcome: doubt ? "indeterminate" : "raised", message: `${error} ${error?.cause}` };
  }
  console.log(JSON.stringify({ id, ...said, from, to: Date.now() }));
}

const calls = [];
for await (const line of createInterface({ input: process.stdin })) {
  calls.push(make(JSON.parse(line)));
}
await Promise.all(calls);
process.exit(0);
