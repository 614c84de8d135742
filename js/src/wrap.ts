/** Functions that ride out a restart wherever they are called. */

import { checkMembers, type Members } from "./arguments/members.js";
import { CALL, type Call, checkCall } from "./call/call.js";
import { RETRY_OPTIONS, type RetryOptions, retry } from "./retry.js";

// biome-ignore lint/suspicious/noExplicitAny: functions of any kind
type AnyFunction = (...args: any[]) => unknown;

/** What a function gives in the end. */
type Value<F extends AnyFunction> = Awaited<ReturnType<F>>;

/** A function as it is called: one that gives a promise keeps its type, overloads and generic
 * ones too; any other gives a promise of what it gave. */
export type Retried<F extends AnyFunction> = F extends (...args: never[]) => Promise<unknown>
  ? F
  : (...args: Parameters<F>) => Promise<Value<F>>;

/** What may be different for some calls of a function: what the call is, and how it is made. */
export type OneCall<T = unknown> = Partial<Call> & RetryOptions<T>;

/** A function that rides out a restart. */
export type Wrapped<F extends AnyFunction> = Retried<F> & {
  /** The same function with other options, as for one call of it. */
  with(options: OneCall<Value<F>>): Wrapped<F>;
};

const ONE_CALL: Members<OneCall> = { ...CALL, ...RETRY_OPTIONS, remote: () => {}, write: () => {} };

/**
 * A function that rides out a restart wherever it is called, as {@link retry} does with one
 * call.
 *
 * @param work The function. `currentAttempt()` has the attempt's signal and number there.
 * @param call What each call of it is.
 * @returns It takes the same arguments, and passes `this` on.
 */
export function wrap<F extends AnyFunction>(
  work: F,
  call: Call,
  options: RetryOptions<Value<F>> = {},
): Wrapped<F> {
  checkCall(call);
  checkMembers(options, RETRY_OPTIONS, "the options of wrap");
  const wrapped = function (this: unknown, ...args: unknown[]) {
    return retry(() => work.apply(this, args) as Value<F>, call, options);
  };
  Object.defineProperty(wrapped, "name", { value: work.name });
  const other = (given: OneCall<Value<F>>) => {
    checkMembers(given, ONE_CALL, "the options of one call");
    const parts = Object.entries(given);
    const isCalls = ([name]: [string, unknown]) => Object.hasOwn(CALL, name);
    const its = Object.fromEntries(parts.filter(isCalls));
    const others = Object.fromEntries(parts.filter((part) => !isCalls(part)));
    return wrap(work, { ...call, ...its }, { ...options, ...others });
  };
  return Object.assign(wrapped, { with: other }) as unknown as Wrapped<F>;
}
