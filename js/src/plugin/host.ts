/** What a host gives to a plugin that drives a call. */

/** The host functions, which only the export `run` calls. */
export const HOST_FUNCTIONS = ["outlast_now", "outlast_sleep", "outlast_attempt"] as const;

/** The module that has them. */
export const USER_MODULE = "extism:host/user";

/**
 * Answers the plugin's host functions while `run` is running. They cannot wait: on Node's
 * main thread a host function has to answer before it returns. An empty text means that
 * the host failed.
 */
export type Host = Readonly<Record<(typeof HOST_FUNCTIONS)[number], (input: string) => string>>;
