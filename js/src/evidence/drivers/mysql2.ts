/** mysql2, tried with 3.24.6 and MariaDB 10.11 (not with MySQL). */

import { BROKE, type Known, REFUSED } from "../meaning.js";

/** What a server that has too many connections answers comes before the client has said
 * anything, and so without the SQLSTATE that an error of a statement has. */
export const mysql2: Known = (error, code) => {
  const { errno, sqlState } = error as { errno?: unknown; sqlState?: unknown };
  if (code === "ER_CON_COUNT_ERROR" && errno === 1040 && sqlState === "") {
    return REFUSED;
  }
  return code === "PROTOCOL_CONNECTION_LOST" ? BROKE : undefined;
};
