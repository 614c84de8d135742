/** Makes so many calls of a server, which wait for it together.
 *
 * Usage: drive.mjs URL COUNT */

import { setTimeout as pause } from "node:timers/promises";

const { retry } = await import(new URL("../../js/dist/index.js", import.meta.url));

const [url, count] = process.argv.slice(2);

/** A status that is no success is a failure, which an answer that is given back says. */
const ask = async () => {
  const answer = await fetch(`${url}/data`);
  await answer.text();
  return answer;
};
const call = () => retry(ask, { remote: true, write: false }, { ready: `${url}/healthz` });

const calls = [];
for (let n = 0; n < Number(count); n++) {
  calls.push(call());
  await pause(10);
}
const failed = (await Promise.allSettled(calls)).filter(({ status }) => status === "rejected");
if (failed.length > 0) {
  console.error(`${failed.length} of ${count}: ${failed[0].reason}`);
  process.exit(1);
}
