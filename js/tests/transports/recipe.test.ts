// The recipe of docs/http-clients.md, as it stands there.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { outcomeOf, retryingFetch } from "outlast";
import { virtualTime } from "outlast/testing";
import { ROOT, serve } from "../helpers.js";

test("an order, whose key the server honours", async (t) => {
  const page = readFileSync(join(ROOT, "../docs/http-clients.md"), "utf8");
  const [, recipe] = /<!-- runs: js\/tests\/transports\/recipe.test.ts -->\n```js\n(.*?)```/s.exec(
    page,
  )!;
  const body = recipe!.replace('import { outcomeOf, retryingFetch } from "outlast";', "");
  const make = new Function("retryingFetch", "outcomeOf", `${body}; return order;`);
  const order = make(retryingFetch, outcomeOf);
  const sent: string[] = [];
  const url = await serve(t, async (asked, answer) => {
    sent.push(`${asked.headers["idempotency-key"]} ${await text(asked)}`);
    if (sent.length === 1 || asked.url !== "/orders") {
      asked.socket.destroy(); // it may have been applied
    } else {
      answer.writeHead(201).end();
    }
  });
  await virtualTime(async () => {
    assert.equal((await order(`${url}orders`, "k", "tea")).status, 201);
    assert.deepEqual(sent, ["k tea", "k tea"]);
    await assert.rejects(order(`${url}others`, "k", "tea"), /it may have been ordered/);
    assert.equal(sent.length, 3);
  });
});
