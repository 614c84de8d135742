/** What this package carries. */

import type { WireDescription } from "../wire/types.js";
import { defaultPlugin, type Plugin } from "./plugin.js";

/** What the plugin is and says of itself. */
export interface Info {
  /** The digest of the file. */
  readonly sha256: string;
  /** The version of the contract. */
  readonly abi: string;
  /** The release of outlast that the plugin is part of. */
  readonly version: string;
  /** The toolchain that built it. */
  readonly build: string;
  /** The digests of the built-in policies, by name. */
  readonly policies: Readonly<Record<string, string>>;
  /** How many instances have failed in this process. */
  readonly replaced: number;
}

/**
 * What the plugin is and says of itself. Loads it.
 *
 * @param plugin Another than the one that this package carries.
 * @throws PluginError if the plugin cannot be loaded.
 */
export async function info(plugin: Plugin = defaultPlugin()): Promise<Info> {
  const said = (await plugin.ask("describe", "")) as WireDescription;
  const { abi, version = "", build = "", policies = [] } = said;
  return {
    sha256: await plugin.sha256(),
    abi: `${abi.major}.${abi.minor}.${abi.patch}`,
    version,
    build,
    policies: Object.fromEntries(policies.map(({ name = "", digest = "" }) => [name, digest])),
    replaced: plugin.replaced,
  };
}
