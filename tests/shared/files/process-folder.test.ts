/** Removal of what a killed process has left on the disk: the next one removes it, and nothing else. */
import { afterAll, expect, test } from "bun:test";

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { processFolder } from "#shared/files/process-folder.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

const { directory, remove } = temporaryDirectory();
afterAll(remove);

/** Ticks at which a process or a thread started. */
function startOf(id: number): string {
  return readFileSync(`/proc/${id}/stat`, "utf8").split(") ")[1]?.split(" ")[19] ?? "";
}

test("folders of dead processes are removed, those of running ones stay", async () => {
  const gone = Bun.spawn(["true"]);
  await gone.exited;
  const thread = Number(readdirSync("/proc/self/task").find((id) => id !== String(process.pid)));
  const left = [
    `a-${gone.pid}.1-x`,
    // An earlier life with our process id, and one with the id of a thread of ours: both ids answer to a signal.
    `a-${process.pid}.1-x`,
    `a-${thread}.1-x`,
  ];
  const others = [
    `a-${process.ppid}.${startOf(process.ppid)}-x`,
    `b-${gone.pid}.1-x`,
    "a-x1",
    "a-",
    "a-0.1-x",
    `a-${gone.pid}-x`,
  ];
  for (const name of [...left, ...others]) mkdirSync(join(directory, name, "job"), { recursive: true });
  const folder = processFolder("a-", directory);
  expect(readdirSync(directory)).toHaveLength(left.length + others.length);
  const path = folder();
  expect(path).toStartWith(join(directory, `a-${process.pid}.${startOf(process.pid)}-`));
  expect(
    readdirSync(directory)
      .map((name) => join(directory, name))
      .toSorted(),
  ).toEqual([path, ...others.map((name) => join(directory, name))].toSorted());
  expect(folder()).toBe(path);
  rmSync(path, { recursive: true });
  expect(existsSync(folder())).toBe(true);
});
