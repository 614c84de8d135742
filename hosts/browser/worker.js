// Fifty decisions in a thread of its own, with an instance of its own.

import { decide } from "./facts.js";
import { Plugin } from "./outlast.js";

onmessage = ({ data }) => {
  const plugin = new Plugin(data);
  postMessage(Array.from({ length: 50 }, (_, seed) => decide(plugin, seed)));
};
