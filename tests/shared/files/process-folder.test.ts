/** Removal of what a killed process has left on the disk: the next one removes it, and nothing else. */
import { afterAll, expect, test } from "bun:test";

import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { processFolder } from "#shared/files/process-folder.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

const { directory, remove } = temporaryDirectory();
afterAll(remove);

test("folders of processes that are gone are removed, those of others that run stay", async () => {
  const gone = Bun.spawn(["true"]);
  await gone.exited;
  const left = [`a-${gone.pid}-x`, `a-${process.pid}-earlier`];
  const others = [`a-${process.ppid}-x`, `b-${gone.pid}-x`, "a-x1", "a-", "a-0-x"];
  for (const name of [...left, ...others]) mkdirSync(join(directory, name, "job"), { recursive: true });
  const folder = processFolder("a-", directory);
  expect(readdirSync(directory)).toHaveLength(left.length + others.length);
  const path = folder();
  expect(path).toStartWith(join(directory, `a-${process.pid}-`));
  expect(
    readdirSync(directory)
      .map((name) => join(directory, name))
      .toSorted(),
  ).toEqual([path, ...others.map((name) => join(directory, name))].toSorted());
  expect(folder()).toBe(path);
  rmSync(path, { recursive: true });
  expect(existsSync(folder())).toBe(true);
});
