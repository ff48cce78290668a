// @ts-check
/** Runs modules one after the other in this process and prints one line of JSON for each: what it printed, or its fault. */
import { pathToFileURL } from "node:url";

const print = process.stdout.write.bind(process.stdout);

for (const file of process.argv.slice(2)) {
  let output = "";
  process.stdout.write = (/** @type {string | Uint8Array} */ piece) => {
    output += typeof piece === "string" ? piece : Buffer.from(piece).toString();
    return true;
  };
  /** @type {string | null} */
  let fault = null;
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  process.stdout.write = print;
  print(`${JSON.stringify({ file, output, fault })}\n`);
}
// A client may keep connections open.
process.exit(0);
