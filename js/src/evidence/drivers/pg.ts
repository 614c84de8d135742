/** pg, tried with 8.23.1 and PostgreSQL 15.18. */

import { BROKE, type Known, type Meaning, REFUSED } from "../meaning.js";

/** What the server says before a session begins, or as it ends one, by SQLSTATE. A statement
 * can raise an error with any of these codes, but not with the severity FATAL, which ends the
 * session. */
const FATAL: Record<string, Meaning> = {
  "57P03": REFUSED, // it is starting up, or shutting down
  "53300": REFUSED, // too many clients, for the server, the database or the role
  "57P01": BROKE, // a statement's session was ended, by a shutdown or by somebody
  "57P02": BROKE, // likewise, since another one crashed
};

export const pg: Known = (error, code, message) => {
  const { severity } = error as { severity?: unknown };
  if (error.name === "error" && severity === "FATAL") {
    return FATAL[code];
  }
  return message === "Connection terminated unexpectedly" ? BROKE : undefined;
};
