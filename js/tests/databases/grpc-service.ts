/** A service of gRPC whose messages are bytes. */

import type { ServiceDefinition } from "@grpc/grpc-js";

function method(name: string) {
  const same = (bytes: Buffer) => bytes;
  return {
    path: `/outlast.Test/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}

export const SERVICE = {
  read: method("read"),
  write: method("write"),
  applyAndWait: method("applyAndWait"),
  applyAndForward: method("applyAndForward"),
  applyAndForwardLate: method("applyAndForwardLate"),
} satisfies ServiceDefinition;
