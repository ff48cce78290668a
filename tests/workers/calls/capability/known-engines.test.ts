import { expect, test } from "bun:test";
import { statSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";

import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { openCapabilityChildren } from "#workers/calls/capability/children.ts";
import { NO_ISOLATION } from "#workers/calls/capability/isolation.ts";
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

test("a working engine is tested once for workers of the same kind, a failing one at every start", async () => {
  const alone = [{ launcher: ["unshare"] }];
  const names = ["sharp", "ocr", "pdf"];
  const faults = [undefined, "Install the reader.", undefined];
  expect(await start(alone, names)).toEqual([names, faults]);
  expect(await start(alone, names)).toEqual([["ocr"], faults]);
  expect(await start([{ launcher: [] }], names)).toEqual([names, faults]);
  expect(statSync(file).mode & 0o077).toBe(0);
});

test("a result replaced by another user is not trusted", async () => {
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

/** Returns how many processes of this one are children of an engine. */
function childrenOf(engine: string): number {
  const { stdout } = Bun.spawnSync(["ps", "-eo", "ppid=,args="]);
  const lines = stdout.toString().split("\n");
  return lines.filter((line) => Number.parseInt(line) === process.pid && line.trimEnd().endsWith(`child.ts ${engine}`))
    .length;
}

test("a tested engine keeps a child only if its children were started early", async () => {
  const children = openCapabilityChildren(NO_ISOLATION, {}, ["sharp"]);
  try {
    for (const engine of ["sharp", "archive"]) expect(await children.tryEngine(engine)).toBeUndefined();
    expect(childrenOf("sharp")).toBeGreaterThan(0);
    expect(childrenOf("archive")).toBe(0);
  } finally {
    await children.close();
  }
});
