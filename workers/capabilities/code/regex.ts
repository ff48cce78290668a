import { RE2JS } from "re2js";

import { MediaError } from "#shared/media/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice, integer, list, text } from "../params.ts";
import { CODE_PRICE, madeText, textOf } from "../text.ts";

const FLAGS = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL } as const;

export default defineCapability({
  id: "code.regex",
  display_name: "Match text",
  description: "Finds, replaces or splits by a regular expression, in time that grows with the text alone (RE2).",
  output_modality: "text",
  input: { text: input("text", "The text.", { takesText: true }) },
  params: {
    pattern: text("In RE2's syntax, which has no look-around and no back-references.", { max: 1_000, required: true }),
    mode: choice("What is done.", ["match", "replace", "split"], { default: "match" }),
    replacement: text("Stands in for each match; $1 is the first group.", { min: 0, max: 10_000 }),
    flags: list(
      "i ignores case, m lets ^ and $ meet at lines, s lets . meet line breaks.",
      choice("A flag.", ["i", "m", "s"], { required: true }),
      { max: 3 },
    ),
    max: integer("Matches at most.", { min: 1, max: 10_000, default: 1_000 }),
  },
  rules: [{ rule: "fits", path: "params.replacement", by: "params.mode", values: { match: [], split: [] } }],
  sample_input: { text: { text: "Tea 4.20, milk 1.10" } },
  examples: [
    { title: "All prices", params: { pattern: "[0-9]+\\.[0-9]{2}" } },
    { title: "Prices in euros", params: { pattern: "([0-9.]+)", mode: "replace", replacement: "€$1" } },
  ],
  price: CODE_PRICE,
  engine: "code",
  async run({ params, inputs, folder }) {
    const source = await textOf(inputs.text);
    const { mode, replacement, flags = [], max } = params;
    let pattern: RE2JS;
    try {
      pattern = RE2JS.compile(
        params.pattern,
        flags.reduce((sum, flag) => sum | FLAGS[flag], 0),
      );
    } catch (error) {
      throw new MediaError("invalid", `Expected params.pattern in RE2's syntax: ${String(error).slice(0, 200)}`, {
        cause: error,
      });
    }
    if (mode === "split") return { output: { parts: pattern.split(source, max) } };
    if (mode === "replace") {
      if (replacement === undefined)
        throw new MediaError("invalid", "Expected params.replacement for params.mode replace, got none.");
      return madeText(folder, pattern.matcher(source).replaceAll(replacement), {
        name: "text.txt",
        mediaType: "text/plain",
      });
    }
    const matches: object[] = [];
    const matcher = pattern.matcher(source);
    while (matches.length < max && matcher.find()) {
      const groups = Array.from({ length: matcher.groupCount() }, (_, at) => matcher.group(at + 1));
      matches.push({ text: matcher.group(), index: matcher.start(), groups });
    }
    return { output: { matches, is_cut: matches.length === max && matcher.find() } };
  },
});
