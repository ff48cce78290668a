/** jq, of which each program gets an instance of its own: one that fails for want of memory or depth is of no more use. */
import openJq from "jq-wasm/dist/build/jq.js";

import { MediaError } from "#shared/media/media-error.ts";

interface Jq {
  raw(input: string, program: string, flags: readonly string[]): Promise<string>;
}

/** Several results are a list, none is null. @throws MediaError invalid */
export async function queried(value: unknown, program: string): Promise<unknown> {
  const open = openJq as unknown as (options: object) => Promise<Jq>;
  try {
    // Its name is what programs see of our files in their environment.
    const jq = await open({ thisProgram: "jq" });
    // As one list: of a program that fails after its first result, nothing is written then; and it is none of jq's options.
    const written = await jq.raw(JSON.stringify(value), `[${program}\n]`, ["-c"]);
    const results = JSON.parse(written === "" ? "[]" : written) as readonly unknown[];
    return results.length > 1 ? results : (results[0] ?? null);
  } catch (error) {
    const said = String(error instanceof Error ? error.message : error).slice(0, 200);
    throw new MediaError("invalid", `Expected params.jq to be a program that runs: ${said}`, { cause: error });
  }
}
