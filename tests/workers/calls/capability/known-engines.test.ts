import { expect, test } from "bun:test";
import { statSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";

import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { rememberEngines } from "#workers/calls/capability/known-engines.ts";

const { directory } = temporaryDirectory();
const file = join(directory, "engines.json");

/** A worker that starts: the engines that it had to try, and what came of them. */
async function start(facts: readonly object[], names: readonly string[]): Promise<readonly [string[], unknown[]]> {
  const tried: string[] = [];
  const tryEngine = async (engine: string): Promise<string | undefined> => {
    tried.push(engine);
    return engine === "ocr" ? "Install the reader." : undefined;
  };
  const known = rememberEngines({ tryEngine }, facts, file);
  const faults = await Promise.all(names.map((name) => known.tryEngine(name)));
  return [tried, faults];
}

test("an engine that works is tried once for workers of the same kind, one that does not at every start", async () => {
  const alone = [{ launcher: ["unshare"] }];
  const names = ["sharp", "ocr", "pdf"];
  const faults = [undefined, "Install the reader.", undefined];
  expect(await start(alone, names)).toEqual([names, faults]);
  expect(await start(alone, names)).toEqual([["ocr"], faults]);
  expect(await start([{ launcher: [] }], names)).toEqual([names, faults]);
  expect(statSync(file).mode & 0o077).toBe(0);
});

test("what another has put in its place is not believed", async () => {
  await start([], ["sharp"]);
  expect(await start([], ["sharp"])).toEqual([[], [undefined]]);
  const elsewhere = join(directory, "elsewhere.json");
  await Bun.write(elsewhere, await Bun.file(file).text());
  unlinkSync(file);
  symlinkSync(elsewhere, file);
  expect(await start([], ["sharp"])).toEqual([["sharp"], [undefined]]);
  await Bun.write(file, "no JSON");
  expect(await start([], ["sharp"])).toEqual([["sharp"], [undefined]]);
});
