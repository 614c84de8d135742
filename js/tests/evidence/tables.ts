/** Tables of what becomes of requests, as pages of docs/ have them. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../helpers.js";

/**
 * Wants the tables to be in a page, each once with the names of all clients that it is of.
 *
 * @param heads The columns' heads.
 * @param tables The rows by client.
 */
export function assertDocumented(
  page: string,
  heads: readonly string[],
  tables: Readonly<Record<string, readonly string[]>>,
): void {
  const head = `${row(heads)}\n${row(heads.map(() => "---"))}\n`;
  const text = readFileSync(join(ROOT, "../docs", page), "utf8");
  const documented = [...alike(tables)].map(
    ([table, names]) => `<!-- ${names.join(", ")} -->\n${head}${table}\n<!-- end -->`,
  );
  const missing = documented.filter((table) => !text.includes(table));
  assert.ok(missing.length === 0, `docs/${page} should have\n${missing.join("\n")}`);
}

/** A row of a table. */
export function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** Clients by their tables. */
function alike(tables: Readonly<Record<string, readonly string[]>>): Map<string, string[]> {
  const by = new Map<string, string[]>();
  for (const [name, rows] of Object.entries(tables)) {
    const table = rows.join("\n");
    by.set(table, [...(by.get(table) ?? []), name]);
  }
  return by;
}
