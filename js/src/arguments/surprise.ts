/** Warnings of values that are allowed and probably not meant. */

const told = new Set<string>();

/**
 * Warns of a value, once for each text. Node shows it on stderr, and
 * `process.on("warning")` hears it.
 */
export function surprise(text: string): void {
  if (!told.has(text)) {
    told.add(text);
    process.emitWarning(`outlast: ${text}`, { type: "SurprisingValueWarning" });
  }
}
