/** node-redis (the package redis), tried with 6.3.1 and Redis 7.0. */

import { BROKE, type Known, REFUSED, UNCONNECTED } from "../meaning.js";

const REFUSALS =
  /^(LOADING \w+ is loading the dataset in memory|ERR max number of clients reached)$/;

/** What Redis answers in place of looking at a command. */
export const answeredByRedis: Known = (_, __, message) =>
  REFUSALS.test(message) ? REFUSED : undefined;

/** The texts are those of its own errors; a bundler may have renamed their classes. */
export const nodeRedis: Known = (error, code, message) => {
  switch (message) {
    case "The client is offline":
      return UNCONNECTED;
    case "Socket closed unexpectedly":
      return BROKE;
  }
  return answeredByRedis(error, code, message);
};
