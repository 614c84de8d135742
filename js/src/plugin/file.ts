/** The plugin's file, which this package carries, and its digest. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { PluginError } from "../call/errors.js";

/** Where this package has the file; the build puts it there. */
export const PACKAGED = new URL("./outlast.wasm", import.meta.url);

/** The plugin's bytes, and their SHA-256 in hexadecimal digits. */
export interface Wasm {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
}

/**
 * Reads the plugin.
 *
 * @param path Another plugin than the one that this package carries. Beside it no
 *     recorded digest is needed.
 * @throws PluginError if the file cannot be read, or is not the one whose digest was
 *     recorded when the plugin was built.
 */
export async function readWasm(path?: string | URL): Promise<Wasm> {
  const where = path ?? PACKAGED;
  let bytes: Uint8Array<ArrayBuffer>;
  let recorded: string | undefined;
  try {
    bytes = new Uint8Array(await readFile(where));
    recorded = path === undefined ? await recordedDigest() : undefined;
  } catch (cause) {
    throw new PluginError("reading the plugin", String(cause), { cause });
  }
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (recorded !== undefined && recorded !== sha256) {
    throw new PluginError(
      "checking the plugin",
      `${where} has the SHA-256 ${sha256}, and was built with ${recorded}: install the package again`,
    );
  }
  return { bytes, sha256 };
}

async function recordedDigest(): Promise<string> {
  return (await readFile(new URL("./outlast.wasm.sha256", PACKAGED), "utf8")).trim();
}
