import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  RELEASE_SYNC,
  shouldInterruptAfterDeadline,
} from "quickjs-emscripten";

import { MediaError } from "#shared/media/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { custom, number } from "../params.ts";
import { textOf } from "../text.ts";

const PAGE_BYTES = 65_536;
/** The module ignores its own memory limit; WebAssembly's is one. */
const MEMORY_PAGES_MAX = (64 * 1_048_576) / PAGE_BYTES;
const PRINTED_MAX = 1_000;
const LINE_CHARACTERS_MAX = 2_000;

export default defineCapability({
  id: "code.run_javascript",
  display_name: "Run JavaScript",
  description: "Runs a script in a sandbox and returns its last value and what it printed.",
  long_description:
    "The script is run by QuickJS (ES2023) inside WebAssembly, in a process of its own: no network, no files, no modules, no timers, " +
    "64 MB of memory, and at most five seconds of its own time. `args` is a global; `print(…)` prints, as `log` of its console does. The value of the last " +
    "expression is the result, as JSON.",
  output_modality: "text",
  input: { code: input("text", "The script.", { takesText: true }) },
  params: {
    args: custom<object, { readonly default: object }>(
      { description: "The script's global `args`.", type: "object" },
      { default: {} },
    ),
    timeout: number("Of the script's own time.", { min: 0.1, max: 5, unit: "s", default: 2 }),
  },
  sample_input: {
    code: { text: "const n = args.n ?? 10; print('up to', n); [...Array(n).keys()].reduce((a, b) => a + b, 0)" },
  },
  examples: [
    { title: "With its own number", params: {} },
    { title: "With a number of yours", params: { args: { n: 100 } } },
  ],
  price: { unit: "per_second", second_price: "0.05" },
  engine: "code",
  async run({ params, inputs }) {
    const code = await textOf(inputs.code);
    const memory = new WebAssembly.Memory({ initial: 256, maximum: MEMORY_PAGES_MAX });
    const module = await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory: memory }));
    const runtime = module.newRuntime();
    runtime.setMaxStackSize(512 * 1_024);
    runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + params.timeout * 1_000));
    const vm = runtime.newContext();
    const printed: string[] = [];
    const log = vm.newFunction("log", (...values) => {
      const line = values.map((value) => shown(vm.dump(value))).join(" ");
      if (printed.length < PRINTED_MAX) printed.push(line.slice(0, LINE_CHARACTERS_MAX));
    });
    const console_ = vm.newObject();
    vm.setProp(console_, "log", log);
    vm.setProp(vm.global, "console", console_);
    vm.setProp(vm.global, "print", log);
    const args = vm.unwrapResult(vm.evalCode(`(${JSON.stringify(params.args)})`));
    vm.setProp(vm.global, "args", args);
    const result = vm.evalCode(code, "script.js");
    if (result.error) throw failed(vm.dump(result.error));
    const value: unknown = vm.dump(result.value);
    return { output: { value: value === undefined ? null : value, printed } };
  },
});

function failed(error: unknown): MediaError {
  const { name = "Error", message = shown(error) } = (error ?? {}) as {
    readonly name?: string;
    readonly message?: string;
  };
  if (message === "interrupted")
    return new MediaError("too_large", "Expected the script to end within params.timeout.");
  return new MediaError("invalid", `The script failed: ${name}: ${message.slice(0, 300)}`);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
}
