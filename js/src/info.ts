/** What this package carries. */

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

/** What the plugin's export `describe` answers. */
export interface Described {
  abi: { major: number; minor: number; patch: number };
  version: string;
  build?: string;
  policies: { name: string; digest: string }[];
}

/**
 * What the plugin is and says of itself. Loads it.
 *
 * @param plugin Another than the one that this package carries.
 * @throws PluginError if the plugin cannot be loaded.
 */
export async function info(plugin: Plugin = defaultPlugin()): Promise<Info> {
  const said = (await plugin.ask("describe", "")) as Described;
  const { major, minor, patch } = said.abi;
  return {
    sha256: await plugin.sha256(),
    abi: `${major}.${minor}.${patch}`,
    version: said.version,
    build: said.build ?? "",
    policies: Object.fromEntries(said.policies.map((each) => [each.name, each.digest])),
    replaced: plugin.replaced,
  };
}
