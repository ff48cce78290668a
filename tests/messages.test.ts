/** Style of the sentences that users (tests/support/messages.ts), operators and developers (internal-texts.ts) read. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { type InternalText, strangeTexts, textsOf } from "./support/internal-texts.ts";
import { messagesOf, messageViolations } from "./support/messages.ts";

const ROOT = join(import.meta.dir, "..");

async function sourcesOf(pattern: string): Promise<Map<string, string>> {
  const files = await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT }));
  return new Map(
    await Promise.all(files.map(async (file) => [file, await Bun.file(join(ROOT, file)).text()] as const)),
  );
}

describe("the messages of the project", () => {
  test("keep every rule of style", async () => {
    const sources = await sourcesOf("{ingress,workers,shared}/**/*.ts");
    const messages = [...sources].flatMap(([file, source]) => messagesOf(file, source));
    // A reader that finds nothing finds no fault either.
    expect(messages.filter(({ isWhole }) => isWhole).length).toBeGreaterThan(1_200);
    expect(messageViolations(sources)).toEqual([]);
  });
});

/** The rules that a message breaks. */
function broken(code: string, file = "ingress/a.ts"): string[] {
  return messageViolations(new Map([[file, code]])).map(({ rule }) => rule);
}

describe("a message", () => {
  test.each<[string, string[]]>([
    ['new ApiError("not_found", "There is no such key.")', []],
    ['new ApiError("not_found", "`x` is missing.")', []],
    ['new ApiError("not_found", `Expected ${what}.`)', []],
    ['new ApiError("not_found", `Expected ${names.join(", ")}, got ${`a ${b}`}.`)', []],
    [
      'new ApiError("not_found", "there is no such key.")',
      ["a message begins with a capital letter, a quoted name or a value"],
    ],
    ['new ApiError("not_found", "There is no such key")', ["a message ends with a period"]],
    ['const message = "The key is told of it.";', ["a message names its actor and its thing"]],
    ['throw new MediaError("corrupt", "The box is not there.")', ["a message names its actor and its thing"]],
    ['const text = cond ? "Those of others heard it." : "";', ["a message names its actor and its thing"]],
    ['say: "Read the text. What it costs is unknown.",', ["a sentence begins with its subject"]],
    [`message: "${"word ".repeat(30)}Ends.",`.replace("word", "Word"), ["a sentence has at most 30 words"]],
    ['message: "One half. " + "those of the other.",', ["a message names its actor and its thing"]],
  ])("%s breaks %j", (code, rules) => {
    expect(broken(code)).toEqual(rules);
  });

  test.each([
    'log.warn({ err }, "Those of the pool are told.")',
    'throw new Error("what is told")',
    '// new ApiError("not_found", "told")',
    'const pattern = /"/; const other = "told";',
    'new ApiError("not_found", message, { param: "told" })',
  ])("is not %s", (code) => {
    expect(broken(code)).toEqual([]);
  });

  test("of a capability is a sentence, a test is not checked", () => {
    const code = 'params: { width: integer("width of it", { min: 1 }) }';
    expect(broken(code, "workers/capabilities/image/a.ts")).toHaveLength(2);
    expect(broken(code, "tests/workers/a.ts")).toEqual([]);
  });
});

describe("texts for operators and developers", () => {
  test.each<[string, InternalText["kind"], number]>([
    ["{ingress,workers,shared,deploy}/**/*.ts", "log message", 200],
    ["shared/metrics/metrics.ts", "metric help", 75],
    ["tests/**/*.ts", "test title", 6_000],
  ])("in %s use the field's terms: every %s", async (pattern, kind, least) => {
    const sources = await sourcesOf(pattern);
    const found = [...sources].flatMap(([file, source]) => textsOf(file, source));
    expect(found.filter((text) => text.kind === kind).length).toBeGreaterThan(least);
    expect(strangeTexts(sources)).toEqual([]);
  });

  test.each([
    ["workers/a.ts", 'log.warn({ err: error, job_id: job.id }, "the janitor was told of it")'],
    ["workers/a.ts", 'log.warn({ err: error }, "what became of a job is not known")'],
    ["shared/metrics/metrics.ts", 'total("jobs", "Jobs that nobody ran.", [])'],
    ["tests/a.test.ts", 'test("a job hears of its end", () => {});'],
    ["tests/a.test.ts", 'describe("what is refused", () => {});'],
    ["tests/a.test.ts", 'test("of a job is one", () => {});'],
    ["tests/a.test.ts", '\ntest.each([1])("a job of %d goes on", () => {});'],
  ])("are refused: %s %s", (file, source) => {
    expect(strangeTexts(new Map([[file, source]]))).toHaveLength(1);
  });

  test.each([
    ["workers/a.ts", 'say("the janitor was told of it")'],
    ["tests/a.test.ts", '  test("of a job is one", () => {});'],
    ["tests/a.test.ts", 'test("returns the column `told`", () => {});'],
    ["tests/a.test.ts", 'expect(log.text).toBe("nobody");'],
  ])("are accepted: %s %s", (file, source) => {
    expect(strangeTexts(new Map([[file, source]]))).toEqual([]);
  });
});
