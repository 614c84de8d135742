// A program to be bundled: it gets answers from a server that is away at first, and writes there.
// It takes the server's address, and says what it got.
import { get } from "node:http";
import { Policy, retry, retryingFetch, setHooks, warmUp } from "outlast";

setHooks([]);

/** The text that a server answers, as node:http has it. */
function ask(url) {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      let text = "";
      response.on("data", (more) => {
        text += more;
      });
      response.on("end", () => resolve(text));
      response.on("error", reject);
    }).on("error", reject);
  });
}

async function main() {
  const url = process.argv[2];
  await warmUp();
  await Policy.load("curl"); // a document that the package carries
  console.log("up");
  const read = { remote: true, write: false };
  const fetched = retry(async () => (await fetch(url)).text(), read);
  const asked = retry(() => ask(url), read);
  // In Bun and Deno no request is seen, so that a write needs the claim.
  const post = retryingFetch({ onlyRequest: true });
  const posted = post(url, { method: "POST", body: "text", redirect: "manual" });
  const written = posted.then((answer) => answer.text());
  console.log((await Promise.all([fetched, asked, written])).join(" "));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
