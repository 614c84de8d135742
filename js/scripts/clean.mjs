// Removes a folder of built files, so that none of an earlier build stays.
import { rmSync } from "node:fs";

rmSync(process.argv[2], { recursive: true, force: true });
