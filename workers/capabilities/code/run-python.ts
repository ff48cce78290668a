import { CAPABILITY_PARAM_BYTES_MAX, CAPABILITY_TEXT_BYTES_MAX } from "#workers/capabilities/limits.ts";

import { defineCapability, input } from "../define.ts";
import { custom, number } from "../params.ts";
import { textOf } from "../text.ts";
import { checkPython } from "./check-python.ts";
import { runMonty, tooLargeValue } from "./monty.ts";
import { collectPrinted } from "./printed.ts";

export default defineCapability({
  id: "code.run_python",
  display_name: "Run Python subset",
  description: "Runs a script in a subset of Python in a sandbox and returns its last value and what it printed.",
  long_description:
    "The script runs in Monty, an interpreter for a subset of Python, in its own process. Supported: functions, simple classes, " +
    "comprehensions, exceptions, f-strings and a few modules such as `json`, `math` and `re`. Not supported: network, files, environment. " +
    "Constructs that behave differently from CPython are refused before the run with their line. Examples are decorators other than `dataclass` " +
    "and stored iterators, such as `m = map(…)`. Known differences: sets keep the insertion order, and equal keys such as 1 and True " +
    "keep the last one. Floats overflow to infinity, NaN equals itself in lists, and `$` of `re` matches only at the very end. " +
    "The limits are 64 MB of memory, five seconds of execution time, and 1,000 printed lines of 2,000 characters. `args` is a global. The result is the value of the last expression as " +
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
    checkPython(code);
    const printed = collectPrinted();
    const { timeout } = params;
    const value = await runMonty({ code, args: params.args, timeout, onPrint: (text) => printed.write(text) });
    const json = JSON.stringify(value);
    if (Buffer.byteLength(json) > CAPABILITY_TEXT_BYTES_MAX) throw tooLargeValue();
    const { lines, notes } = printed.end();
    return { output: { value: JSON.parse(json) as unknown, printed: lines }, notes };
  },
});
