/** Makes the calls that stdin names, by Node's clients: one line of JSON for each.
 *
 * Usage: drive.mjs URL POLICY */

import { Agent, request } from "node:http";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const js = new URL("../../js/", import.meta.url);
const { CallError, outcomeOf, Policy, retry } = await import(new URL("dist/index.js", js));
const packages = createRequire(new URL("package.json", js));
const axios = packages("axios");
const undici = packages("undici");

const [url, document] = process.argv.slice(2);
const policy = await Policy.load(document);
const limit = Number(process.env.FUNCTIONS_LIMIT_MS);
const methodOf = (write) => (write ? "POST" : "GET");
const bodyOf = (write) => (write ? { body: "x" } : {});

/** The error of an answer that says of a failure. */
function unlessOk(statusCode, headers) {
  if (statusCode >= 300) {
    throw Object.assign(new Error(`status ${statusCode}`), { response: { statusCode, headers } });
  }
}

const redirecting = (options) =>
  new undici.Agent(options).compose(undici.interceptors.redirect({ maxRedirections: 3 }));
const kept = {
  undici: redirecting({}),
  http: new Agent({ keepAlive: true }),
  axios: new Agent({ keepAlive: true }),
};

const CLIENTS = {
  async fetch(to, write) {
    const signal = AbortSignal.timeout(limit);
    const answer = await fetch(to, { method: methodOf(write), ...bodyOf(write), signal });
    return answer.ok ? answer.text() : answer;
  },
  async undici(to, write, keeps) {
    const dispatcher = keeps ? kept.undici : redirecting({ pipelining: 0 });
    const signal = AbortSignal.timeout(limit);
    const options = { method: methodOf(write), ...bodyOf(write), dispatcher, signal };
    const { statusCode, headers, body } = await undici.request(to, options);
    const text = await body.text();
    unlessOk(statusCode, headers);
    return text;
  },
  http(to, write, keeps) {
    return new Promise((resolve, reject) => {
      const agent = keeps ? kept.http : false;
      const asked = request(to, { method: methodOf(write), agent, timeout: limit }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("error", reject);
        answer.on("data", (more) => {
          text += more;
        });
        answer.on("end", () => {
          try {
            unlessOk(answer.statusCode, answer.headers);
            resolve(text);
          } catch (error) {
            reject(error);
          }
        });
      });
      asked.on("timeout", () =>
        asked.destroy(Object.assign(new Error("too slow"), { code: "ETIMEDOUT" })),
      );
      asked.on("error", reject);
      asked.end(bodyOf(write).body);
    });
  },
  async axios(to, write, keeps) {
    const httpAgent = keeps ? kept.axios : new Agent();
    const data = bodyOf(write).body;
    const options = { url: to, method: methodOf(write), data, httpAgent, timeout: limit };
    return (await axios.request({ ...options, responseType: "text" })).data;
  },
};

/** Makes an attempt's requests. */
async function ask({ client, path, write, shape, kept: keeps }, attempt) {
  const once = (number) => CLIENTS[client](`${url}${path}/${number}/${attempt}`, write, keeps);
  const failed = (value) => typeof value !== "string";
  if (shape === "one") {
    return once(0);
  }
  const first = shape === "both" ? undefined : await once(0);
  if (first !== undefined && failed(first)) {
    return first;
  }
  const all = shape === "both" ? await Promise.all([once(0), once(1)]) : [first, await once(1)];
  return all.find(failed) ?? all.join("");
}

async function make(call) {
  const { id, read, refuses } = call;
  const from = Date.now();
  let attempts = 0;
  const told = { id, outcome: "ok", effects: "none" };
  try {
    const what = { remote: true, write: !read, refusesBeforeActing: refuses, label: id };
    const value = await retry(() => ask(call, ++attempts), what, { policy });
    const outcome = typeof value === "string" ? undefined : outcomeOf(value);
    Object.assign(told, outcome ? ended(outcome) : { seen: value });
  } catch (error) {
    const raised = { outcome: "raised", effects: "unknown", message: error?.stack ?? `${error}` };
    const of = error instanceof CallError;
    Object.assign(told, of ? { ...ended(error.outcome), message: error.message } : raised);
  }
  console.log(JSON.stringify({ ...told, attempts, from, to: Date.now() }));
}

const ended = ({ type, effects, message, history }) => ({
  outcome: type,
  effects,
  message,
  kinds: history.map(({ kind }) => kind),
});

const lines = [];
for await (const line of createInterface({ input: process.stdin })) {
  lines.push(line);
}
const worker = async () => {
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    await make(JSON.parse(line));
  }
};
await Promise.all(Array.from({ length: Number(process.env.FUNCTIONS_AT_ONCE) }, worker));
process.exit(0);
