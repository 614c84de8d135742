// Shows what a policy does in an outage. What is chosen stands in the address.

import { load } from "./outlast.js";
import { FAILURES, play } from "./outage.js";

const OWN = "of my own";
const WIDTH = 900;
const form = document.getElementById("asked");
const plugin = await load("../../plugin/outlast.wasm");

function choose(select, values) {
  select.replaceChildren(...values.map(([value, label = value]) => new Option(label, value)));
}

const { policies } = JSON.parse(plugin.call("describe", "")).ok;
choose(form.policy, [...policies.map(({ name }) => [name]), [OWN]]);
choose(
  form.failure,
  Object.entries(FAILURES).map(([name, { label }]) => [name, label]),
);
for (const [name, value] of new URL(location.href).searchParams) {
  if (form.elements[name]) {
    form.elements[name].value = value;
  }
}
form.document.addEventListener("input", () => {
  form.policy.value = OWN;
});
form.addEventListener("input", show);
show();

function show() {
  const asked = Object.fromEntries(new FormData(form));
  history.replaceState(null, "", `?${new URLSearchParams(asked)}`);
  const upUs = Math.round(Number(asked.outage) * 1e6);
  let played;
  try {
    played = play(plugin, {
      policy: asked.policy === OWN ? JSON.parse(asked.document) : asked.policy,
      call: { remote: true, write: asked.call === "write" },
      failure: FAILURES[asked.failure].result,
      upUs,
      random: Math.floor(Number(asked.chance) * (2 ** 32 - 1)),
    });
  } catch (error) {
    played = { attempts: [], error };
  }
  showOutcome(played);
  showTimeline(played.attempts, upUs);
  showTable(played.attempts);
}

function showOutcome({ outcome, error, attempts }) {
  const said = document.getElementById("outcome");
  said.className = outcome?.type === "ok" ? "ok" : "bad";
  const faults = error?.faults?.map(({ field, message }) => `${field} ${message}`).join("; ");
  said.textContent =
    outcome?.message ??
    (error ? (faults ?? `${error.field ?? ""} ${error.message}`) : `more than ${attempts.length} attempts`);
}

function seconds(us) {
  return `${(us / 1e6).toFixed(1)} s`;
}

function showTimeline(attempts, upUs) {
  const end = Math.max(upUs, attempts.at(-1)?.atUs ?? 0, 1e6) * 1.04;
  const x = (us) => 20 + (us / end) * (WIDTH - 40);
  const parts = [
    shape("rect", { x: x(0), y: 30, width: x(upUs) - x(0), height: 50, fill: "#f3d9d5" }),
    shape("rect", { x: x(upUs), y: 30, width: x(end) - x(upUs), height: 50, fill: "#dcefe1" }),
    shape("text", { x: x(0) + 4, y: 22, fill: "#b3382c" }, "the server is away"),
    shape("text", { x: Math.min(x(upUs), WIDTH - 130), y: 100, fill: "#2a7d46" }, `back after ${seconds(upUs)}`),
    ...attempts.map(({ atUs, failed }) =>
      shape("circle", { cx: x(atUs), cy: 55, r: 6, fill: failed ? "#b3382c" : "#2a7d46" }),
    ),
  ];
  document.getElementById("timeline").replaceChildren(...parts);
}

function shape(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.setAttribute("font-size", "14");
  made.textContent = text;
  return made;
}

function showTable(attempts) {
  const rows = attempts.map(({ atUs, kind, failed, leftUs }, i) => [
    i + 1,
    seconds(atUs),
    failed ? kind : "ok",
    i === 0 ? "" : seconds(atUs - attempts[i - 1].atUs),
    leftUs === undefined ? "" : seconds(leftUs),
  ]);
  const head = ["attempt", "at", "what it found", "waited", "left of the window"];
  const line = (cells, kind) => {
    const row = document.createElement("tr");
    row.append(...cells.map((cell) => Object.assign(document.createElement(kind), { textContent: cell })));
    return row;
  };
  const table = document.getElementById("attempts");
  table.replaceChildren(line(head, "th"), ...rows.map((row) => line(row, "td")));
}
