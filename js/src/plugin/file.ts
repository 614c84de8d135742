/** The plugin's file, which this package carries, and what else it carries. */

import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { PluginError } from "../call/errors.js";

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
  let bytes: Uint8Array<ArrayBuffer>;
  let recorded: string | undefined;
  try {
    if (path === undefined) {
      const { WASM, SHA256 } = await inlined();
      bytes = Uint8Array.from(await promisify(brotliDecompress)(Buffer.from(WASM, "base64")));
      recorded = SHA256;
    } else {
      const { readFile } = await import("node:fs/promises");
      bytes = Uint8Array.from(await readFile(path));
    }
  } catch (cause) {
    throw new PluginError("reading the plugin", String(cause), { cause });
  }
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (recorded !== undefined && recorded !== sha256) {
    throw new PluginError(
      "checking the plugin",
      `it has the SHA-256 ${sha256}, and was built with ${recorded}: install the package again`,
    );
  }
  return { bytes, sha256 };
}

/** The module of the plugin's memory. */
export async function readKernel(): Promise<Uint8Array<ArrayBuffer>> {
  return Uint8Array.from(Buffer.from((await inlined()).KERNEL, "base64"));
}

/** The policies for common commands: their documents, by their names. */
export async function bundledPolicies(): Promise<Readonly<Record<string, string>>> {
  return (await inlined()).POLICIES;
}

/** The document of a policy that the plugin carries. */
export async function builtInDocument(name: string): Promise<string> {
  return (await inlined()).BUILT_IN[name]!;
}

/** What this package carries. It is a megabyte, and so not loaded before it is needed. A
 * bundle of webpack's has it in the same file, so that it cannot be missing from it. */
function inlined() {
  return import(/* webpackMode: "eager" */ "./inlined.js");
}
