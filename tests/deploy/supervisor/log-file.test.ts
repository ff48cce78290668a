import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { openLogFile } from "#deploy/supervisor/log-file.mjs";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

const { directory, remove } = temporaryDirectory();
afterAll(remove);

test("each start creates a file, keeps the previous one, and returns the position of each line", () => {
  const path = join(directory, "sluice.log");
  const first = openLogFile(path);
  expect(first.write("one")).toBe(`${path}:1`);
  expect(first.write("two\n    at f (a.ts:1:1)")).toBe(`${path}:2`);
  expect(first.write("three")).toBe(`${path}:4`);
  first.close();
  const second = openLogFile(path);
  expect(second.write("new")).toBe(`${path}:1`);
  second.close();
  expect([readFileSync(path, "utf8"), readFileSync(`${path}.1`, "utf8")]).toEqual([
    "new\n",
    "one\ntwo\n    at f (a.ts:1:1)\nthree\n",
  ]);
  // Lines may name callers' requests.
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a full file is renamed and a new one is created", () => {
  const path = join(directory, "full.log");
  const file = openLogFile(path, 10);
  file.write("a line of twenty byte");
  expect(file.write("next")).toBe(`${path}:1`);
  file.close();
  expect([readFileSync(path, "utf8"), readFileSync(`${path}.1`, "utf8")]).toEqual([
    "next\n",
    "a line of twenty byte\n",
  ]);
});

test("a file that cannot be replaced loses lines, throws nothing, and receives lines again once it can be replaced", () => {
  const folder = join(directory, "gone");
  mkdirSync(folder);
  const path = join(folder, "sluice.log");
  const file = openLogFile(path, 1);
  file.write("first");
  rmSync(folder, { recursive: true });
  for (const line of ["second", "third"]) expect(file.write(line)).toStartWith(`${path} (not written: ENOENT`);
  mkdirSync(folder);
  expect(file.write("fourth")).toBe(`${path}:1`);
  file.close();
  expect(readFileSync(path, "utf8")).toBe("fourth\n");
});

test("a file that cannot be created is a fault with what to do", () => {
  const path = join(directory, "folder.log");
  mkdirSync(join(path, "inner"), { recursive: true });
  mkdirSync(join(`${path}.1`, "inner"), { recursive: true });
  expect(() => openLogFile(path)).toThrow(/^The log file .* cannot be written \(.*\); make it writable/);
});
