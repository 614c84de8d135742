/** Tries p-retry, cockatiel and outlast: one line of JSON for each cell.
 *
 * Usage: probe.mjs URL POLICY   the server in server.go, and a policy with waits of 4 s */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const js = new URL("../../js/", import.meta.url);
const imported = (path) => import(new URL(path, js));
const outlast = await imported("dist/index.js");
const { noRetries, virtualTime } = await imported("dist/testing.js");
const { openTelemetry } = await imported("dist/hooks/opentelemetry.js");
const { prometheus } = await imported("dist/hooks/prometheus.js");
const pRetry = await imported("node_modules/p-retry/index.js");
const cockatiel = await imported("node_modules/cockatiel/dist/index.js");
const packages = createRequire(new URL("package.json", js));

const [url, policy] = process.argv.slice(2);
const slow = await outlast.Policy.load(policy);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What an attempt throws. */
class Away extends Error {}

/** Calls `work` by each, for at most so many attempts with so long between them; those
 * of outlast are its policy's. */
const libraries = {
  "p-retry": (work, { limit = 60_000, wait = 10, attempts = 100, on = () => true, signal } = {}) =>
    pRetry.default(work, {
      retries: attempts - 1,
      minTimeout: wait,
      factor: 1,
      maxRetryTime: limit,
      shouldRetry: ({ error }) => on(error),
      signal,
    }),
  cockatiel: (work, { wait = 10, attempts = 100, on = () => true, signal } = {}) =>
    cockatiel
      .retry(cockatiel.handleWhen(on), {
        maxAttempts: attempts - 1,
        backoff: new cockatiel.ConstantBackoff(wait),
      })
      .execute(work, signal),
  outlast: (work, { limit, attempts, on, signal, write = false } = {}) =>
    outlast.retry(
      work,
      { remote: true, write },
      {
        ...(limit && { maxWait: limit }),
        ...(attempts && { attempts }),
        ...(signal && { signal }),
        on: on ? [] : [Away],
      },
    ),
};

/** When each attempt began of a call that never succeeds. */
async function failing(by, options, first = 0) {
  const began = [];
  await by(async () => {
    began.push(performance.now());
    await sleep(began.length === 1 ? first : 0);
    throw new Away();
  }, options).catch(() => {});
  return began;
}

/** cockatiel's limit is a timeout around the whole. */
async function limited(name, options, first) {
  if (name !== "cockatiel") {
    return failing(libraries[name], options, first);
  }
  const around = cockatiel.timeout(options.limit, cockatiel.TimeoutStrategy.Aggressive);
  const by = (work, more) =>
    around.execute(({ signal }) => libraries.cockatiel(work, { ...more, signal }));
  return failing(by, options, first);
}

const clock = async (name) =>
  (await limited(name, { limit: 1200, wait: 500 }, 1500)).length > 1 ? "yes" : "no";

async function clamp(name) {
  const began = await limited(name, { limit: 2000, wait: 1200 });
  const gaps = began.slice(1).map((at, i) => at - began[i]);
  if (began.at(-1) - began[0] < 1900) {
    return "no: stops before it";
  }
  return gaps.at(-1) < 0.8 * gaps.at(-2) ? "yes" : "no: goes on past it";
}

async function attempt(name) {
  let times = 0;
  const work = () => sleep(++times === 1 ? 3000 : 0);
  const began = performance.now();
  if (name === "cockatiel") {
    const each = cockatiel.timeout(300, cockatiel.TimeoutStrategy.Aggressive);
    await libraries.cockatiel(() => each.execute(work));
  } else if (name === "p-retry") {
    await libraries[name](work, { limit: 300 }); // the only time limit that it has
  } else {
    await outlast.retry(work, { remote: true, write: false }, { attemptTimeout: 300 });
  }
  return performance.now() - began < 2500 ? "yes" : "no";
}

async function cancel(name) {
  const abort = new AbortController();
  const call = failing(libraries[name], { wait: 30_000, signal: abort.signal });
  await sleep(200);
  abort.abort();
  return Promise.race([call.then(() => "yes"), sleep(10_000).then(() => "no")]);
}

async function loop(name) {
  if (name !== "outlast") {
    return missing(name, "attempts", "loop");
  }
  let count = 0;
  for await (const turn of outlast.attempts({ remote: true, write: false }, { on: [Away] })) {
    await turn.run(() => {
      count += 1;
      if (count < 2) {
        throw new Away();
      }
    });
  }
  return count === 2 ? "yes" : "no";
}

async function generator(name) {
  let times = 0;
  const numbers = async function* () {
    times += 1;
    yield 1;
    if (times === 1) {
      throw new Away();
    }
    yield 2;
  };
  try {
    for await (const _ of await libraries[name](numbers));
    return "yes";
  } catch {
    return "no";
  }
}

async function value(name) {
  const answers = [503, 200];
  const work = () => answers.shift();
  if (name === "p-retry") {
    return (await libraries[name](work)) === 200 ? "yes" : "no";
  }
  if (name === "cockatiel") {
    const handled = cockatiel.handleWhenResult((status) => status === 503);
    const backoff = new cockatiel.ConstantBackoff(10);
    const got = await cockatiel.retry(handled, { maxAttempts: 2, backoff }).execute(work);
    return got === 200 ? "yes" : "no";
  }
  const answered = await libraries.outlast(() => new Response("", { status: answers.shift() }));
  return answered.status === 200 ? "yes: an answer" : "no";
}

async function backoff(name) {
  let asked = 0;
  const mine = () => {
    asked += 1;
    return 10;
  };
  if (name === "cockatiel") {
    const delegate = new cockatiel.DelegateBackoff(mine);
    const policy = cockatiel.retry(cockatiel.handleAll, { maxAttempts: 1, backoff: delegate });
    await failing((work) => policy.execute(work));
  } else if (name === "p-retry") {
    await failing((work) => pRetry.default(work, { retries: 1, minTimeout: mine }));
  } else {
    await failing((work) =>
      outlast.retry(work, { remote: true, write: false }, { on: [Away], attempts: 2, wait: mine }),
    );
  }
  return asked > 0 ? "yes" : "no";
}

async function random(name) {
  const waits = [];
  for (let call = 0; call < 3; call += 1) {
    if (name === "p-retry") {
      const onFailedAttempt = ({ retryDelay }) => {
        waits.push(retryDelay);
        throw new Away();
      };
      await failing((work) => pRetry.default(work, { onFailedAttempt }));
    } else if (name === "cockatiel") {
      const policy = cockatiel.retry(cockatiel.handleAll, {
        maxAttempts: 1,
        backoff: new cockatiel.ExponentialBackoff(),
      });
      policy.onRetry(({ delay }) => waits.push(delay));
      await failing((work) => policy.execute(work));
    } else {
      await virtualTime(async (virtual) => {
        await failing(libraries.outlast, { attempts: 2 });
        waits.push(...virtual.slept);
      });
    }
  }
  return Math.max(...waits) - Math.min(...waits) > 0.001 ? "yes" : "no";
}

async function nested(name) {
  let times = 0;
  const work = () => {
    times += 1;
    throw new Away();
  };
  const inner = () => libraries[name](work, { attempts: 3 });
  await libraries[name](inner, { attempts: 3 }).catch(() => {});
  return times === 3 ? "yes" : `no: ${times} attempts`;
}

/** How often a POST is applied, in at most three attempts. */
async function applied(name, path, on) {
  const to = `${url}${path}/${name}-node`;
  let error;
  const post = () => fetch(to, { method: "POST", body: "x" });
  await libraries[name](post, { attempts: 3, on, write: true }).catch((raised) => {
    error = raised;
  });
  const times = await (await fetch(`${url}/count${path}/${name}-node`)).text();
  const doubt = error instanceof outlast.Indeterminate ? ", and named as in doubt" : "";
  return `${times === "1" ? "once" : `${times} times`}${doubt}`;
}

async function after(name) {
  const ask = async () => {
    const answer = await fetch(`${url}/busy/${name}-node`);
    if (!answer.ok && name !== "outlast") {
      throw new Error(`status ${answer.status}`);
    }
    return answer;
  };
  await libraries[name](ask, { wait: 100 });
  const gap = await (await fetch(`${url}/gap/busy/${name}-node`)).text();
  return Number(gap) > 0.95 ? "yes" : "no";
}

/** Whether a server's return in the midst of a wait of 4 s is noticed. */
async function comesBack(name) {
  let by = libraries[name];
  const port = await (await fetch(`${url}/away`)).text();
  if (name === "outlast") {
    const ready = `tcp://127.0.0.1:${port}`;
    by = (work) => outlast.retry(work, { remote: true, write: false }, { ready, policy: slow });
  }
  const began = performance.now();
  await by(() => fetch(`http://127.0.0.1:${port}/`), { wait: 4000 });
  return performance.now() - began < 3500 ? "yes" : "no";
}

/** Whether outlast's first wait is the policy's. */
function document() {
  const slowly = (work) =>
    outlast.retry(work, { remote: true, write: false }, { policy: slow, on: [Away], attempts: 2 });
  return virtualTime(async (virtual) => {
    await failing(slowly);
    return virtual.slept[0] >= 3000 ? "yes" : "no";
  });
}

async function metrics(name) {
  const client = packages("prom-client");
  client.register.clear();
  outlast.setHooks([prometheus(client)]);
  await failing(libraries[name], { attempts: 2 });
  outlast.setHooks([]);
  return (await client.register.metrics()).includes(`${name.replace("-", "")}_`) ? "yes" : "no";
}

async function spans(name) {
  const { context, trace } = packages("@opentelemetry/api");
  const sdk = packages("@opentelemetry/sdk-trace-base");
  const { AsyncLocalStorageContextManager } = packages("@opentelemetry/context-async-hooks");
  const exporter = new sdk.InMemorySpanExporter();
  const spanProcessors = [new sdk.SimpleSpanProcessor(exporter)];
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new sdk.BasicTracerProvider({ spanProcessors }));
  outlast.setHooks([openTelemetry(packages("@opentelemetry/api"))]);
  await failing(libraries[name], { attempts: 3 });
  outlast.setHooks([]);
  const found = exporter.getFinishedSpans().length;
  trace.disable();
  context.disable();
  return found >= 3 ? "yes" : "no";
}

async function off(name) {
  if (name === "outlast") {
    return noRetries(async () => ((await failing(libraries.outlast)).length === 1 ? "yes" : "no"));
  }
  if (name === "cockatiel") {
    const once = await failing((work) => cockatiel.noop.execute(work));
    return once.length === 1 ? "for one policy" : "no";
  }
  const once = await failing((work) => pRetry.default(work, { retries: 0 }));
  return once.length === 1 ? "for one function" : "no";
}

const TYPED = {
  "p-retry": `import lib from "p-retry"; const ask = (work: () => string) => lib(work);`,
  cockatiel: `import { handleAll, retry } from "cockatiel";
    const ask = (work: () => string) => retry(handleAll, {}).execute(work);`,
  outlast: `import { retry } from "../dist/index.js";
    const ask = (work: () => string) => retry(work, { remote: true, write: false });`,
};

function types(name) {
  const folder = mkdtempSync(join(fileURLToPath(js), "types-"));
  try {
    const file = join(folder, "typed.mts");
    const rest = "export const right: string = await ask(() => 'x');";
    writeFileSync(
      file,
      `${TYPED[name]}\n${rest}\n// @ts-expect-error\n${rest.replace("string", "number").replace("right", "wrong")}\n`,
    );
    const argv = ["--no-install", "tsc", "--noEmit", "--strict", "--skipLibCheck"];
    const how = ["--module", "nodenext", "--target", "es2022", file];
    const done = spawnSync("npx", [...argv, ...how], { cwd: fileURLToPath(js) });
    return done.status === 0 ? "yes" : "no";
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whether any public name of the library has one of these words. */
function missing(name, ...words) {
  const module = { "p-retry": pRetry, cockatiel, outlast }[name];
  const found = Object.keys(module).filter((key) =>
    words.some((word) => key.toLowerCase().includes(word)),
  );
  return found.length > 0 ? `yes: ${found.join(", ")}` : "no";
}

async function breaker(name) {
  if (name !== "cockatiel") {
    return missing(name, "circuit", "breaker");
  }
  const policy = cockatiel.circuitBreaker(cockatiel.handleAll, {
    halfOpenAfter: 10_000,
    breaker: new cockatiel.ConsecutiveBreaker(2),
  });
  let times = 0;
  for (let call = 0; call < 5; call += 1) {
    await policy
      .execute(() => {
        times += 1;
        throw new Away();
      })
      .catch(() => {});
  }
  return times === 2 ? "yes" : "no";
}

async function bulkhead(name) {
  if (name !== "cockatiel") {
    return missing(name, "bulkhead", "limiter", "concurren");
  }
  const policy = cockatiel.bulkhead(1);
  const first = policy.execute(() => sleep(50));
  const second = await policy.execute(() => "let in").catch(() => "kept out");
  await first;
  return second === "kept out" ? "yes" : "no";
}

async function fallback(name) {
  if (name !== "cockatiel") {
    return missing(name, "fallback");
  }
  return cockatiel.fallback(cockatiel.handleAll, "yes").execute(() => {
    throw new Away();
  });
}

const manifestOf = (name) =>
  JSON.parse(
    readFileSync(
      new URL(name === "outlast" ? "package.json" : `node_modules/${name}/package.json`, js),
    ),
  );

const refused = (error) => (error.cause ?? error).code === "ECONNREFUSED";

const cells = {
  clock,
  clamp,
  attempt,
  cancel,
  loop,
  generator,
  value,
  backoff,
  random,
  nested,
  broke: (name) => applied(name, "/broke", () => true),
  named: (name) => applied(name, "/broke/named", refused),
  moved: (name) => applied(name, "/moved", refused),
  after,
  back: comesBack,
  metrics,
  spans,
  off,
  types,
  breaker,
  bulkhead,
  hedge: (name) => missing(name, "hedg"),
  fallback,
  cache: (name) => missing(name, "cache"),
  shared: (name) => missing(name, "shared", "token", "throttl"),
  needs: (name) => String(Object.keys(manifestOf(name).dependencies ?? {}).length),
};

for (const library of Object.keys(libraries)) {
  const { version } = manifestOf(library);
  const own = library === "outlast" ? { document } : {};
  for (const [row, cell] of Object.entries({ ...cells, ...own })) {
    console.log(JSON.stringify({ library, version, row, cell: await cell(library) }));
  }
}
process.exit(0);
