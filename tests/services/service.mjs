/** The service in Express. Usage: service.mjs PORT LEDGER; see ledger.go for what it does. */

import { openSync, readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";

const express = createRequire(new URL("../../js/package.json", import.meta.url))("express");
const [port, file] = process.argv.slice(2);
const ledger = openSync(file, "a");
const lines = readFileSync(file, "utf8").split("\n");
const keys = new Set(lines.map((line) => line.split(" ")[1]).filter(Boolean));

const app = express();
const answer = async (request, response) => {
  if (request.query.slow) {
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  response.json({ id: request.params.id });
};
const write = (request, response) => {
  writeSync(ledger, `${request.params.id}\n`);
  return answer(request, response);
};

app.get("/readyz", (_, response) => response.end());
app.get("/items/:id", answer);
app.put("/items/:id", write);
app.delete("/items/:id", write);
app.post("/notes/:id", write);
app.post("/orders/:id", (request, response) => {
  const key = request.get("Idempotency-Key");
  if (!keys.has(key)) {
    keys.add(key);
    writeSync(ledger, `${request.params.id} ${key}\n`);
  }
  return answer(request, response);
});
app.listen(Number(port), "127.0.0.1");
