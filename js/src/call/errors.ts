/** The errors of this package. All of them are an {@link OutlastError}. */

import type { Outcome } from "./outcome.js";
import type { Result } from "./result.js";

/** What this package throws, besides TypeError and RangeError for wrong arguments. */
export class OutlastError extends Error {
  /** What the last attempt threw, if it threw anything: this error does not hide it. */
  declare raised?: unknown;

  /** @param message What went wrong. */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** One fault of a policy document. */
export interface Fault {
  /** Where, such as `budgets.unavailable.max_wait`; empty for the whole. */
  readonly field: string;
  /** What is wrong, and what would be right. */
  readonly message: string;
}

/** A policy cannot be used. */
export class PolicyError extends OutlastError {
  /**
   * @param policy The policy, as the caller gave it.
   * @param code `invalid_policy`, `unknown_policy` or `unreadable`.
   * @param text What is wrong.
   * @param faults All that is wrong with a document.
   */
  constructor(
    readonly policy: string,
    readonly code: string,
    text: string,
    readonly faults: readonly Fault[] = [],
    options?: ErrorOptions,
  ) {
    const lines = faults.map((fault) => `\n  ${fault.field || "document"}: ${fault.message}`);
    super(`outlast: policy ${policy}: ${text}${lines.join("")}`, options);
  }
}

/** What is known of a failure of the plugin. */
export interface PluginErrorDetails extends ErrorOptions {
  /** The plugin's code for it, such as `bad_state`; none if it did not come so far. */
  readonly code?: string | undefined;
  /** The member of the request that the plugin complains of. */
  readonly field?: string | undefined;
}

/** The plugin cannot be used, or failed. What a call has spent of its budgets is lost
 * then, so it must stop. */
export class PluginError extends OutlastError {
  /** The plugin's code for it, such as `bad_state`; empty if it did not come so far. */
  readonly code: string;
  /** The member of the request that the plugin complains of, or empty. */
  readonly field: string;
  /** The call's last result, which nothing here takes away. */
  result: Result | undefined;

  /**
   * @param doing What was being done.
   * @param text What went wrong.
   * @param details What else is known of it.
   */
  constructor(
    readonly doing: string,
    readonly text: string,
    details: PluginErrorDetails = {},
  ) {
    const { code = "", field = "", cause } = details;
    const where = [code, field].filter(Boolean).map((part) => `${part}: `);
    super(`outlast: ${doing}: ${where.join("")}${text}`, cause === undefined ? {} : { cause });
    this.code = code;
    this.field = field;
  }
}

/** A call did not succeed. */
export class CallError extends OutlastError {
  /**
   * @param outcome How it ended, and what led there.
   * @param label The call's label, or empty.
   * @param options The `cause`: the attempt's own error, or the reason of an abort.
   */
  constructor(
    readonly outcome: Outcome,
    readonly label = "",
    options?: ErrorOptions,
  ) {
    const { message, type, remedy, lastError } = outcome;
    const text = `outlast: ${label ? `${label}: ` : ""}${message || type}`;
    const after = (remedy && `. ${remedy}`) + (lastError && `\n  last error: ${lastError}`);
    super(text + after, options);
  }

  /** The last attempt's result. */
  get result(): Result | undefined {
    return this.outcome.result;
  }
}

/** A failure that trying again does not mend. */
export class Failed extends CallError {}

/** A budget was spent; nothing was applied. */
export class Exhausted extends CallError {}

/** A race was lost, and the call asked to be told. */
export class Conflict extends CallError {}

/** A condition that the call depended on does not hold. */
export class PreconditionFailed extends CallError {}

/** A write failed in a way that leaves open whether it was applied. Look before trying
 * it again. */
export class Indeterminate extends CallError {}

/** The caller gave up. */
export class Cancelled extends CallError {}

const BY_TYPE: Readonly<Record<string, typeof CallError>> = {
  failed: Failed,
  exhausted: Exhausted,
  conflict: Conflict,
  precondition_failed: PreconditionFailed,
  indeterminate: Indeterminate,
  cancelled: Cancelled,
};

/** The error for an outcome that is not ok. A type that a newer plugin may add is a plain
 * {@link CallError}. */
export function errorOf(outcome: Outcome, label = "", options?: ErrorOptions): CallError {
  return new (BY_TYPE[outcome.type] ?? CallError)(outcome, label, options);
}
