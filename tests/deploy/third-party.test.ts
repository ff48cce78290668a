import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

import packageJson from "../../package.json" with { type: "json" };

const ROOT = join(import.meta.dir, "../..");
const { dependencies, devDependencies, optionalDependencies } = packageJson;
const packages = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
const text = await Bun.file(join(ROOT, "deploy/THIRD_PARTY.md")).text();
const rows = new Map(
  Array.from(
    text.matchAll(/^\| `([^`]+)`[^|]*\| ([^|;]+?)\s*(?:;[^|]*)?\|$/gm),
    (match) => [match[1], match[2]] as const,
  ),
);

test("the licence notes name exactly the direct dependencies", () => {
  expect([...rows.keys()].toSorted((a = "", b = "") => a.localeCompare(b))).toEqual(
    packages.toSorted((a, b) => a.localeCompare(b)),
  );
});

test.each(packages)("%s has the licence that the notes state", async (name) => {
  if (name in optionalDependencies && !existsSync(join(ROOT, "node_modules", name))) return;
  const manifest = (await Bun.file(join(ROOT, "node_modules", name, "package.json")).json()) as { license: string };
  expect(rows.get(name)).toBe(manifest.license);
});
