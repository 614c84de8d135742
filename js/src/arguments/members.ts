/** What callers may give: objects with members, each of which is checked. */

/** Refuses a value. The name is for the error. */
export type Check = (value: unknown, name: string) => void;

/** How each member that a type has is checked, so that none is forgotten. */
export type Members<T> = { readonly [Name in keyof Required<T>]: Check };

/** Checks nothing: types do, or whoever uses the value. */
export const anything: Check = () => {};

/** Lets a member be left out. */
export function optional(check: Check): Check {
  return (value, name) => value !== undefined && check(value, name);
}

/** Wants a value for which something holds, and says what that would be. */
export function wants(
  what: string,
  holds: (value: unknown) => boolean,
  Kind: new (text: string) => Error = TypeError,
): Check {
  return (value, name) => {
    if (!holds(value)) {
      throw new Kind(`outlast: ${name} is ${show(value)}, and must be ${what}`);
    }
  };
}

export const flag = wants("true or false", (value) => typeof value === "boolean");

/**
 * Checks an object's members. One that is unknown is refused too: nobody would notice that a
 * misspelt one does nothing.
 *
 * @param object The object that a caller gave.
 * @param known The members that there are.
 * @param what What the object is, for the error.
 * @param prefix What stands before a member's name in an error, such as `call.`.
 * @throws TypeError or RangeError, by the check.
 */
export function checkMembers<T>(
  object: unknown,
  known: Members<T>,
  what: string,
  prefix = "",
): asserts object is T {
  if (typeof object !== "object" || object === null) {
    throw new TypeError(`outlast: ${what} is ${show(object)}, and must be an object`);
  }
  for (const name of Object.keys(object)) {
    if (!Object.hasOwn(known, name)) {
      const names = Object.keys(known).join(", ");
      throw new TypeError(`outlast: ${what} has no member ${show(name)}; it has ${names}`);
    }
  }
  for (const [name, check] of Object.entries<Check>(known)) {
    check((object as Record<string, unknown>)[name], prefix + name);
  }
}

/** A value for an error's text, in a line of a sensible length. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  }
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
