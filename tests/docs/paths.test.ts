/** Paths that the pages for contributors name exist. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { expect, test } from "bun:test";

const ROOT = join(import.meta.dir, "../..");
const FOLDERS = ["schemas", "shared", "ingress", "workers", "deploy", "tests"] as const;
const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
);
const PATHS: ReadonlySet<string> = new Set([...FOLDERS, ...FILES]);
const NAMES: ReadonlySet<string> = new Set([...readdirSync(ROOT), ...FILES.map((path) => basename(path))]);

/** Paths in backticks that are none. A name without a folder is that of any file; one with a placeholder or a star is skipped. */
function missingPaths(page: string): string[] {
  const words = [...page.matchAll(/`([\w@./-]+)`/g)].map(([, word = ""]) => word.replace(/\/$/, ""));
  return words.filter((word) => {
    if (!word.includes("/")) return /\.(?:ts|md|mjs|yaml)$/.test(word) && !word.includes("*") && !NAMES.has(word);
    return FOLDERS.some((folder) => word.startsWith(`${folder}/`)) && !PATHS.has(word);
  });
}

test.each(["ARCHITECTURE.md", "CONTRIBUTING.md"])("%s names only files that exist", (page) => {
  expect(missingPaths(readFileSync(join(ROOT, page), "utf8").replace(/^```[^]*?^```/gm, ""))).toEqual([]);
});

test("a file that was moved away is found", () => {
  expect(missingPaths("`shared/nowhere.ts` `nowhere.ts` `shared/ledger` `settle.ts` `tests/x/<name>`")).toEqual([
    "shared/nowhere.ts",
    "nowhere.ts",
  ]);
});
