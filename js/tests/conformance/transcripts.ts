/** The contract's cases, call by call, as the plugin must answer them. */

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Host } from "../../dist/plugin/host.js";
import type { Instance } from "../../dist/plugin/instance.js";

const FILE = new URL("../../../abi/transcripts/transcripts.jsonl.gz", import.meta.url);

/** One line of the file. */
export interface Exchange {
  case: string;
  door: string;
  export: string;
  input?: string;
  input_base64?: string;
  calls?: HostCall[];
  output: string;
}

interface HostCall {
  function: string;
  input: string;
  answer: string;
}

/** All exchanges, in their order. */
export function load(): Exchange[] {
  const lines = gunzipSync(readFileSync(FILE)).toString().trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** Makes the call again, and says what is not as it was. */
export async function replay(plugin: Instance, exchange: Exchange): Promise<string[]> {
  const { input = "", input_base64: binary } = exchange;
  const data = binary ? Buffer.from(binary, "base64") : input;
  const left = [...(exchange.calls ?? [])];
  const problems: string[] = [];
  const answer = (name: string) => (action: string) => {
    const call = left.shift();
    if (call?.function !== name) {
      problems.push(`${name} is called, and not ${call?.function ?? "nothing"}`);
      return "";
    }
    problems.push(...(call.input ? differences(name, call.input, action) : []));
    return call.answer;
  };
  const host: Host = {
    outlast_now: answer("outlast_now"),
    outlast_sleep: answer("outlast_sleep"),
    outlast_attempt: answer("outlast_attempt"),
  };
  const output = await plugin.call(exchange.export, data, host);
  problems.push(...differences("answer", exchange.output, output));
  return [...problems, ...left.map((call) => `${call.function} is not called`)];
}

/** Where an answer lacks what is wanted. It may have members that are new. */
function differences(path: string, want: string, got: string): string[] {
  return lacks(path, JSON.parse(want), JSON.parse(got));
}

function lacks(path: string, want: unknown, got: unknown): string[] {
  if (isObject(want) && isObject(got)) {
    return Object.entries(want).flatMap(([name, value]) =>
      lacks(`${path}.${name}`, value, got[name]),
    );
  }
  if (Array.isArray(want) && Array.isArray(got) && want.length === got.length) {
    return want.flatMap((value, i) => lacks(`${path}[${i}]`, value, got[i]));
  }
  return want === got ? [] : [`${path}: want ${JSON.stringify(want)}, got ${JSON.stringify(got)}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
