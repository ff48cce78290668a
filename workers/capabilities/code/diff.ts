import { applyPatch, createTwoFilesPatch, structuredPatch } from "diff";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice, integer } from "../params.ts";
import { CODE_PRICE, writeTextResult, textOf } from "../text.ts";

/** Maximum number of edits of a diff. Texts with little in common would take too long. */
const EDITS_MAX = 20_000;
const TIMEOUT_MS = 5_000;

export default defineCapability({
  id: "code.diff",
  display_name: "Compare or patch text",
  description: "Compares two texts as a unified diff, or applies one.",
  output_modality: "text",
  input: {
    old: input("text", "The old text.", { takesText: true }),
    new: input("text", "The new text, for `mode: diff`.", { optional: true, takesText: true }),
    patch: input("text", "A unified diff, for `mode: apply`.", { optional: true, takesText: true }),
  },
  params: {
    mode: choice("`diff` compares two texts; `apply` applies a patch.", ["diff", "apply"], { default: "diff" }),
    context: integer("Lines of context around each change.", { min: 0, max: 20, default: 3 }),
  },
  sample_input: { old: { text: "one\ntwo\nthree\n" }, new: { text: "one\n2\nthree\n" } },
  examples: [
    { title: "As a unified diff", params: {} },
    { title: "Without context lines", params: { context: 0 } },
  ],
  price: CODE_PRICE,
  engine: "code",
  async run({ params, inputs, folder }) {
    const old = await textOf(inputs.old);
    const wanted = params.mode === "diff" ? inputs.new : inputs.patch;
    if (!wanted) {
      const name = params.mode === "diff" ? "new" : "patch";
      throw new MediaError("invalid", `Expected input.${name} for params.mode ${params.mode}, got none.`);
    }
    const other = await textOf(wanted);
    if (params.mode === "apply") {
      const text = patched(old, other);
      return writeTextResult(folder, text, { name: "patched.txt", mediaType: "text/plain" });
    }
    const options = { context: params.context, timeout: TIMEOUT_MS, maxEditLength: EDITS_MAX };
    const parts = structuredPatch("old", "new", old, other, "", "", options);
    const text = createTwoFilesPatch("old", "new", old, other, "", "", options);
    if (!parts || text === undefined)
      throw new MediaError(
        "too_large",
        `Expected at most ${EDITS_MAX} differences, found within ${TIMEOUT_MS / 1_000} seconds.`,
      );
    const lines = parts.hunks.flatMap((hunk) => hunk.lines);
    const more = {
      added: lines.filter((line) => line.startsWith("+")).length,
      removed: lines.filter((line) => line.startsWith("-")).length,
    };
    return writeTextResult(folder, parts.hunks.length === 0 ? "" : text, {
      name: "changes.diff",
      mediaType: "text/plain",
      more,
    });
  },
});

function patched(old: string, patch: string): string {
  let text: string | false;
  try {
    // The library ignores text before the first hunk. Text without hunks is therefore rejected, but an empty patch changes nothing.
    if (patch.trim() !== "" && !/^@@ /m.test(patch)) throw new Error("there are no places in it");
    text = applyPatch(old, patch);
  } catch (error) {
    throw new MediaError("corrupt", "Expected input.patch to be a unified diff of one file.", { cause: error });
  }
  if (text === false)
    throw new MediaError("invalid", "Expected a patch that matches the text; the text lacks its lines.");
  return text;
}
