/** A jq for machines without one: `jq [-r] [-c] [-e] <filter> [file]`. */
import { readFileSync } from "node:fs";

import * as jq from "jq-wasm";

const args = process.argv.slice(2);
const [filter = ".", file = "/dev/stdin"] = args.filter((arg) => !arg.startsWith("-"));
const flags = args.filter((arg) => arg.startsWith("-"));
const { stdout, stderr, exitCode } = await jq.raw(readFileSync(file, "utf8"), filter, flags);
if (stdout !== "") process.stdout.write(`${stdout}\n`);
process.stderr.write(stderr);
process.exitCode = exitCode;
