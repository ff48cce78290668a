/** Files that a run names, as a child may leave them that was taken over. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { openOwnFile, type OwnFile } from "#workers/calls/capability/run.ts";

const parent = mkdtempSync(join(tmpdir(), "sluice-own-file-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));
const outside = join(parent, "outside");
mkdirSync(outside);
writeFileSync(join(outside, "secret"), "of the worker");

const run = (): string => mkdtempSync(join(parent, "run-"));
const textOf = async (own: OwnFile): Promise<string> => Buffer.concat(await Array.fromAsync(own.pieces())).toString();

test("a run's output can be read repeatedly, including from its own folders", async () => {
  const folder = run();
  mkdirSync(join(folder, "pages"));
  const long = Buffer.alloc(2_500_000, "tea ");
  writeFileSync(join(folder, "pages", "one"), long);
  const own = await openOwnFile(join(folder, "pages", "one"), folder);
  expect(own.size).toBe(long.length);
  for (const _time of [1, 2]) expect(await textOf(own)).toBe(long.toString());
  await own.close();
  writeFileSync(join(folder, "empty"), "");
  const empty = await openOwnFile(join(folder, "empty"), folder);
  expect([empty.size, await textOf(empty)]).toEqual([0, ""]);
  await empty.close();
});

test("a link, a link in the path, another run's file, a folder and a missing file are rejected", async () => {
  const [folder, other] = [run(), run()];
  writeFileSync(join(other, "file"), "of another");
  symlinkSync(join(outside, "secret"), join(folder, "link"));
  symlinkSync(outside, join(folder, "way"));
  mkdirSync(join(folder, "folder"));
  for (const path of [
    join(folder, "link"),
    join(folder, "way", "secret"),
    join(folder, "..", "outside", "secret"),
    join(other, "file"),
    "/proc/self/environ",
    join(folder, "folder"),
    join(folder, "nothing"),
  ]) {
    const fault = await openOwnFile(path, folder).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(MediaError);
    const { fault: kind, message } = fault as MediaError;
    expect([path, kind, message]).toEqual([path, "failed", "a run named a file that is not its own"]);
  }
});

test("a file replaced after its check is not read", async () => {
  const folder = run();
  const path = join(folder, "made");
  writeFileSync(path, "made by the run");
  const own = await openOwnFile(path, folder);
  renameSync(path, join(folder, "elsewhere"));
  symlinkSync(join(outside, "secret"), path);
  expect(await textOf(own)).toBe("made by the run");
  await own.close();
});
