import { describe, expect, test } from "bun:test";

import { locate, syntaxLine } from "#shared/calls/catalogue/positions.ts";

const TEXT = `# a comment: with a colon
providers:
  - id: a
    base_url: "http://x#y: z"
  - { id: b, family: sandbox }
presets:
- name: x
  requests_per_minute: 3
- name: y
  note: |
    name: not a key
      - not an item

    more
  daily_tokens: 1
models:
  - &base
    slug: m
    pricing:
      unit: per_token   # price: of a token
      "input_per_million": "1"
    sources:
      - provider: a
        model: [x,
           y: 2, "]"]
        overrides: { a: { b: 1 } }
      -
        provider: b
  -   slug: n
      'it''s': 1
      text: "two
        lines: of text"
      nested:
        - - a: 1
          - b: http://host:80/x
`;

describe("positions in a YAML text", () => {
  test.each([
    ["providers", 2],
    ["providers[0].base_url", 4],
    ["presets[1].name", 9],
    ["presets[1].daily_tokens", 15],
    ["models[0].slug", 18],
    ["models[0].pricing.input_per_million", 21],
    ["models[0].sources[1].provider", 28],
    ["models[1].slug", 29],
    ["models[1].it's", 30],
    ["models[1].nested[0][1].b", 35],
  ])("%s is in line %p", (path, line) => {
    expect(locate(TEXT).lineOf(path)).toBe(line);
  });

  test("a value without its own line has the line of its owner", () => {
    const positions = locate(TEXT);
    expect(positions.lineOf("providers[1].family")).toBe(5);
    expect(positions.lineOf("models[0].sources[0].overrides.a.b")).toBe(26);
    expect(positions.lineOf("models[0].max_context_tokens")).toBe(17);
    expect(positions.lineOf("elsewhere")).toBeUndefined();
  });

  test.each([
    "a[b",
    "models[0].[x",
    "models[0].x]",
    "models[0][",
    "[",
    "]",
    ".",
    "..",
    "models[0]..x",
    "models[0].a[0]b",
  ])("the line of a path with a name of any characters is that of its nearest ancestor, or none: %s", (path) => {
    expect(locate(TEXT).lineOf(path)).toBe(path.startsWith("models[0]") ? locate(TEXT).lineOf("models[0]") : undefined);
  });

  test("a duplicate key of one mapping is found, the same key in two mappings is not", () => {
    expect(locate(TEXT).repeated).toEqual([]);
    expect(locate("a:\n  b: 1\n  c: 2\n  'b': 3\nd:\n  b: 1\n").repeated).toEqual([{ path: "a.b", line: 4 }]);
  });

  test("the test text is YAML, so that the positions above are valid", () => {
    expect(Object.keys(Bun.YAML.parse(TEXT) as object)).toEqual(["providers", "presets", "models"]);
  });
});

describe("the line at which a text stops being YAML", () => {
  test.each([
    ["a line indented too little", TEXT.replace("    slug: m", "   slug: m\n  x: 1"), 19],
    ["a bracket that closes nothing", TEXT.replace("model: [x,", "model: [x,, }"), 24],
    ["a quote that never ends", `${TEXT}  - slug: "open\n    x: 1\n`, 36],
    ["two values for one key", TEXT.replace("slug: n", "slug: n: m"), 29],
    ["a tab for indentation", TEXT.replace("    pricing:", "\tpricing:"), 19],
    ["a fault in the first line", "a: [1,\n", 1],
  ])("is found for %s", (_name, text, line) => {
    expect(() => Bun.YAML.parse(text)).toThrow();
    expect(syntaxLine(text, Bun.YAML.parse)).toBe(line);
  });
});
