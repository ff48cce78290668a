/**
 * Programs with what CPython prints, recorded from 3.11 and 3.13 where both print the same. Each is run as CPython runs it, or is
 * refused with a sentence that names the construct. To add a program, write `### name`, its lines, and `>>>` with the output
 * of CPython or `!!!` with the sentence.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

const PROGRAMS = readFileSync(join(import.meta.dir, "python-programs.txt"), "utf8")
  .split(/^### /m)
  .slice(1)
  .map((part) => {
    const [, name = "", code = "", kind = "", expected = ""] = /^(.*)\n([^]*?)^(>>>|!!!)\s?([^]*)$/m.exec(part) ?? [];
    return { name, code, isRefused: kind === "!!!", expected: expected.replace(/\n$/, "") };
  });
const RUNNING = PROGRAMS.filter(({ isRefused }) => !isRefused);

const run = (text: string) => runCapability("code.run_python", { code: { text } }, { timeout: 5 });

test("the table has its programs", () => {
  expect([RUNNING.length > 200, PROGRAMS.length - RUNNING.length > 100]).toEqual([true, true]);
  expect(PROGRAMS.filter(({ name, code }) => name === "" || code === "")).toEqual([]);
});

describe("a program", () => {
  test.each(RUNNING.map(({ name, code, expected }) => [name, code, expected] as const))(
    "prints the output of CPython: %s",
    async (_name, code, expected) => {
      const { output } = await run(code);
      expect((output?.["printed"] as readonly string[] | undefined)?.join("\n")).toBe(expected);
    },
  );

  test.each(
    PROGRAMS.filter(({ isRefused }) => isRefused).map(({ name, code, expected }) => [name, code, expected] as const),
  )("is rejected: %s", async (_name, code, expected) => {
    expect(await refused(run(code))).toEndWith(`: ${expected}`);
  });
});

const DRIVER = `
import contextlib, io, json, sys
printed = []
for code in json.load(sys.stdin):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "script", "exec"), {"__name__": "__main__", "args": {}})
    printed.append(output.getvalue())
print(json.dumps(printed))
`;
const hasPython =
  Bun.spawnSync(["sh", "-c", "python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'"]).exitCode === 0;

test.skipIf(!hasPython)("CPython prints the recorded output", () => {
  const stdin = Buffer.from(JSON.stringify(RUNNING.map(({ code }) => code)));
  const { stdout } = Bun.spawnSync(["python3", "-W", "ignore", "-c", DRIVER], { stdin });
  const printed = JSON.parse(stdout.toString()) as readonly string[];
  expect(printed.map((text) => text.replace(/\n$/, ""))).toEqual(RUNNING.map(({ expected }) => expected));
});
