import { expect, test } from "bun:test";

import type { Page } from "#ingress/docs/pages.ts";
import { buildIndex, resultsHtml, search } from "#ingress/docs/search.ts";

import { site } from "./site.ts";

const page = (path: string, body: string): Page => ({
  path,
  file: `schemas/docs/${path}.md`,
  title: `Title of ${path}`,
  section: "Guides",
  order: 0,
  summary: "A summary.",
  body,
});

const INDEX = buildIndex([
  page("guides/a", "Opening words.\n\n## Retries of webhooks\n\nAn exponential backoff."),
  page("guides/b", "## Other\n\nNothing of it: <script>."),
]);

test("a word of a section finds it, by its address", () => {
  expect(search(INDEX, "exponential")).toEqual([
    {
      address: "/docs/guides/a#retries-of-webhooks",
      page: "Title of guides/a",
      heading: "Retries of webhooks",
      excerpt: "An exponential backoff.",
    },
  ]);
  expect(search(INDEX, "opening")[0]?.address).toBe("/docs/guides/a");
});

test("a beginning and a misspelling find the word", () => {
  expect(search(INDEX, "expon")[0]?.address).toBe("/docs/guides/a#retries-of-webhooks");
  expect(search(INDEX, "exponentail")[0]?.address).toBe("/docs/guides/a#retries-of-webhooks");
});

test("all words must occur, or else any of them", () => {
  expect(search(INDEX, "webhooks exponential")).toHaveLength(1);
  expect(search(INDEX, "exponential unheardof").map(({ address }) => address)).toContain(
    "/docs/guides/a#retries-of-webhooks",
  );
});

test("an empty, a foreign and an endless query find nothing", () => {
  for (const query of ["", "   ", "qqqqqqqq", "zq ".repeat(100_000)])
    expect([query.length, search(INDEX, query)]).toEqual([query.length, []]);
});

test("results and queries are text", () => {
  expect(resultsHtml("<b>", [])).toContain("“&lt;b&gt;”");
  expect(resultsHtml("nothing", search(INDEX, "nothing"))).not.toContain("<script>");
});

test("each page is found by its title, and each operation by its id", async () => {
  const { pages } = await site();
  const index = buildIndex(pages);
  const lost = pages.filter((one) => {
    const word = one.path.startsWith("api/") ? one.path.slice("api/".length) : one.title;
    const base = one.path === "" ? "/docs" : `/docs/${one.path}`;
    return !search(index, word).some(({ address }) => address.split("#")[0] === base);
  });
  expect(lost.map(({ path }) => path)).toEqual([]);
});

test("the browser searches as the server does", async () => {
  const script = await Bun.file(new URL("../../../ingress/docs/assets/site.js", import.meta.url)).text();
  const module = await Bun.file(new URL("../../../ingress/docs/search.ts", import.meta.url)).text();
  const [, ranking = "none"] = /const RANKING = (\{.*\})/.exec(script) ?? [];
  expect(module).toContain(`const RANKING = ${ranking} as const;`);
  const [, fields = "none"] = /(fields: .*"excerpt"\])/s.exec(script) ?? [];
  expect(module.replaceAll(/\s+/g, " ")).toContain(fields.replaceAll(/\s+/g, " ").trim());
});
