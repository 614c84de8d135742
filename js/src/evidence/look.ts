/** A look at a server that closed a connection. */

import { connect } from "node:net";
import type { Peer } from "./requests.js";

/** Milliseconds in which a connection must be closed to have been closed at once (a choice: what
 * accepts for others, such as docker's proxy, does so as soon as they refuse). */
const LOOK = 250;

/** Whether a server accepts a connection and closes it at once, though nothing was sent: then
 * something accepts in the place of a server that is away. */
export function closesAtOnce({ host, port }: Peer): Promise<boolean> {
  return new Promise((resolve) => {
    let stood = false;
    const socket = connect({ host, port });
    const end = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(closed && stood);
    };
    const timer = setTimeout(end, LOOK, false);
    socket.once("connect", () => {
      stood = true;
    });
    socket.once("end", () => end(true)).resume();
    socket.once("error", () => end(true));
  });
}
