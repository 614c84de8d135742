/** ioredis, tried with 6.0.0 and Redis 7.0. It keeps the error of a connection to itself, so
 * that an error of a command tells little. */

import { BROKE, type Known, type Meaning, UNCONNECTED } from "../meaning.js";
import { answeredByRedis } from "./node-redis.js";

const OFFLINE = "Stream isn't writeable and enableOfflineQueue options is false";

/** A command had to wait for that many connections that could not be made. It may have been
 * written before the first of them. */
const WAITED: Meaning = { failure: "unconnected", early: true, unsure: true };

export const ioredis: Known = (error, code, message) => {
  if (message === OFFLINE) {
    return UNCONNECTED;
  }
  if (error.name === "MaxRetriesPerRequestError") {
    return message.includes("(which is 0)") ? BROKE : WAITED;
  }
  return answeredByRedis(error, code, message);
};
