/** Commands in the documents run as they stand on a machine with Node and npm: there is no Bun on its PATH. */
import { expect, test } from "bun:test";
import { join } from "node:path";

import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

import { PAGES } from "./page.ts";

import manifest from "../../package.json" with { type: "json" };

const DOCUMENTS = [
  "README.md",
  "CONTRIBUTING.md",
  "deploy/runbook.md",
  "deploy/kubernetes/README.md",
  "schemas/README.md",
  "shared/calls/catalogue/README.md",
  "schemas/docs/reference/test-models.md",
  "tests/load/README.md",
  "tests/load/RESULTS.md",
  "schemas/docs/operate/supply-chain.md",
  ...PAGES.map(({ path }) => `schemas/docs/${path}`),
];

const texts = await Promise.all(
  DOCUMENTS.map(async (name) => [name, await Bun.file(join(PROJECT_ROOT, name)).text()] as const),
);

test("no document runs Bun directly, except the sentence about the image", () => {
  const bare = texts.flatMap(([name, text]) =>
    text
      .split("\n")
      .filter((line) => /(?:^|`)bunx? /.test(line))
      .map((line) => [name, line]),
  );
  expect(bare).toEqual([["deploy/runbook.md", expect.stringContaining("In the image there is no npm")]]);
});

test("every script that a document or a usage text names exists", async () => {
  const usages = await Promise.all(
    ["deploy/admin/main.ts", "deploy/sluice.ts", "deploy/supervisor/welcome.mjs", "deploy/demo/stack.mjs"].map(
      async (name) => [name, await Bun.file(join(PROJECT_ROOT, name)).text()] as const,
    ),
  );
  for (const [name, text] of [...texts, ...usages]) {
    for (const [, script = ""] of text.matchAll(/npm run (?:--silent )?([a-z]+(?::[a-z]+)*)/g)) {
      expect([name, script, Object.hasOwn(manifest.scripts, script)]).toEqual([name, script, true]);
    }
  }
});

test("no script requires a Bun on the PATH", () => {
  expect(Object.values(manifest.scripts).filter((script) => /^bunx?\b|&& bunx?\b/.test(script))).toEqual([]);
});
