import { MediaError } from "#shared/children/media-error.ts";
import { CAPABILITY_PARAM_BYTES_MAX, CAPABILITY_TEXT_BYTES_MAX } from "#workers/capabilities/limits.ts";

import { defineCapability, input } from "../define.ts";
import { custom, number } from "../params.ts";
import { textOf } from "../text.ts";

const MEMORY_BYTES_MAX = 64 * 1_048_576;
const CALLS_DEPTH_MAX = 500;
const PRINTED_MAX = 1_000;
const LINE_CHARACTERS_MAX = 2_000;
const VALUE_DEPTH_MAX = 100;

export default defineCapability({
  id: "code.run_python",
  display_name: "Run Python subset",
  description: "Runs a script in a subset of Python in a sandbox and returns its last value and what it printed.",
  long_description:
    "The script runs in Monty, an interpreter for a subset of Python, in a process of its own. Supported: functions, comprehensions, " +
    "exceptions, f-strings and a few modules such as `json`, `math` and `re`; not supported: your own classes, network, files, environment. " +
    "The limits are 64 MB of memory and five seconds of execution time. `args` is a global. The result is the value of the last expression as " +
    "JSON: tuples and sets become arrays, bytes Base64, and integers that a double cannot hold text.",
  output_modality: "text",
  input: { code: input("text", "The script.", { takesText: true }) },
  params: {
    args: custom<object, { readonly default: object }>(
      {
        description: "Value of the global `args` in the script, as a dict, at most 65536 bytes as JSON.",
        type: "object",
      },
      { default: {} },
    ),
    timeout: number("Maximum execution time in seconds.", { min: 0.1, max: 5, unit: "s", default: 2 }),
  },
  rules: [{ rule: "short", path: "params.args", bytesMax: CAPABILITY_PARAM_BYTES_MAX }],
  sample_input: {
    code: { text: "n = args.get('n', 10)\nprint('up to', n)\nsum(range(n))" },
  },
  examples: [
    { title: "Without arguments", params: {} },
    { title: "With an argument", params: { args: { n: 100 } } },
  ],
  price: { unit: "per_second", second_price: "0.05" },
  engine: "python",
  async run({ params, inputs }) {
    const code = await textOf(inputs.code);
    // Its binary is not there for every system: the capability is described without it.
    const { Monty, MontyError } = await import("@pydantic/monty");
    const printed = createLines();
    let value: unknown;
    try {
      value = new Monty(code, { inputs: ["args"], scriptName: "script.py" }).run({
        inputs: { args: params.args },
        limits: {
          maxDurationSecs: params.timeout,
          maxMemory: MEMORY_BYTES_MAX,
          maxRecursionDepth: CALLS_DEPTH_MAX,
        },
        printCallback: (_stream: string, piece: string) => printed.write(piece),
      });
    } catch (error) {
      throw error instanceof MontyError ? failed(error.message) : error;
    }
    const json = JSON.stringify(plain(value, 0));
    const max = CAPABILITY_TEXT_BYTES_MAX;
    if (Buffer.byteLength(json) > max) {
      throw new MediaError("too_large", `Expected a value of at most ${max} bytes as JSON, got more.`);
    }
    return { output: { value: JSON.parse(json) as unknown, printed: printed.lines() } };
  },
});

function failed(message: string): MediaError {
  return message.startsWith("TimeoutError: time limit exceeded")
    ? new MediaError("too_large", "Expected the script to end within params.timeout.")
    : new MediaError("invalid", `The script failed: ${message.slice(0, 300)}`);
}

/** Printing comes in pieces. */
function createLines() {
  const done: string[] = [];
  let line = "";
  const end = (): void => {
    if (done.length < PRINTED_MAX) done.push(line);
    line = "";
  };
  return {
    write(text: string): void {
      for (const [at, piece] of text.split("\n").entries()) {
        if (at > 0) end();
        line += piece.slice(0, LINE_CHARACTERS_MAX - line.length);
      }
    },
    lines(): readonly string[] {
      if (line !== "") end();
      return done;
    },
  };
}

/** A value of Python as one of JSON. */
function plain(value: unknown, depth: number): unknown {
  if (depth > VALUE_DEPTH_MAX) {
    throw new MediaError("too_large", `Expected a value nested at most ${VALUE_DEPTH_MAX} deep, got more.`);
  }
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value !== "object" || value === null) return value ?? null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value) || value instanceof Set) return Array.from(value, (one) => plain(one, depth + 1));
  const members = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(members.map(([key, one]) => [keyOf(key), plain(one, depth + 1)]));
}

function keyOf(key: unknown): string {
  return typeof key === "object" && key !== null ? JSON.stringify(plain(key, 0)) : String(key);
}
