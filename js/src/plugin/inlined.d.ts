/** What the package carries, as code: the build makes it of files (scripts/take-plugin.mjs), so
 * that a bundler takes it along like any other module. */

/** The plugin, compressed by Brotli, in base64. */
export declare const WASM: string;
/** The plugin's SHA-256 in hexadecimal digits, as it was recorded when the plugin was built. */
export declare const SHA256: string;
/** The module of the plugin's memory, in base64. */
export declare const KERNEL: string;
/** The policies for common commands: their documents, by their names. */
export declare const POLICIES: Readonly<Record<string, string>>;
/** The documents of the policies that the plugin carries, likewise. */
export declare const BUILT_IN: Readonly<Record<string, string>>;
/** The package's version. */
export declare const VERSION: string;
