/** A gRPC server whose writes are lines of a file. Its arguments are a port and the file. */

import { appendFileSync } from "node:fs";
import { argv } from "node:process";
import { Metadata, Server, ServerCredentials, type ServiceError, status } from "@grpc/grpc-js";
import { SERVICE } from "./grpc-service.js";

const [port, ledger = ""] = argv.slice(2);
const apply = () => appendFileSync(ledger, "x");
const X = Buffer.from("x");

type Answer = (error: Partial<ServiceError> | null, message?: Buffer) => void;

/** What this server would get of another one, and hands on to its own caller. */
const OTHERS = {
  code: status.UNAVAILABLE,
  details: "No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1.",
};

const server = new Server();
server.addService(SERVICE, {
  read: (_: unknown, answer: Answer) => answer(null, X),
  write(_: unknown, answer: Answer) {
    apply();
    answer(null, X);
  },
  applyAndWait: apply,
  applyAndForward(_: unknown, answer: Answer) {
    apply();
    answer(OTHERS);
  },
  applyAndForwardLate(call: { sendMetadata(metadata: Metadata): void }, answer: Answer) {
    apply();
    call.sendMetadata(new Metadata()); // so that none comes with the status
    setImmediate(() => answer(OTHERS));
  },
});
server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error) => {
  if (error) {
    throw error;
  }
});
