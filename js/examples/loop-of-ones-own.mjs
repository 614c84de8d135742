// A loop of one's own around policy.session, to be run as it is:
//
//     node loop-of-ones-own.mjs
//
// Nobody listens on the port at first; after two seconds somebody does.

import { connect, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Policy, resultOf } from "outlast";

const server = createServer((socket) => socket.end("hello\n"));

/** Asks once; an error is thrown. */
async function ask(port) {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  for await (const chunk of socket.setEncoding("utf8")) {
    text += chunk;
  }
  return text;
}

/** How an attempt ended: an answer, or a failure that the policy may know. */
async function attempt(port) {
  try {
    return { answer: await ask(port), result: { exitCode: 0 } };
  } catch (error) {
    const result = resultOf(error, { onlyRequest: true });
    if (!result) {
      throw error;
    }
    return { result };
  }
}

const port = 40_000 + (process.pid % 20_000);
setTimeout(() => server.listen(port, "127.0.0.1"), 2000);

const session = (await Policy.load()).session({ remote: true, write: false });
for (;;) {
  const { answer, result } = await attempt(port);
  const now = performance.now();
  const action = await session.next(result, { now });
  if (action.type === "stop") {
    console.log(`${action.outcome.type}: ${action.outcome.message}: ${answer?.trim()}`);
    break;
  }
  console.log(`${action.kind}; attempt ${action.attempt} in ${action.delay} ms`);
  await pause(Math.max(0, now + action.delay - performance.now()));
}
server.close();
