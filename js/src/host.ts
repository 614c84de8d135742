/** What a host gives to a plugin that drives a call. */

/**
 * Answers the plugin's host functions while `run` is running. They cannot wait: on Node's
 * main thread a host function has to answer before it returns. An empty text means that
 * the host failed.
 */
export interface Host {
  outlast_now(input: string): string;
  outlast_sleep(action: string): string;
  outlast_attempt(action: string): string;
}
