/** Which requests a caller's word is for. */

import type { Check } from "../arguments/members.js";

/** A request that is about to be made. */
export interface ClientRequest {
  /** In capitals. */
  readonly method: string;
  /** Its host is `host.invalid` where undici does not say it: before undici 8, of a `Pool` or a
   * `Client` that has the interceptor itself. */
  readonly url: URL;
  readonly headers: Headers;
}

/** All requests, or none; those of a route, or of several; or those of which a function says so. A
 * route has a method and a path, such as `PUT /items/*`: `*` stands for anything but `/`, `**` for
 * anything. One with a scheme, such as `POST https://api.example/orders`, is of that server only. */
export type Routes = boolean | string | readonly string[] | ((request: ClientRequest) => boolean);

const ROUTE = /^[A-Z-]+ (\/|https?:\/\/)\S*$/;

/** Wants routes. */
export const routes: Check = (value, name) => {
  const all = Array.isArray(value) ? value : typeof value === "string" ? [value] : undefined;
  const wrong = all?.find((each) => !ROUTE.test(String(each)));
  if (wrong !== undefined || !(all || typeof value === "boolean" || typeof value === "function")) {
    const text = `outlast: ${name} must be true, false, a function, or routes such as "PUT /items/*"`;
    throw new TypeError(wrong === undefined ? text : `${text}, and has ${JSON.stringify(wrong)}`);
  }
};

/** Whether a request is one of those; none: none is. */
export function chosenBy(of: Routes): ((request: ClientRequest) => boolean) | undefined {
  if (typeof of === "boolean") {
    return of ? () => true : undefined;
  }
  if (typeof of === "function") {
    return of;
  }
  const patterns = [of].flat().map(patternOf);
  return ({ method, url }) =>
    patterns.some((pattern) =>
      [url.pathname, url.origin + url.pathname].some((path) => pattern.test(`${method} ${path}`)),
    );
}

function patternOf(route: string): RegExp {
  const escaped = route.replace(/[\\^$.+?()[\]{}|]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/\*\*?/g, (all) => (all === "*" ? "[^/]*" : ".*"))}$`);
}
