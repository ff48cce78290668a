/** Form of the documentation's pages: front matter, links, length and languages of blocks. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

import { describe, expect, test } from "bun:test";

import { DOCS, type Page, PAGES } from "./page.ts";

const LINES_MAX = 250;
/** Pages that are references, too. */
const LONG: readonly string[] = ["guides/workflows.md", "guides/webhooks.md"];
const RECIPE_BLOCK_LINES_MAX = 40;
const LANGUAGES = new Set(["sh", "js", "python", "json", "text", "toml", "yaml", "go"]);
const SECTIONS: Readonly<Record<string, string>> = {
  "get-started": "Get started",
  guides: "Guides",
  cookbook: "Cookbook",
  migrate: "Migrate",
};

const prose = (page: Page): string => page.body.replaceAll(/^```[^]*?^```$/gm, "");

/** Anchors of a page as code hosts make them of its headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/^#{2,4} (.+)$/gm);
  return new Set(
    Array.from(headings, ([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

test("exist in every section", () => {
  const counts = Object.keys(SECTIONS).map(
    (folder) => PAGES.filter(({ path }) => path.startsWith(`${folder}/`)).length,
  );
  expect(counts.every((count) => count > 2)).toBe(true);
});

test("no two pages of a section have the same place", () => {
  const places = PAGES.map(({ head }) => `${head["section"]} ${head["order"]}`);
  expect(places.toSorted()).toEqual([...new Set(places)].toSorted());
});

test("blocks of recipes are short", () => {
  const long = PAGES.filter(({ path }) => path.startsWith("cookbook/")).flatMap(({ path, blocks }) =>
    blocks.filter(({ text }) => text.split("\n").length - 1 > RECIPE_BLOCK_LINES_MAX).map(({ line }) => [path, line]),
  );
  expect(long).toEqual([]);
});

describe.each(PAGES.map((page) => [page.path, page] as const))("%s", (path, page) => {
  test("has a front matter, no first-level heading and a bounded length", () => {
    const { title = "", section, order = "", summary = "" } = page.head;
    expect(Object.keys(page.head)).toEqual(["title", "section", "order", "summary"]);
    expect(section).toBe(SECTIONS[dirname(path)]);
    expect(order).toMatch(/^\d+$/);
    expect(title).not.toBe("");
    expect(summary).toMatch(/^[A-Z].*\.$/);
    expect(prose(page)).not.toMatch(/^# /m);
    if (!LONG.includes(path)) expect(page.lines).toBeLessThanOrEqual(LINES_MAX);
    expect(page.blocks.map(({ language }) => language).filter((language) => !LANGUAGES.has(language))).toEqual([]);
    expect(page.body.match(/^```/gm)?.length ?? 0).toBe(page.blocks.length * 2);
  });

  test("links to pages and headings that exist", () => {
    const broken = [...prose(page).matchAll(/\]\(([^)]+)\)/g)].flatMap(([, link = ""]) => {
      if (link.startsWith("https://")) return [];
      const [target = "", anchor] = link.split("#");
      const file = target === "" ? path : normalize(join(dirname(path), target));
      // The project may have no pages of that section.
      if (!existsSync(join(DOCS, dirname(file)))) return [];
      if (!file.endsWith(".md") || !existsSync(join(DOCS, file))) return [link];
      const isThere = anchor === undefined || anchorsOf(readFileSync(join(DOCS, file), "utf8")).has(anchor);
      return isThere ? [] : [link];
    });
    expect(broken).toEqual([]);
  });

  test("has JSON that can be parsed", () => {
    for (const { language, text } of page.blocks)
      if (language === "json") expect(() => JSON.parse(text) as unknown).not.toThrow();
  });
});
