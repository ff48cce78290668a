import { describe, expect, test } from "bun:test";

import MiniSearch from "minisearch";

import { endpointsOf, mergedObject, resolverOf } from "#ingress/routes/docs/api/document.ts";
import { textParts } from "#ingress/routes/docs/markdown.ts";
import type { Page } from "#ingress/routes/docs/pages.ts";
import { OPTIONS, search, snippetOf } from "#ingress/routes/docs/assets/search.js";
import { buildIndex, RESULTS_MAX, resultsHtml } from "#ingress/routes/docs/search.ts";

import { DOCUMENT, site } from "./site.ts";

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

const addresses = (index: typeof INDEX, query: string): readonly string[] =>
  search(index, query, RESULTS_MAX).results.map(({ address }) => address);
const textOf = (snippet: readonly { readonly text: string; readonly isMatch: boolean }[]): string =>
  snippet.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join("");

test("a word of a section finds it, with its address", () => {
  expect(search(INDEX, "exponential", RESULTS_MAX)).toEqual({
    total: 1,
    results: [
      {
        address: "/docs/guides/a#retries-of-webhooks",
        page: "Title of guides/a",
        heading: "Retries of webhooks",
        snippet: [
          { text: "An ", isMatch: false },
          { text: "exponential", isMatch: true },
          { text: " backoff.", isMatch: false },
        ],
      },
    ],
  });
  expect(addresses(INDEX, "opening")[0]).toBe("/docs/guides/a");
});

test.each(["expon", "exponentail", "backoffs", "BACKOFF"])("%s finds the section", (query) => {
  expect(addresses(INDEX, query)[0]).toBe("/docs/guides/a#retries-of-webhooks");
});

test("all words must occur, or otherwise any of them", () => {
  expect(addresses(INDEX, "webhooks exponential")).toHaveLength(1);
  expect(addresses(INDEX, "exponential unheardof")).toContain("/docs/guides/a#retries-of-webhooks");
});

test("an empty, a foreign-language and an endless query find nothing", () => {
  for (const query of ["", "   ", "qqqqqqqq", "zq ".repeat(100_000)])
    expect([query.length, search(INDEX, query, RESULTS_MAX)]).toEqual([query.length, { total: 0, results: [] }]);
});

test("results and queries are text, and words of the query are marked", () => {
  expect(resultsHtml("<b>", { total: 0, results: [] })).toContain("“&lt;b&gt;”");
  const html = resultsHtml("nothing", search(INDEX, "nothing", RESULTS_MAX));
  expect(html).toContain("<mark>Nothing</mark> of it: &lt;script&gt;.");
  expect(html).toContain('<p class="count">1 result</p>');
});

test("the number of results includes unlisted ones", () => {
  const many = buildIndex(Array.from({ length: 25 }, (_, number) => page(`guides/${number}`, "The same words.")));
  expect(resultsHtml("same", search(many, "same", RESULTS_MAX))).toContain("25 results. The first 20 are listed.");
});

describe("a snippet", () => {
  test("begins with the sentence of the match and ends between words", () => {
    const text = `${"Far away. ".repeat(30)}Here is the needle in ${"words ".repeat(60)}`;
    const shown = textOf(snippetOf(text, ["needle"]));
    expect(shown).toStartWith("… Here is the [needle] in words words");
    expect(shown).toEndWith(" words …");
    expect(shown.length).toBeLessThan(190);
  });

  test("contains the position with the most words of the query", () => {
    const text = `One alpha. ${"Filler text. ".repeat(30)}Alpha before beta. ${"Filler text. ".repeat(30)}`;
    expect(textOf(snippetOf(text, ["alpha", "beta"]))).toStartWith("… [Alpha] before [beta]. Filler");
  });

  test("marks other forms of the word", () => {
    expect(textOf(snippetOf("Retries of what was spent.", ["retry", "spend"]))).toBe("[Retries] of what was [spent].");
  });

  test("separates cells and rows of a table, and contains no code", () => {
    const index = buildIndex([
      page(
        "a",
        "## Times\n\n| Topic | Rule |\n|---|---|\n| First | Eight |\n| Second | `Nine` |\n\n```js\nrun(kode);\n```\n",
      ),
    ]);
    for (const query of ["eight", "kode", "topic"]) {
      const [found] = search(index, query, 1).results;
      expect(textOf(found?.snippet ?? []).replaceAll(/[[\]]/g, "")).toBe("First – Eight · Second – Nine");
    }
  });
});

describe("in the documentation", () => {
  const indexed = site().then(({ pages }) => buildIndex(pages));
  const contains = (snippet: readonly { readonly isMatch: boolean }[]): boolean =>
    snippet.some(({ isMatch }) => isMatch);

  test("exact words come before similar ones", async () => {
    const index = await indexed;
    const found = addresses(index, "spend");
    expect(found.some((address) => /\.speed|speech/.test(address))).toBe(false);
    expect(found.slice(0, 5).join(" ")).toContain("spent");
  });

  test("no section but those of the changelog is longer than what the index contains of it", async () => {
    const { pages } = await site();
    const long = pages
      .filter(({ path, searchText }) => path !== "reference/changelog" && searchText === undefined)
      .flatMap(({ path, body }) =>
        textParts(body).flatMap(({ id, text, hidden }) =>
          Math.max(text.length, hidden.length) > 10_000 ? [`${path}#${id}`] : [],
        ),
      );
    expect(long).toEqual([]);
  });

  test("every setting and test model is found by its name on its page", async () => {
    const { pages } = await site();
    const index = await indexed;
    for (const [path, pattern] of [
      ["reference/settings", /^\| `([A-Z][A-Z0-9_]+)`/gm],
      ["reference/test-models", /`(sandbox-[a-z0-9-]+)`/g],
    ] as const) {
      const body = pages.find((one) => one.path === path)?.body ?? "";
      const names = new Set(Array.from(body.matchAll(pattern), ([, name = ""]) => name));
      expect(names.size).toBeGreaterThan(40);
      const lost = [...names].filter(
        (name) => !search(index, name, 1_000).results.some(({ address }) => address.startsWith(`/docs/${path}`)),
      );
      expect([path, lost]).toEqual([path, []]);
    }
  });

  test("every operation is found by its parameters and the properties of its body", async () => {
    const { pages } = await site();
    const resolve = resolverOf(DOCUMENT);
    let count = 0;
    for (const { operationId, parameters, requestBody } of endpointsOf(DOCUMENT)) {
      const words = pages.find(({ path }) => path === `api/${operationId}`)?.searchText?.split(/[\s,]+/) ?? [];
      const bodies = Object.values(requestBody?.content ?? {}).map(({ schema = {} }) => mergedObject(schema, resolve));
      const names = [
        ...parameters.map(({ name }) => name),
        ...bodies.flatMap(({ properties = {} }) => Object.keys(properties)),
      ];
      count += names.length;
      expect([operationId, names.filter((name) => !words.includes(name))]).toEqual([operationId, []]);
    }
    expect(count).toBeGreaterThan(500);
  });

  test("guides come before operations", async () => {
    const index = await indexed;
    const found = addresses(index, "retry");
    expect(found[0]).toStartWith("/docs/guides/errors");
    const operation = found.findIndex((address) => address.startsWith("/docs/api/"));
    expect(operation === -1 || operation >= 3).toBe(true);
  });

  test("the title of an operation finds it first", async () => {
    expect(addresses(await indexed, "create chat completion")[0]).toBe("/docs/api/createChatCompletion");
  });

  test("a misspelled word finds the guide", async () => {
    const index = await indexed;
    expect(addresses(index, "webhoks").slice(0, 3).join(" ")).toContain("/docs/guides/webhooks");
  });

  test.each(["spend", "retry", "webhoks"])(
    "snippets of %s are cut off between words and mark the word",
    async (query) => {
      const index = await indexed;
      const { results } = search(index, query, RESULTS_MAX);
      expect(results.length).toBeGreaterThan(3);
      for (const { snippet, heading, page } of results) {
        const text = snippet.map((piece) => piece.text).join("");
        expect(text.replace(/ …$/, "").length).toBeLessThan(180);
        expect(text).not.toMatch(/\S…$|^…\S|import OpenAI|```/);
        const isInTitle = /spen|retr|webho/i.test(`${page} ${heading}`);
        expect([page, heading, text, contains(snippet) || isInTitle]).toEqual([page, heading, text, true]);
      }
    },
  );

  test("the index that the browser loads lists the same sections", async () => {
    const index = await indexed;
    const loaded = MiniSearch.loadJSON<{ id: string }>(JSON.stringify(index), OPTIONS);
    for (const query of ["spend", "retry", "webhoks", "create chat completion"])
      expect(search(loaded, query, RESULTS_MAX)).toEqual(search(index, query, RESULTS_MAX));
  });
});

test("each page is found by its title, and each operation by its id", async () => {
  const { pages } = await site();
  const index = buildIndex(pages);
  const lost = pages.filter((one) => {
    const word = one.path.startsWith("api/") ? one.path.slice("api/".length) : one.title;
    const base = one.path === "" ? "/docs" : `/docs/${one.path}`;
    return !addresses(index, word).some((address) => address.split("#")[0] === base);
  });
  expect(lost.map(({ path }) => path)).toEqual([]);
});
