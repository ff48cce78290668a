/** Stand-in for the object store of compose.yaml: s3rver on port 8333, with the account of the environment and SeaweedFS' `/healthz`. */
import { mkdirSync } from "node:fs";

// @ts-expect-error -- the package brings no types
import S3rver from "s3rver";
// @ts-expect-error -- the package brings no types
import AWSAccount from "s3rver/lib/models/account.js";
// @ts-expect-error -- the package brings no types
import S3Object from "s3rver/lib/models/object.js";

import { gapCalls, listInOrder } from "#deploy/embedded/s3-gaps.mjs";

interface Call {
  readonly path: string;
  status: number;
}
type Middleware = (call: Call, next: () => Promise<void>) => Promise<void>;

const DIRECTORY = "/data";
mkdirSync(DIRECTORY, { recursive: true });
const { AWS_ACCESS_KEY_ID: id = "", AWS_SECRET_ACCESS_KEY: secret = "" } = process.env;
new AWSAccount(1, "sluice").createKeyPair(id, secret);
// Addresses the bucket by path: the host name is that of the service.
const server = new S3rver({ directory: DIRECTORY, port: 8333, address: "0.0.0.0", silent: true, vhostBuckets: false });
const health: Middleware = async (call, next) => {
  if (call.path === "/healthz") call.status = 200;
  else await next();
};
// Before it runs: the first middleware answers.
server.middleware.unshift(health, gapCalls(DIRECTORY));
server.store.listObjects = listInOrder(server.store, S3Object);
await server.run();
process.on("SIGTERM", () => process.exit(0));
