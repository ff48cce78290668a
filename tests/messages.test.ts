/** Style of the sentences that users receive (tests/support/messages.ts). */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { messagesOf, messageViolations } from "./support/messages.ts";

const ROOT = join(import.meta.dir, "..");

async function productSources(): Promise<Map<string, string>> {
  const files = await Array.fromAsync(new Bun.Glob("{ingress,workers,shared}/**/*.ts").scan({ cwd: ROOT }));
  return new Map(
    await Promise.all(files.map(async (file) => [file, await Bun.file(join(ROOT, file)).text()] as const)),
  );
}

describe("the messages of the project", () => {
  test("keep every rule of style", async () => {
    const sources = await productSources();
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
