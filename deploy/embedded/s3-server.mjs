// @ts-check
/** Program of the S3 server that s3.mjs starts: `bun s3-server.mjs <directory> <port> <bucket…>`. Exits when its stdin closes. */
// @ts-expect-error -- the package brings no types
import S3rver from "s3rver";
// @ts-expect-error -- the package brings no types
import S3Object from "s3rver/lib/models/object.js";
import { gapCalls, listInOrder } from "./s3-gaps.mjs";

// s3rver's streams throw unhandled errors if a client disconnects during a write, or aborts an upload while a part arrives.
// One broken request must not stop the server.
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
 * Exits when the parent process has ended. The parent holds the other end of the stdin pipe, so the pipe closes even if the parent is
 * killed.
 */
function endWithParent() {
  const end = () => process.exit(0);
  process.stdin.on("end", end);
  process.stdin.on("close", end);
  process.stdin.on("error", end);
  process.stdin.resume();
}
