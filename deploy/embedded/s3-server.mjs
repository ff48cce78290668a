// @ts-check
/** The process behind s3.mjs: `bun s3-server.mjs <directory> <port> <bucket…>`. Ends when its stdin closes. */
// @ts-expect-error -- the package brings no types
import S3rver from "s3rver";
import { endWithParent } from "./end-with-parent.mjs";

const [directory = "", port = "", ...buckets] = process.argv.slice(2);
const server = new S3rver({
  directory,
  port: Number(port),
  address: "127.0.0.1",
  silent: true,
  configureBuckets: buckets.map((name) => ({ name })),
});
await server.run();
endWithParent();
process.stdout.write("ready\n");
