// The cases that come with the contract, made whole, and what is equal.

const DOORS = ["decide", "run", "first", "resumed"];

/** All cases of the files at these addresses, by file and in order. */
export async function loadCases(urls) {
  const files = await Promise.all(urls.map(async (url) => (await fetch(url)).json()));
  const results = Object.assign({}, ...files.map((file) => file.results));
  const policies = Object.assign({}, ...files.map((file) => file.policies));
  const cases = files.flatMap((file) => file.cases ?? []);
  for (const each of cases) {
    resolve(each, "policy", policies);
    resolve(each.outage ?? {}, "down", results);
    resolve(each.outage ?? {}, "up", results);
    for (const step of each.steps ?? []) {
      for (const key of ["attempt", "repair", "cancelled"]) {
        resolve(step, key, results);
      }
    }
  }
  return cases;
}

/** Puts the named value in a reference's place, if it is one. */
function resolve(members, key, named) {
  if (typeof members[key] === "string" && members[key] in named) {
    members[key] = named[members[key]];
  }
}

/** What a case is played through; "request" stands for one call of an export. */
export function doorsOf({ export: name, doors, outage }) {
  return name ? ["request"] : (doors ?? (outage ? ["decide", "run"] : DOORS));
}

/** What an export is called with. */
export function rawOf({ raw, raw_base64, raw_parts, input }) {
  if (raw !== undefined) {
    return raw;
  }
  if (raw_base64) {
    return Uint8Array.from(atob(raw_base64), (c) => c.charCodeAt(0));
  }
  const parts = (raw_parts ?? []).map(({ text, times }) => text.repeat(Math.max(1, times ?? 0)));
  return parts.join("") + (input === undefined ? "" : JSON.stringify(input));
}

/** Where `got` is not what is wanted. If `open`, members that are not wanted may be there. */
export function differences(path, want, got, open = false) {
  if (isObject(want) && isObject(got)) {
    const found = Object.keys(want).flatMap((name) =>
      differences(`${path}.${name}`, want[name], got[name], open),
    );
    const more = Object.keys(got).filter((name) => !open && !(name in want));
    return [...found, ...more.map((name) => `${path}.${name}: want nothing`)];
  }
  if (Array.isArray(want) && Array.isArray(got) && want.length === got.length) {
    return want.flatMap((each, i) => differences(`${path}[${i}]`, each, got[i]));
  }
  return want === got ? [] : [`${path}: want ${JSON.stringify(want)}, got ${JSON.stringify(got)}`];
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An envelope, which has either an ok or an error that says why. */
export function opened(answer) {
  const envelope = JSON.parse(answer);
  const { error } = envelope;
  const dumb = error && !(error.code && error.message);
  if (envelope.v !== 1 || "ok" in envelope === "error" in envelope || dumb) {
    throw new Error(`no envelope: ${answer.slice(0, 200)}`);
  }
  return envelope;
}

/** Compares an envelope's error with the one wanted; `undefined` wants none. */
export function mismatch(want, got) {
  if (want?.code !== got?.code || (want?.field ?? "") !== (got?.field ?? "")) {
    return [`want the error ${JSON.stringify(want)}, got ${JSON.stringify(got)}`];
  }
  const fields = (got?.faults ?? []).map((fault) => fault.field ?? "");
  return want?.faults ? differences("faults", want.faults, fields) : [];
}

/** What the contract says of every state. */
export function stateProblems(state, wanted) {
  if (!wanted) {
    return state ? ["a state comes with a stop"] : [];
  }
  const right = state.length <= 1024 && /^[!#-[\]-~]+$/.test(state);
  return right ? [] : [`a state of ${state.length} characters comes with a retry: ${state}`];
}
