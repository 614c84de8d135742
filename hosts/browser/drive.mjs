// Serves this repository on loopback to a headless Chromium, and prints what its page
// reports: drive.mjs PROBE [SCREENSHOT]. Needs `chromium` and nothing of npm.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;
const PATIENCE_MS = 300_000; // a choice: the cases take some seconds on a quiet machine
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json" };
// Root has no sandbox of its own, and a closed network none of Google's hosts.
const FLAGS =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars " +
  "--disable-background-networking --disable-component-update --disable-sync";

const [probe, screenshot] = process.argv.slice(2);
let reported;
const report = new Promise((resolve) => {
  reported = resolve;
});

const server = createServer((asked, answer) => {
  const { pathname } = new URL(asked.url, "http://localhost");
  if (pathname === "/report") {
    let text = "";
    asked.setEncoding("utf8").on("data", (more) => {
      text += more;
    });
    asked.on("end", () => {
      answer.end();
      reported(text);
    });
    return;
  }
  try {
    const path = pathname === "/probe.wasm" ? probe : join(ROOT, normalize(pathname));
    const type = TYPES[extname(path)] ?? "application/wasm";
    answer.setHeader("content-type", type).end(readFileSync(path));
  } catch {
    answer.writeHead(404).end();
  }
});

function chromium(...more) {
  const profile = mkdtempSync(join(tmpdir(), "chromium-"));
  const args = [...FLAGS.split(" "), `--user-data-dir=${profile}`, ...more];
  const child = spawn("chromium", args, { stdio: ["ignore", "pipe", "ignore"], detached: true });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (more) => {
    printed += more;
  });
  const ended = new Promise((resolve) => child.once("close", () => resolve(printed)));
  const stop = async () => {
    try {
      process.kill(-child.pid); // it has children of its own
    } catch {
      // it has ended
    }
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  return { ended, stop };
}

/** What is wrong with the page for people, as it stands after an outage of 61 s. */
function wrongWith(dom) {
  const attempts = dom.match(/<circle/g)?.length ?? 0;
  const rows = (dom.match(/<tr>/g)?.length ?? 0) - 1;
  const says = dom.includes(`succeeded after ${attempts} attempts`);
  return attempts > 5 && rows === attempts && says ? [] : ["index.html does not show the outage"];
}

server.listen(0, "127.0.0.1", async () => {
  const pages = `http://127.0.0.1:${server.address().port}/hosts/browser`;
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, "0 passed, 1 failed").unref());
  const until = async (browser, done) => {
    const found = await Promise.race([done, late]);
    await browser.stop();
    return found;
  };
  const shown = async (...how) => {
    const browser = chromium("--virtual-time-budget=10000", ...how, `${pages}/index.html?outage=61`);
    return until(browser, browser.ended);
  };
  const playing = chromium(`${pages}/conformance.html`);
  const said = await until(playing, report);
  const wrong = wrongWith(await shown("--dump-dom"));
  if (screenshot) {
    await shown("--window-size=1000,750", `--screenshot=${screenshot}`);
  }
  server.close();
  server.closeAllConnections();
  console.log([...wrong, said].join("\n"));
  process.exitCode = wrong.length === 0 && /[1-9][0-9]* passed, 0 failed$/.test(said) ? 0 : 1;
});
