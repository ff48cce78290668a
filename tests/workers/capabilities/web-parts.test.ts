/** Parts of a page that Markdown and links are read from: its charset, frames, `noscript` elements, late pictures, packed sitemaps. */
import { afterEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";

import { refused } from "./refused.ts";
import { openSites } from "./web-site.ts";

const sites = openSites();
afterEach(() => sites.close());
const visit = (...visited: Parameters<typeof sites.visit>) => sites.visit(...visited);

test.each([
  ["its server", "text/html; charset=windows-1251", "<p>\xcf\xf0\xe8\xe2\xe5\xf2</p>", "Привет\n", "windows-1251"],
  ["its head", "text/html", '<meta charset="shift_jis"><p>\x82\xa0</p>', "あ\n", "shift_jis"],
  ["its mark", "text/html; charset=koi8-r", "\xef\xbb\xbf<p>\xc3\xa9</p>", "é\n", "utf-8"],
  ["its head can be right", "text/html", '<meta charset="utf-16"><p>\xc3\xa9</p>', "é\n", "utf-8"],
  ["its head, not its words,", "text/html", "<p>charset=klingon \xc3\xa9</p>", "charset=klingon é\n", "utf-8"],
  ["its head outside of comments", "text/html", '<!-- <meta charset="koi8-r"> --><p>\xc3\xa9</p>', "é\n", "utf-8"],
  ["its bytes, not a server with an unknown name,", "text/html; charset=klingon", "<p>\xc3\xa9</p>", "é\n", "utf-8"],
  ["Windows where nothing", "text/html", "<p>\xe9 \x80 \x93x\x94</p>", "é € “x”\n", "windows-1252"],
  ["Windows where an unknown name", "text/html; charset=utf-8859-1", "<p>\xe9</p>", "é\n", "windows-1252"],
  [
    "its head where its server names an unknown one",
    "text/html; charset=x",
    "<meta charset=gbk>\xb2\xe8",
    "茶\n",
    "gbk",
  ],
  ["the standard reads x-user-defined", "text/html", "<meta charset=x-user-defined>\xe9", "é\n", "windows-1252"],
  ["a label stands for a name", "text/html; charset=ISO-8859-1", "<p>\x80</p>", "€\n", "windows-1252"],
])("decodes a page as %s declares", async (_what, type, latin, text, charset) => {
  const site = await sites.open((_request, response) => {
    response.setHeader("content-type", type).end(Buffer.from(latin, "latin1"));
  });
  const { output } = await visit("web.to_markdown", site.url("/"));
  expect(output).toMatchObject({ text, charset });
  expect((await visit("web.links", site.url("/"))).output["charset"]).toBe(charset);
});

describe("web.to_markdown", () => {
  /** Markdown of a page at `/a/`, its own origin left out of addresses. */
  const markdown = async (html: string, params: object = {}): Promise<string> => {
    const site = await sites.open({ "/a/": html });
    const { output } = await visit("web.to_markdown", site.url("/a/"), { scope: "page", ...params });
    return String(output["text"]).replaceAll(site.url("/"), "/").trim();
  };

  test.each([
    [
      "a link to a frame, by its title",
      '<iframe src="f?a=1&amp;b" title="The *map*"></iframe>',
      "[The \\*map\\*](/a/f?a=1&b)",
    ],
    ["a link to a frame, by its name", '<iframe src="f" name="map"></iframe>', "[map](/a/f)"],
    [
      "frames of a set",
      '<frameset><frame src="1" name="one"><frameset><frame src="2" name="two"></frameset></frameset>',
      "[one](/a/1)\n\n[two](/a/2)",
    ],
    [
      "the content of a frame that the page holds",
      '<base href="/b/"><iframe srcdoc="&lt;p&gt;In &lt;a href=x&gt;it&lt;/a&gt;&lt;script&gt;x&lt;/script&gt;"></iframe>',
      "In [it](/b/x)",
    ],
    [
      "no frame that counts or is hidden",
      '<p>x</p><iframe src="c" height="0" width="0"></iframe><iframe src="d" style="display:none"></iframe><iframe></iframe>',
      "x",
    ],
    ["a noscript element", "<p>One</p><noscript><p>Two <b>three</b></p></noscript>", "One\n\nTwo **three**"],
    [
      "no counting pixel of a noscript element",
      '<p>One</p><noscript><img src="/p.gif" width="1" height="1" alt=""></noscript>',
      "One",
    ],
    [
      "no style of a noscript element in the head",
      "<html><head><noscript><style>p{}</style></noscript></head><body><p>One</p></body></html>",
      "One",
    ],
    [
      "a late picture once",
      '<p>x <img src="data:image/gif;base64,R0" data-src="a.png" alt="A"><noscript><img src="a.png" alt="A"></noscript></p>',
      "x ![A](/a/a.png)",
    ],
    ["a late picture", '<img src="data:image/gif;base64,R0" data-src="a.png?x&amp;y" alt="A">', "![A](/a/a.png?x&y)"],
    [
      "a late picture with a placeholder of its site",
      '<img src="/grey.gif" data-lazy-src="a.png" alt="A">',
      "![A](/a/a.png)",
    ],
    [
      "the largest candidate of a picture",
      '<img srcset="a.png 100w, b,c.png 800w, d.png 400w" alt="A">',
      "![A](/a/b,c.png)",
    ],
    ["a source of a picture", '<picture><source srcset="a.png, b.png 2x"><img alt="A"></picture>', "![A](/a/b.png)"],
    ["only the description of a picture without an address", '<img alt="A" src="data:image/gif;base64,R0">', "A"],
  ])("includes %s", async (_what, html, expected) => {
    expect(await markdown(html)).toBe(expected);
  });

  test("writes no addresses of frames and lazy images when links are dropped", async () => {
    const html = '<p>x</p><iframe src="f" title="Map"></iframe><img data-src="a.png" alt="A">';
    expect(await markdown(html, { links: "drop" })).toBe("x\n\nMap\n\nA");
  });

  test("rejects a page that has too many elements together with its frames", async () => {
    const frame = `<iframe srcdoc="${"&lt;i>x&lt;/i>".repeat(30_000)}"></iframe>`;
    const html = `<p>${"<i>x</i>".repeat(30_000)}</p>${frame}`;
    expect(await refused(markdown(html, { scope: "article" }))).toContain(
      "too_large: Expected HTML of at most 50000 elements",
    );
  });

  test("reads nested frames down to the third", async () => {
    const inner = (depth: number): string =>
      depth > 5
        ? ""
        : `<p>${depth}</p><iframe src="/f" title="deeper" srcdoc="${inner(depth + 1)
            .replaceAll("&", "&amp;")
            .replaceAll('"', "&quot;")}"></iframe>`;
    expect(await markdown(inner(1))).toBe("1\n\n2\n\n3\n\n4\n\n[deeper](/f)");
  });
});

describe("web.links reads a compressed sitemap", () => {
  const SITEMAP = '<?xml version="1.0" encoding="UTF-8"?><urlset><url><loc>https://a.example/1</loc></url></urlset>';
  test.each(["application/gzip", "application/x-gzip", "application/octet-stream", "text/xml", ""])(
    "sent as %p",
    async (type) => {
      const site = await sites.open((_request, response) => {
        if (type !== "") response.setHeader("content-type", type);
        response.end(gzipSync(SITEMAP));
      });
      const { output } = await visit("web.links", site.url("/map.xml.gz"), { kinds: ["sitemap"] });
      expect(output).toMatchObject({ pages: [{ url: "https://a.example/1" }], charset: "utf-8" });
    },
  );

  test.each([
    ["another file", gzipSync("\0\x01\x02"), "unsupported: Expected a page of text, got application/gzip."],
    ["a damaged one", gzipSync(SITEMAP).subarray(0, 60), "corrupt: The gzip data of the page is damaged."],
    [
      "one that inflates too far",
      gzipSync(Buffer.alloc(30_000_000)),
      "too_large: Expected at most 20971520 bytes of inflated page, got more.",
    ],
  ])("and rejects %s", async (_what, body, said) => {
    const site = await sites.open((_request, response) =>
      response.setHeader("content-type", "application/gzip").end(body),
    );
    expect(await refused(visit("web.links", site.url("/map.xml.gz")))).toBe(said);
  });
});
