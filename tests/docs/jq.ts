/** A jq for machines without one: `jq [-r] [-c] [--arg name value]… <filter> [file]`. */
import { readFileSync } from "node:fs";

import * as jq from "jq-wasm";

const args = process.argv.slice(2);
const names = args.flatMap((arg, at) => (arg === "--arg" ? [[args[at + 1] ?? "", args[at + 2] ?? ""]] : []));
const plain = args.filter((arg, at) => !arg.startsWith("-") && args[at - 1] !== "--arg" && args[at - 2] !== "--arg");
const [filter = ".", file = "/dev/stdin"] = plain;
const flags = args.filter((arg) => /^-[a-z]+$/.test(arg));
const { stdout, stderr, exitCode } = await jq.raw(
  readFileSync(file, "utf8"),
  filter,
  [...flags, ...names.flatMap(([name = "", value = ""]) => ["--arg", name, value])],
);
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exit(exitCode);
