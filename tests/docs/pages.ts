/** Blocks of the documentation's pages, run as they stand against a running stack: only the address and the key are replaced. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import type { Stack } from "#tests/support/stack.ts";

import { difference } from "./expected.ts";
import { type Block, type Page, PAGES } from "./page.ts";
import { type Bench, type Ran, runModules, runPython, runShell, writePrograms } from "./run-page.ts";
import { sharedStack } from "./shared-stack.ts";

/** Blocks of the walk-through on webhooks, which tests/docs/webhook-walk.test.ts runs. */
const WALK = ["SLUICE_OUTBOUND_ALLOW=", "WORKSPACE=default", "npm run -s admin", "curl"];

/** Beginnings of blocks that are not run here, by page. */
const NOT_RUN: Readonly<Record<string, readonly string[]>> = {
  // Starts of the service and installations of packages: tests/deploy starts it, and the packages are pinned here.
  "get-started/quickstart.md": ["git clone", "npm install", "pip install", "OPENAI_API_KEY="],
  "get-started/connect.md": ["npm install", "export ANTHROPIC_", "codex exec", "opencode run"],
  "guides/mcp.md": ["claude mcp add"],
  // tests/docs/receivers.test.ts runs the receivers, and notifications.test.ts the calls.
  "guides/webhooks.md": [...WALK, "import "],
  "cookbook/receive-a-webhook.md": WALK,
  "guides/batches.md": ["npm install"],
  // tests/deploy/admin/import.test.ts runs the import, and migrate.test.ts the example of the page.
  "migrate/litellm.md": ["npm run admin", "SLUICE_CATALOGUE="],
  "migrate/openrouter.md": ["OPENROUTER_API_KEY="],
};

const hasPython = Bun.which("python3") !== null;

/** Pages at once: most of a page's time is waiting. */
const SHELLS = 3;
const PAGE_MS = 60_000;

function runnable(page: Page, language: string): readonly Block[] {
  const beginnings = NOT_RUN[page.path] ?? [];
  return page.blocks.filter(
    (block) => block.language === language && !beginnings.some((beginning) => block.text.startsWith(beginning)),
  );
}

/** Registers the tests of some pages. */
export function testPages(pages: readonly Page[]): void {
  const modules = pages.flatMap((page) => runnable(page, "js"));
  const programs = hasPython ? pages.flatMap((page) => runnable(page, "python")) : [];
  const ran = new Map<Block, Ran>();
  let folder: string;
  let stack: Stack;

  beforeAll(async () => {
    stack = await sharedStack();
    folder = mkdtempSync(join(PROJECT_ROOT, "node_modules", ".docs-"));
    writePrograms(folder);
    const bench: Bench = { baseUrl: stack.baseUrls[0] ?? "", key: stack.key, natsUrl: stack.natsUrl, folder };
    const waiting = pages.filter((page) => runnable(page, "sh").length > 0);
    const takeNext = async (): Promise<void> => {
      for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) {
        keep(await runShell(bench, page, runnable(page, "sh")));
      }
    };
    await Promise.all([...Array.from({ length: SHELLS }, takeNext), runModules(bench, modules).then(keep)]);
    keep(await runPython(bench, programs));
  }, PAGE_MS * 3);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function keep(results: ReadonlyMap<Block, Ran>): void {
    for (const [block, result] of results) ran.set(block, result);
  }

  describe.each(pages.map((page) => [page.path, page] as const))("%s", (_path, page) => {
    const blocks = ["sh", "js", "python"].flatMap((language) => runnable(page, language));
    const named = blocks.map((block) => [`${block.language} of line ${block.line}`, block] as const);
    test.each(named)("%s", (_name, block) => {
      if (block.language === "python" && !hasPython) return;
      const result = ran.get(block);
      expect(result?.fault).toBeNull();
      expect(difference(block, result?.output ?? "")).toBeUndefined();
    });

    test("is skipped only if it contains such a block", () => {
      const unused = (NOT_RUN[page.path] ?? []).filter(
        (beginning) => !page.blocks.some(({ text }) => text.startsWith(beginning)),
      );
      expect(unused).toEqual([]);
    });
  });
}

/** Pages that take seconds of a core. */
const SLOW: ReadonlySet<string> = new Set([
  "cookbook/batch-of-prompts.md",
  "cookbook/resize-images.md",
  "guides/video-and-3d.md",
]);

/** Pages that the gate runs. */
export const QUICK_PAGES = PAGES.filter(({ path }) => !SLOW.has(path));
/** Pages that `pages.nightly.test.ts` runs. */
export const SLOW_PAGES = PAGES.filter(({ path }) => SLOW.has(path));
