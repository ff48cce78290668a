import { RE2JS } from "re2js";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice, integer, list, text } from "../params.ts";
import { CODE_PRICE, writeTextResult, textOf } from "../text.ts";

/** Maximum characters of all matches together: twice the limit of a text. */
const MATCHED_CHARACTERS_MAX = 4 * 1_048_576;
const REPLACED_CHARACTERS_MAX = 64 * 1_048_576;

const FLAGS = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL } as const;

export default defineCapability({
  id: "code.regex",
  display_name: "Regular expressions",
  description: "Finds, replaces or splits text with a regular expression (RE2, which runs in linear time).",
  long_description:
    "Matches are RE2's: an empty match at the end of the match before it is skipped. Each match has its text, its index and its `groups`; " +
    "`named_groups` has the groups of the form `(?P<name>…)` by name, null where a group took no part.",
  output_modality: "text",
  input: { text: input("text", "The text.", { takesText: true }) },
  params: {
    pattern: text("Regular expression in RE2 syntax, which has no look-around and no back-references.", {
      max: 1_000,
      required: true,
    }),
    mode: choice(
      "`match` returns the matches; `replace` replaces them; `split` splits the text at them.",
      ["match", "replace", "split"],
      { default: "match" },
    ),
    replacement: text("Replacement for each match; $1 is the first group, $<name> a named one.", {
      min: 0,
      max: 10_000,
    }),
    flags: list(
      "`i` ignores case, `m` makes ^ and $ match at line breaks, `s` makes . match line breaks.",
      choice("One flag.", ["i", "m", "s"], { required: true }),
      { max: 3 },
    ),
    max: integer("Maximum number of matches, or of parts when splitting. Replacement always covers all matches.", {
      min: 1,
      max: 10_000,
      default: 1_000,
    }),
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
    if (mode === "split") {
      const parts = partsOf(pattern, source, max);
      checkSize(parts.length, source.length);
      return { output: { parts } };
    }
    if (mode === "replace") {
      if (replacement === undefined)
        throw new MediaError("invalid", "Expected params.replacement for params.mode replace, got none.");
      return writeTextResult(folder, replaced(pattern, source, replacement), {
        name: "text.txt",
        mediaType: "text/plain",
      });
    }
    const matches: object[] = [];
    let characters = 0;
    const matcher = matcherOf(pattern, source);
    while (matches.length < max && matcher.find()) {
      const groups = Array.from({ length: matcher.groupCount() }, (_, at) => matcher.group(at + 1));
      const text = matcher.group() ?? "";
      characters += groups.reduce((sum, group) => sum + (group?.length ?? 0), text.length);
      checkSize(matches.length, characters);
      const named = Object.entries(pattern.namedGroups()).map(([name, at]) => [name, groups[at - 1] ?? null]);
      const match = { text, index: matcher.start(), groups };
      matches.push(named.length === 0 ? match : { ...match, named_groups: Object.fromEntries(named) });
    }
    return { output: { matches, is_cut: matches.length === max && matcher.find() } };
  },
});

/** Checks the total size of the matches. Nested groups can multiply a short text. @throws MediaError too_large */
function checkSize(count: number, characters: number): void {
  if (characters <= MATCHED_CHARACTERS_MAX) return;
  const said = `Expected at most ${MATCHED_CHARACTERS_MAX} characters of matches and groups, got more after ${count}.`;
  throw new MediaError("too_large", said);
}

/** Replaces all matches, after checking the size of the result. @throws MediaError too_large */
function replaced(pattern: RE2JS, source: string, replacement: string): string {
  const groups = replacement.split("$").length;
  let characters = source.length * groups;
  const matcher = matcherOf(pattern, source);
  while (matcher.find()) {
    characters += replacement.length;
    if (characters > REPLACED_CHARACTERS_MAX) {
      const said = `Expected matches and replacements of at most ${REPLACED_CHARACTERS_MAX} characters in all, got more.`;
      throw new MediaError("too_large", said);
    }
  }
  return matcherOf(pattern, source).replaceAll(replacement);
}

/**
 * Returns a matcher that skips an empty match directly after another match, as RE2 does. Without this, the library would return such a
 * match, as Java does.
 */
function matcherOf(pattern: RE2JS, source: string) {
  const matcher = pattern.matcher(source);
  const find = matcher.find.bind(matcher);
  let end = -1;
  matcher.find = () => {
    while (find()) {
      const isSkipped = matcher.start() === end && matcher.end() === end;
      end = matcher.end();
      if (!isSkipped) return true;
    }
    return false;
  };
  return matcher;
}

/** Splits a text at the matches as Go's `regexp.Split` does: an empty match at either end of the text does not split it. */
function partsOf(pattern: RE2JS, source: string, max: number): readonly string[] {
  const matcher = matcherOf(pattern, source);
  const parts: string[] = [];
  let [begin, end] = [0, 0];
  while (parts.length < max - 1 && matcher.find()) {
    end = matcher.start();
    if (matcher.end() !== 0) parts.push(source.slice(begin, end));
    begin = matcher.end();
  }
  return source === "" || end !== source.length ? [...parts, source.slice(begin)] : parts;
}
