/** Errors of engines as faults that callers can mend. */
import { expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { defineCapability, input } from "#workers/capabilities/define.ts";
import { corruptOr } from "#workers/capabilities/faults.ts";

import { refused } from "./refused.ts";

const MEMORY = "too_large: The work needs more memory than one run may use.";

/** A capability whose engine fails so. */
function failing(work: () => unknown) {
  return defineCapability({
    id: "code.fails",
    display_name: "",
    description: "",
    output_modality: "text",
    input: { text: input("text", "") },
    params: {},
    sample_input: {},
    examples: [],
    price: {},
    engine: "code",
    run: () => Promise.resolve().then(() => ({ output: { made: work() } })),
  });
}

const trap = () => {
  // (module (memory 0) (func (export "f") (drop (i32.load (i32.const 0)))))
  const code = "0061736d01000000010401600000030201000503010000070501016600000a0a01080041002802001a0b";
  const { f } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(code, "hex"))).exports;
  (f as () => void)();
};

test.each<[string, () => unknown, string]>([
  ["a string that is too long", () => "x".repeat(2 ** 31), MEMORY],
  ["a buffer that is too large", () => new Uint8Array(2 ** 45), MEMORY],
  ["an engine in WebAssembly", () => { throw new WebAssembly.RuntimeError("Aborted(OOM)"); }, MEMORY], // prettier-ignore
  ["the system", () => { throw new Error("Cannot allocate memory"); }, MEMORY], // prettier-ignore
  ["a call without an end", () => { const again = (): unknown => [again()]; return again(); }, "too_large: The data is nested too deeply."], // prettier-ignore
  ["a trap of a decoder", trap, "corrupt: The data cannot be decoded: its decoder failed."],
])("%s is an error of the data in every capability", async (_what, work, said) => {
  const made = failing(work).run({ inputs: {} } as never);
  expect(await refused(made)).toBe(said);
});

test("an internal error stays one, and a reader names its format unless memory or depth is exceeded", async () => {
  const ours = new TypeError("x is undefined");
  expect(await failing(() => { throw ours; }).run({ inputs: {} } as never).catch((error: unknown) => error)).toBe(ours); // prettier-ignore
  expect(corruptOr(ours, "The sheet cannot be read.")).toMatchObject({ fault: "corrupt", message: "The sheet cannot be read." }); // prettier-ignore
  expect(corruptOr(new RangeError("Out of memory"), "no")).toMatchObject({ fault: "too_large" });
  const known = new MediaError("invalid", "known");
  expect(corruptOr(known, "no")).toBe(known);
});
