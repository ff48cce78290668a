// @ts-check
/** The process behind s3.mjs: `bun s3-server.mjs <directory> <port> <bucket…>`. Ends when its stdin closes. */
// @ts-expect-error -- the package brings no types
import S3rver from "s3rver";
// @ts-expect-error -- the package brings no types
import S3Object from "s3rver/lib/models/object.js";
import { gapCalls, listInOrder } from "./s3-gaps.mjs";

// A client that leaves while its bytes are written, or drops an upload whose part still comes, throws from s3rver's
// streams without a listener: one broken request must not end the server of all.
for (const fault of /** @type {const} */ (["uncaughtException", "unhandledRejection"])) {
  process.on(fault, (error) => void process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`));
}

const [directory = "", port = "", ...buckets] = process.argv.slice(2);
const server = new S3rver({
  directory,
  port: Number(port),
  address: "127.0.0.1",
  silent: true,
  configureBuckets: buckets.map((name) => ({ name })),
});
server.middleware.unshift(gapCalls(directory));
server.store.listObjects = listInOrder(server.store, S3Object);
await server.run();
endWithParent();
process.stdout.write("ready\n");

/**
 * Ends this process when the one that started it is gone: the parent holds the other end of stdin, so the pipe closes
 * with it, whatever it died of.
 */
function endWithParent() {
  const end = () => process.exit(0);
  process.stdin.on("end", end);
  process.stdin.on("close", end);
  process.stdin.on("error", end);
  process.stdin.resume();
}
