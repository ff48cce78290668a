/** jq, of which each program gets an instance of its own: one that fails for want of memory or depth is of no more use. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { loadJq } from "jq-wasm";

import { MediaError } from "#shared/children/media-error.ts";

/** Version of jq, as the capability's description names it. */
export const JQ_VERSION = "1.8.2";

let compiled: WebAssembly.Module | undefined;

function moduleOfJq(): WebAssembly.Module {
  const path = createRequire(import.meta.url).resolve("jq-wasm/jq.wasm");
  return (compiled ??= new WebAssembly.Module(readFileSync(path)));
}

/** The results of a program as one JSON list. @throws MediaError invalid */
export async function queried(value: unknown, program: string): Promise<string> {
  const jq = await loadJq({ wasmModule: moduleOfJq() });
  let ran: ReturnType<typeof jq.raw>;
  try {
    // As one list: of a program that fails after its first result, nothing is written then; and it is none of jq's options.
    ran = jq.raw(JSON.stringify(value), `[${program}\n]`, ["-c"]);
  } catch (error) {
    throw refusal("it needs more memory or depth than jq has here", error);
  }
  if (ran.exitCode !== 0) throw refusal(saidBy(ran.stderr), new Error(`jq ended with ${ran.exitCode}`));
  return ran.stdout.trim() === "" ? "[]" : ran.stdout;
}

function refusal(why: string, cause: unknown): MediaError {
  return new MediaError("invalid", `Expected params.jq to be a program that runs: ${why}.`, { cause });
}

/** Its first sentence, without what it says of files, and with places in the caller's own text. */
function saidBy(printed: string): string {
  const [line = ""] = printed.split("\n");
  const sentence = line.replace(/^jq: error(?: \(at [^)]*\))?:? /, "").trim();
  const [, said, row, column] = /^(.*) at <top-level>, line (\d+), column (\d+):?$/.exec(sentence) ?? [];
  const place = row === undefined ? "" : ` (line ${row}, column ${Number(column) - (row === "1" ? 1 : 0)})`;
  return `${(said ?? sentence).slice(0, 200) || "it fails"}${place}`.replace(/\.$/, "");
}
