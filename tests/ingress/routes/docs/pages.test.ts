/** Every page of the documentation: front matter, rendering, links and anchors. */
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { LITERAL, SOURCE_BASE, withBase } from "#ingress/routes/docs/links.ts";
import { nearestPage, type Page, parsePage, SECTIONS, sortPages } from "#ingress/routes/docs/pages.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

import { linkFaults } from "./link-faults.ts";
import { DOCUMENT, PATHS, site } from "./site.ts";

const FOLDER = join(PROJECT_ROOT, "schemas/docs");
const FILES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));

/** Paths of the service to which pages may link. */
const ROUTES = new Set([...PATHS, ...Object.keys(DOCUMENT.components.schemas).map((name) => `/schemas/${name}.json`)]);

describe("the pages", () => {
  test("are all files below schemas/docs, the changelog and the API reference", async () => {
    const { pages } = await site();
    const written = pages.filter(({ file }) => !file.startsWith("schemas/docs/api")).map(({ file }) => file);
    expect(written.toSorted()).toEqual([...FILES.map((name) => `schemas/docs/${name}`), "CHANGELOG.md"].toSorted());
    expect(pages.some(({ path }) => path === "api")).toBe(true);
  });

  test("have unique paths of at most two parts", async () => {
    const { pages } = await site();
    expect(pages.filter(({ path }) => path.split("/").length > 2).map(({ file }) => file)).toEqual([]);
    const paths = pages.map(({ path }) => path);
    expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([]);
  });

  test("have their title in the front matter, and no first-level heading in a body", async () => {
    const { pages } = await site();
    const titled = pages.filter(({ body }) => /^# \S/m.test(body.replaceAll(/^```[^]*?^```/gm, "")));
    expect(titled.map(({ file }) => file)).toEqual([]);
  });

  test("have a summary of one sentence", async () => {
    const { pages } = await site();
    const written = pages.filter(({ parent }) => parent === undefined);
    expect(
      written.filter(({ summary }) => !/[.!?]$/.test(summary) || summary.length > 200).map(({ file }) => file),
    ).toEqual([]);
  });

  test("render with their title, a heading for each link of the contents, and no scripts", async () => {
    const opened = await site();
    for (const page of opened.pages) {
      const { text, nearest } = await opened.answer({ kind: "page", path: page.path });
      expect([page.file, nearest, text.match(/<h1>/g)?.length]).toEqual([page.file, undefined, 1]);
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id);
      expect([page.file, ids.filter((id, index) => ids.indexOf(id) !== index)]).toEqual([page.file, []]);
      expect([page.file, / style="|\son[a-z]+="|<script>/.exec(text)?.[0]]).toEqual([page.file, undefined]);
      // Colours of code must not divide the address of the service, which served pages replace.
      const own = withBase(text, page.path, "https://ai.example.com", false).replaceAll(/<[^>]*>/g, "");
      if (!LITERAL.test(page.path)) expect([page.file, own.includes(SOURCE_BASE)]).toEqual([page.file, false]);
    }
  });

  test("link to pages, headings, files and paths that exist", async () => {
    const { pages } = await site();
    expect(await linkFaults(pages, ROUTES)).toEqual([]);
  });
});

const page = (path: string, more: Partial<Page> = {}): Page => ({
  path,
  file: `schemas/docs/${path}.md`,
  title: path,
  section: "Guides",
  order: 0,
  summary: "A page.",
  body: "",
  ...more,
});

describe("the check of links", () => {
  test("reports a missing page, heading, file and path with file and line", async () => {
    const pages = [
      page("guides/a", {
        body: "One.\n\n[b](b.md#here) [b](b.md#gone)\n\n[c](c.md)\n- [d](/nothing)\n[e](#a-heading)\n",
      }),
      page("guides/b", { body: "## Here\n" }),
    ];
    expect(await linkFaults(pages, new Set())).toEqual([
      "schemas/docs/guides/a.md:3: b.md#gone has no heading #gone",
      "schemas/docs/guides/a.md:5: c.md names neither a page nor a file",
      "schemas/docs/guides/a.md:6: /nothing is no path of the service",
      "schemas/docs/guides/a.md:7: #a-heading has no heading #a-heading",
    ]);
  });
});

describe("front matter", () => {
  const head = (text: string): string => `---\n${text}\n---\nText\n`;

  test.each([
    ["nothing", "Text", "front matter between two lines of ---"],
    ["no title", head("section: Guides\norder: 1\nsummary: S."), "a title"],
    [
      "an unknown section",
      head("title: T\nsection: Guide\norder: 1\nsummary: S."),
      `a section of ${SECTIONS.join(", ")}; got Guide`,
    ],
    ["an order in words", head("title: T\nsection: Guides\norder: first\nsummary: S."), "an order, a number"],
    ["no summary", head("title: T\nsection: Guides\norder: 1"), "a summary of one sentence"],
  ])("with %s is rejected with file and line", (_name, text, why) => {
    expect(() => parsePage("schemas/docs/guides/a.md", text)).toThrow(
      new RegExp(`^schemas/docs/guides/a\\.md:1: .*${why.replaceAll(/[-.]/g, ".")}`),
    );
  });

  test("sets the position of the page", () => {
    const parsed = parsePage("schemas/docs/guides/a.md", head("title: T\nsection: Guides\norder: 1\nsummary: S."));
    expect(parsed).toMatchObject({
      path: "guides/a",
      title: "T",
      section: "Guides",
      order: 1,
      summary: "S.",
      body: "Text\n",
    });
    expect(parsePage("schemas/docs/index.md", head("title: T\nsection: Guides\norder: 1\nsummary: S.")).path).toBe("");
  });
});

test("pages are sorted by section, then order, then title, the home page first", () => {
  const pages = [
    page("operate/a", { section: "Operate" }),
    page("guides/z", { order: 1 }),
    page("guides/b", { order: 2 }),
    page("guides/a", { order: 2 }),
    page("", { section: "Operate", order: 99 }),
  ];
  expect(sortPages(pages).map(({ path }) => path)).toEqual(["", "guides/z", "guides/a", "guides/b", "operate/a"]);
});

test.each([
  ["guides/webhook", "guides/webhooks"],
  ["webhooks", "guides/webhooks"],
  ["guides", "guides/webhooks"],
  ["reference/webhooks", "guides/webhooks"],
  ["operate/bakup", "operate/backup"],
  ["x".repeat(10_000), "a"],
])("the page nearest to %p is found", (path, nearest) => {
  const pages = ["guides/webhooks", "operate/backup", "a"].map((one) => page(one));
  const found = nearestPage(path, pages)?.path ?? "";
  if (path.length < 100) expect(found).toBe(nearest);
  else expect(pages.map((one) => one.path)).toContain(found);
});
