// The contract's cases, call by call, as the plugin must answer them.

/** All exchanges, in their order. */
export async function load(url) {
  const packed = (await fetch(url)).body.pipeThrough(new DecompressionStream("gzip"));
  const lines = (await new Response(packed).text()).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** Makes the call again, and says what is not as it was. */
export async function replay(plugin, exchange) {
  const left = [...(exchange.calls ?? [])];
  const problems = [];
  const answer = (name) => (action) => {
    const call = left.shift();
    if (call?.function !== name) {
      problems.push(`${name} is called, and not ${call?.function}`);
      return "";
    }
    problems.push(...(call.input ? differences(name, call.input, action) : []));
    return call.answer;
  };
  const names = ["outlast_now", "outlast_sleep", "outlast_attempt"];
  const host = Object.fromEntries(names.map((name) => [name, answer(name)]));
  const output = await plugin.call(exchange.export, input(exchange), host);
  problems.push(...differences("answer", exchange.output, output));
  return [...problems, ...left.map((call) => `${call.function} is not called`)];
}

function input({ input = "", input_base64: binary }) {
  return binary ? Uint8Array.from(atob(binary), (c) => c.charCodeAt(0)) : input;
}

/** Where an answer lacks what is wanted. It may have members that are new. */
function differences(path, want, got) {
  return lacks(path, JSON.parse(want), JSON.parse(got));
}

function lacks(path, want, got) {
  if (want !== null && got !== null && typeof want === "object" && typeof got === "object") {
    const same = !Array.isArray(want) || want.length === got.length;
    const inside = Object.entries(want).flatMap(([name, value]) => lacks(`${path}.${name}`, value, got[name]));
    return same ? inside : [`${path}: want ${want.length} items, got ${got.length}`, ...inside];
  }
  return want === got ? [] : [`${path}: want ${JSON.stringify(want)}, got ${JSON.stringify(got)}`];
}
