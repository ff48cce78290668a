import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSHandle,
  RELEASE_SYNC,
  shouldInterruptAfterDeadline,
} from "quickjs-emscripten";

import { MediaError } from "#shared/children/media-error.ts";
import { CAPABILITY_PARAM_BYTES_MAX, CAPABILITY_TEXT_BYTES_MAX } from "#workers/capabilities/limits.ts";

import { defineCapability, input } from "../define.ts";
import { custom, number } from "../params.ts";
import { textOf } from "../text.ts";
import { collectPrinted } from "./printed.ts";

const PAGE_BYTES = 65_536;
/** Memory limit in WebAssembly pages. It is set in WebAssembly, because the module ignores its own memory limit. */
const MEMORY_PAGES_MAX = (64 * 1_048_576) / PAGE_BYTES;

export default defineCapability({
  id: "code.run_javascript",
  display_name: "Run JavaScript",
  description: "Runs a script in a sandbox and returns its last value and what it printed.",
  long_description:
    "The script runs in QuickJS (ES2023) inside WebAssembly, in its own process. It has no network, files, modules or timers, 64 MB of memory " +
    "at most five seconds of execution time, and 1,000 printed lines of 2,000 characters. `args` is a global; `print(…)` and `console` print. The result is the value of the last " +
    "expression as JSON, or what a promise resolves to. Big integers are returned as text.",
  output_modality: "text",
  input: { code: input("text", "The script.", { takesText: true }) },
  params: {
    args: custom<object, { readonly default: object }>(
      { description: "Value of the global `args` in the script, at most 65536 bytes as JSON.", type: "object" },
      { default: {} },
    ),
    timeout: number("Maximum execution time in seconds.", { min: 0.1, max: 5, unit: "s", default: 2 }),
  },
  rules: [{ rule: "short", path: "params.args", bytesMax: CAPABILITY_PARAM_BYTES_MAX }],
  sample_input: {
    code: { text: "const n = args.n ?? 10; print('up to', n); [...Array(n).keys()].reduce((a, b) => a + b, 0)" },
  },
  examples: [
    { title: "Without arguments", params: {} },
    { title: "With an argument", params: { args: { n: 100 } } },
  ],
  price: { unit: "per_second", second_price: "0.05" },
  engine: "code",
  async run({ params, inputs }) {
    const code = await textOf(inputs.code);
    const memory = new WebAssembly.Memory({ initial: 256, maximum: MEMORY_PAGES_MAX });
    const module = await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory: memory }));
    const runtime = module.newRuntime();
    runtime.setMaxStackSize(512 * 1_024);
    const vm = runtime.newContext();
    const printed = collectPrinted();
    // Created before the script runs, because the script may replace the built-ins.
    const formatValue = vm.unwrapResult(vm.evalCode(FORMAT_VALUE));
    const json = vm.unwrapResult(vm.evalCode(JSON_OF));
    const textOfValue = (value: QuickJSHandle): string =>
      vm.unwrapResult(vm.callFunction(formatValue, vm.undefined, value)).consume((text) => vm.getString(text));
    const log = vm.newFunction("log", (...values) => {
      printed.writeLine(values.map(textOfValue).join(" "));
    });
    const console_ = vm.newObject();
    for (const name of ["log", "info", "warn", "error", "debug"]) vm.setProp(console_, name, log);
    vm.setProp(vm.global, "console", console_);
    vm.setProp(vm.global, "print", log);
    const args = vm.unwrapResult(vm.evalCode(`(${JSON.stringify(params.args)})`));
    vm.setProp(vm.global, "args", args);
    // The timeout starts here: setup can be slow on a busy machine, and is not the script's time.
    const isPast = shouldInterruptAfterDeadline(Date.now() + params.timeout * 1_000);
    let isLate = false;
    runtime.setInterruptHandler((own) => (isLate ||= isPast(own) === true));
    const failed = (error: QuickJSHandle): MediaError => {
      if (isLate) return new MediaError("too_large", "Expected the script to end within params.timeout.");
      const formatted = vm.callFunction(formatValue, vm.undefined, error);
      const said = formatted.error ? "its error cannot be shown" : vm.getString(formatted.value);
      return new MediaError("invalid", `The script failed: ${said.slice(0, 300)}`);
    };
    const unwrapped = (result: ReturnType<typeof vm.evalCode>): QuickJSHandle => {
      if (result.error) throw failed(result.error);
      return result.value;
    };
    const settled = (value: QuickJSHandle): QuickJSHandle => {
      const state = vm.getPromiseState(value);
      if (state.type === "rejected") throw failed(state.error);
      if (state.type === "fulfilled") return state.value;
      const said = "Expected the script's promise to be settled when the script ends, got a pending promise.";
      throw isLate ? failed(vm.undefined) : new MediaError("invalid", said);
    };
    const result = unwrapped(vm.evalCode(code, "script.js"));
    const jobs = runtime.executePendingJobs();
    if (jobs.error) throw failed(jobs.error);
    const text = unwrapped(vm.callFunction(json, vm.undefined, settled(result)));
    const value = vm.getString(text);
    const max = CAPABILITY_TEXT_BYTES_MAX;
    if (Buffer.byteLength(value) > max) {
      throw new MediaError("too_large", `Expected a value of at most ${max} bytes as JSON, got more.`);
    }
    const { lines, notes } = printed.end();
    return { output: { value: JSON.parse(value) as unknown, printed: lines }, notes };
  },
});

const PLAIN = `const { stringify } = JSON, text = String, line = RegExp.prototype.exec.bind(/script\\.js:(\\d+)/);
const plain = (_name, value) => typeof value === "bigint" ? text(value)
  : value instanceof Error ? { name: value.name, message: value.message } : value;`;
/** JavaScript function that returns a value as JSON; null for values that JSON does not support. */
const JSON_OF = `(() => { ${PLAIN} return (value) => stringify(value, plain) ?? "null"; })()`;
/** JavaScript function that formats a value as one line of text. An error includes its line number. */
const FORMAT_VALUE = `(() => { ${PLAIN} return (value) => {
  try {
    if (typeof value !== "object" || value === null) return text(value);
    if (!(value instanceof Error)) return stringify(value, plain) ?? "undefined";
    const at = line(value.stack);
    return text(value.name) + ": " + text(value.message) + (at ? " (line " + at[1] + ")" : "");
  } catch { return "[object]"; }
}; })()`;
