// A request that rides out the restart of a server, to be run as it is:
//
//     node survive-a-restart.mjs
//
// It starts a server, takes it away for three seconds, and asks it meanwhile.

import { once } from "node:events";
import { createServer } from "node:http";
import { retry } from "outlast";

async function start(port = 0) {
  const server = createServer((_, answer) => answer.end("hello")).listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function stop(server) {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}

async function ask(port) {
  const get = ({ signal }) => fetch(`http://127.0.0.1:${port}/`, { signal });
  const answer = await retry(get, { remote: true, write: false });
  return answer.text();
}

const server = await start();
const { port } = server.address();
console.log(`the server is there: ${await ask(port)}`);

await stop(server);
console.log("the server goes away for three seconds");
const back = new Promise((resolve) => setTimeout(() => resolve(start(port)), 3000));

const began = performance.now();
const answer = await ask(port);
const seconds = (performance.now() - began) / 1000;
console.log(`asked, and answered after ${seconds.toFixed(1)} s: ${answer}`);
await stop(await back);
