/** Links of pages and feeds: character references in addresses, and the link of each item. */
import { afterEach, expect, test } from "bun:test";

import { runCapability } from "./in-folder.ts";
import { openSites } from "./web-site.ts";

const sites = openSites();
afterEach(() => sites.close());
const visit = (...visited: Parameters<typeof sites.visit>) => sites.visit(...visited);

/** References that HTML reads without a semicolon, but in an attribute before `=` or an alphanumeric. */
const LEGACY =
  `AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH Eacute Ecirc Egrave Euml GT Iacute Icirc Igrave Iuml LT
  Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG THORN Uacute Ucirc Ugrave Uuml Yacute aacute acirc acute aelig agrave amp aring
  atilde auml brvbar ccedil cedil cent copy curren deg divide eacute ecirc egrave eth euml frac12 frac14 frac34 gt iacute icirc iexcl
  igrave iquest iuml laquo lt macr micro middot nbsp not ntilde oacute ocirc ograve ordf ordm oslash otilde ouml para plusmn pound quot
  raquo reg sect shy sup1 sup2 sup3 szlig thorn times uacute ucirc ugrave uml uuml yacute yen yuml`.split(/\s+/);

test("reads character references in an address as browsers do, in links and in Markdown", async () => {
  expect(LEGACY).toHaveLength(106);
  const hrefs = ["=1", "x=1", "1=1"].map((end) => `/?a=1${LEGACY.map((name) => `&${name}${end}`).join("")}`);
  const site = await sites.open({
    "/": `${hrefs.map((href) => `<a href="${href}">all</a> `).join("")}<a href="/?&copy;&amp;copy;&amp=1&#x26;b&#128;">some</a>`,
    "/base": `<base href="/x/?&copy=1"><a href="a&lt;b" title="&copy=">&lt;a&amp;lt;&copy</a><img src="/i?a&reg=1" alt="&amp;lt;">`,
  });
  const { output } = await visit("web.links", site.url("/"), { kinds: ["links"] });
  const some = `${site.url("/")}?%C2%A9&copy;&amp=1&b%E2%82%AC`;
  expect(output["links"]).toEqual([
    ...hrefs.map((href) => ({ url: site.url(href), title: "all" })),
    { url: some, title: "some" },
  ]);
  const { text } = (await visit("web.to_markdown", site.url("/"), { scope: "page" })).output;
  expect(text).toBe(
    `${hrefs.map((href) => `[all](${site.url(href)}) `).join("")}[some](${some.replace("&copy;", String.raw`\&copy;`)})\n`,
  );
  const base = await visit("web.links", site.url("/base"), { kinds: ["links"] });
  expect(base.output["links"]).toEqual([{ url: site.url("/x/a%3Cb"), title: "<a&lt;©" }]);
  const page = await visit("web.to_markdown", site.url("/base"), { scope: "page" });
  expect(page.output["text"]).toContain(`](${site.url("/x/a%3Cb")} "&copy=")![\\&lt;](${site.url("/i?a&reg=1")})`);
});

test("titles and dates of a feed are found in Dublin Core, Media RSS and the podcast namespace too", async () => {
  const names =
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"';
  const items =
    "<item><dc:title>One</dc:title><dc:date>2026-11-02T10:00:00Z</dc:date></item><item><media:title>Two</media:title></item>";
  const channel = `<dc:title>News</dc:title><itunes:summary>Of tea</itunes:summary>${items}`;
  const url = {
    address: "https://a.example/",
    html: `<rss version="2.0" ${names}><channel>${channel}</channel></rss>`,
  };
  const { output } = await runCapability("web.links", { url }, { kinds: ["feed", "meta"] });
  expect(output).toMatchObject({
    meta: { title: "News", description: "Of tea" },
    items: [{ title: "One", date: "2026-11-02T10:00:00Z" }, { title: "Two" }],
  });
});

test("items of a feed with one link for all are all listed, and equal items once", async () => {
  const item = (title: string): string => `<item><title>${title}</title><link>https://a.example/</link></item>`;
  const url = { address: "https://a.example/feed", html: RSS_ITEMS(["One", "Two", "Two"].map(item).join("")) };
  const { output } = await runCapability("web.links", { url }, { kinds: ["feed", "links"] });
  const items = ["One", "Two"].map((title) => ({ url: "https://a.example/", title }));
  expect(output).toMatchObject({ items, links: items.slice(0, 1) });
});

test.each([
  ["<title>Tea</title>", "Tea"],
  ["<!doctype html><meta charset=utf-8><title>Tea</title><p>x<svg><title>no</title></svg><title>late</title>", "Tea"],
  ["<html><head><svg/><title>Tea</title></head><body>", "Tea"],
  ["<body><svg><title>no</title></svg>", undefined],
])("the title of %s is %p", async (html, title) => {
  const { output } = await runCapability(
    "web.links",
    { url: { address: "https://a.example/", html } },
    { kinds: ["meta"] },
  );
  expect(output?.["meta"]).toEqual(title === undefined ? {} : { title });
});

test("a title of Atom in base64 is decoded", async () => {
  const title = '<title type="application/octet-stream">TmV3cw==</title>';
  const url = { address: "https://a.example/", html: `<feed xmlns="http://www.w3.org/2005/Atom">${title}</feed>` };
  const { output } = await runCapability("web.links", { url }, { kinds: ["meta"] });
  expect(output).toMatchObject({ meta: { title: "News" } });
});

const RSS_ITEMS = (items: string): string =>
  `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title>${items}</channel></rss>`;
const ATOM_ENTRY = (links: string, more = ""): string =>
  `<feed xmlns="http://www.w3.org/2005/Atom" ${more}><title>T</title><entry><title>t</title><id>https://id.example/</id>${links}</entry></feed>`;
const JSON_ITEM = (item: object): string =>
  JSON.stringify({
    version: "https://jsonfeed.org/version/1.1",
    title: "T",
    items: [{ id: "https://id.example/", title: "t", ...item }],
  });
test.each<[string, string, string | undefined]>([
  [
    "RSS: guid that is no permalink",
    RSS_ITEMS(`<item><title>t</title><guid isPermaLink="false">https://a.example/1</guid></item>`),
    undefined,
  ],
  [
    "RSS: guid that is a permalink",
    RSS_ITEMS(`<item><title>t</title><guid isPermaLink="true">https://a.example/1</guid></item>`),
    "https://a.example/1",
  ],
  [
    "RSS: guid without the attribute",
    RSS_ITEMS(`<item><title>t</title><guid>https://a.example/1</guid></item>`),
    "https://a.example/1",
  ],
  ["RSS: guid that is no address", RSS_ITEMS(`<item><title>t</title><guid>4711</guid></item>`), undefined],
  [
    "RSS: link before guid",
    RSS_ITEMS(`<item><title>t</title><link>https://a.example/2</link><guid>https://a.example/1</guid></item>`),
    "https://a.example/2",
  ],
  [
    "RSS: link of Atom",
    RSS_ITEMS(
      `<item><title>t</title><guid isPermaLink="false">1</guid><atom:link rel="self" href="https://a.example/s"/><atom:link href="https://a.example/3"/></item>`,
    ),
    "https://a.example/3",
  ],
  [
    "RSS: enclosure",
    RSS_ITEMS(`<item><title>t</title><enclosure url="https://a.example/a.mp3" length="1" type="audio/mpeg"/></item>`),
    undefined,
  ],
  [
    "Atom: alternate in HTML",
    ATOM_ENTRY(
      `<link rel="alternate" type="application/pdf" href="https://a.example/p"/><link rel="alternate" type="text/html" href="https://a.example/h"/>`,
    ),
    "https://a.example/h",
  ],
  [
    "Atom: alternate in another type",
    ATOM_ENTRY(`<link rel="alternate" type="application/pdf" href="https://a.example/p"/>`),
    "https://a.example/p",
  ],
  [
    "Atom: relation written out",
    ATOM_ENTRY(`<link rel="http://www.iana.org/assignments/relation/alternate" href="https://a.example/h"/>`),
    "https://a.example/h",
  ],
  [
    "Atom: no alternate",
    ATOM_ENTRY(`<link rel="edit" href="https://a.example/e"/><link rel="enclosure" href="https://a.example/x"/>`),
    undefined,
  ],
  [
    "Atom: relative to xml:base",
    ATOM_ENTRY(`<link href="h"/>`, `xml:base="https://b.example/c/"`),
    "https://b.example/c/h",
  ],
  ["JSON: id", JSON_ITEM({}), undefined],
  ["JSON: url", JSON_ITEM({ url: "https://a.example/1", external_url: "https://e.example/" }), "https://a.example/1"],
  ["JSON: external_url", JSON_ITEM({ external_url: "https://e.example/" }), "https://e.example/"],
])("lists an item with the link that its format names: %s", async (_what, text, url) => {
  const site = await sites.open({ "/feed.json": text });
  const { output } = await visit("web.links", site.url("/feed.json"), { kinds: ["links", "feed"] });
  expect(output["items"]).toEqual([{ ...(url === undefined ? {} : { url }), title: "t" }]);
  expect(output["links"]).toEqual(url === undefined ? [] : [{ url, title: "t" }]);
});
