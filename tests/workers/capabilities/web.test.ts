/** Pages, links and Markdown of local sites, as a worker fetches them and a child reads them. */
import { afterEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";

import { PNG } from "#tests/shared/net/servers.ts";

import { refused } from "./refused.ts";
import { openSites } from "./web-site.ts";

const sites = openSites();
afterEach(() => sites.close());
const visit = (...visited: Parameters<typeof sites.visit>) => sites.visit(...visited);

describe("web.fetch", () => {
  test("returns the body as a file, and its headers", async () => {
    const site = await sites.open((_request, response) => {
      response.writeHead(200, { "content-type": "image/png", "x-thing": "1", "set-cookie": "a=b" }).end(PNG);
    });
    const made = await visit("web.fetch", site.url("/a.png"));
    expect(made.output).toMatchObject({
      url: site.url("/a.png"),
      status: 200,
      content_type: "image/png",
      bytes: PNG.length,
      headers: { "x-thing": "1" },
    });
    expect(made.output["headers"]).not.toHaveProperty("set-cookie");
    expect(made.files).toMatchObject([{ mediaType: "image/png", name: "page.png" }]);
    expect(Buffer.from(made.bytes()).equals(PNG)).toBe(true);
  });

  test("trusts the bytes if the server's type contradicts them", async () => {
    const site = await sites.open((_request, response) => response.setHeader("content-type", "text/html").end(PNG));
    const made = await visit("web.fetch", site.url("/"));
    expect(made).toMatchObject({ output: { content_type: "text/html" }, files: [{ mediaType: "image/png" }] });
  });

  test("requests only the headers, which contain the length", async () => {
    const site = await sites.open((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-length": "999999999" }).end();
    });
    const { output, files } = await visit("web.fetch", site.url("/"), { method: "HEAD" });
    expect(output).toMatchObject({ status: 200, bytes: 0, headers: { "content-length": "999999999" } });
    expect(files).toBeUndefined();
    expect(site.asked).toEqual(["HEAD /"]);
  });

  test("sends the caller's headers, but not to another origin", async () => {
    const seen: unknown[] = [];
    const note = (headers: object): void => void seen.push(headers);
    const other = await sites.open(({ headers }, response) => {
      note(headers);
      response.end("there");
    });
    const site = await sites.open(({ headers, url }, response) => {
      note(headers);
      response.writeHead(302, { location: url === "/" ? "/next" : other.url("/there") }).end();
    });
    const headers = { Authorization: "Bearer s3cret", "User-Agent": "Reader/1.0", Accept: "text/plain" };
    const { output } = await visit("web.fetch", site.url("/"), { headers });
    expect(output["url"]).toBe(other.url("/there"));
    const own = { authorization: "Bearer s3cret", "user-agent": "Reader/1.0", accept: "text/plain" };
    expect(seen).toMatchObject([own, own, { "user-agent": "Sluice", accept: "*/*" }]);
    expect(seen[2]).not.toHaveProperty("authorization");
  });

  test("follows at most twenty redirects", async () => {
    const site = await sites.open(({ url = "" }, response) => {
      const step = Number(url.slice(1));
      if (step === 0) response.end("here");
      else response.writeHead(307, { location: `/${step - 1}` }).end();
    });
    expect((await visit("web.fetch", site.url("/20"))).output["url"]).toBe(site.url("/0"));
    expect(await refused(visit("web.fetch", site.url("/21")))).toBe(
      "unprocessable_input input.url: The address redirects more than 20 times.",
    );
    expect(site.asked.filter((one) => one === "GET /0")).toHaveLength(1);
  });

  test("returns the status of an error page", async () => {
    const site = await sites.open({});
    expect(await refused(visit("web.fetch", site.url("/gone")))).toBe(
      "unprocessable_input input.url: The server at this address returned status 404.",
    );
  });
});

describe("robots.txt", () => {
  const ROBOTS = "User-agent: *\nDisallow: /private\n\nUser-agent: reader\nDisallow: /\n";
  const asking = { respect_robots: true };

  test("is obeyed on request only", async () => {
    const site = await sites.open({ "/robots.txt": ROBOTS, "/": "page", "/private/a": "page" });
    await visit("web.fetch", site.url("/private/a"));
    expect(site.asked).toEqual(["GET /private/a"]);
    await visit("web.fetch", site.url("/"), asking);
    expect(await refused(visit("web.fetch", site.url("/private/a"), asking))).toContain("does not allow this address");
    expect(site.asked.filter((one) => one === "GET /private/a")).toHaveLength(1);
    const asReader = { ...asking, headers: { "User-Agent": "Reader/1.0" } };
    expect(await refused(visit("web.fetch", site.url("/"), asReader))).toContain("does not allow");
  });

  test("is requested again for the target of a redirect", async () => {
    const other = await sites.open({ "/robots.txt": ROBOTS, "/private": "page" });
    const site = await sites.open((_request, response) => {
      response.writeHead(_request.url === "/" ? 302 : 404, { location: other.url("/private") }).end();
    });
    expect(await refused(visit("web.fetch", site.url("/"), asking))).toContain("does not allow this address");
    expect(other.asked).toEqual(["GET /robots.txt"]);
  });

  test("that does not exist allows all, an unavailable one nothing", async () => {
    const site = await sites.open({ "/": "page" });
    expect((await visit("web.fetch", site.url("/"), asking)).output["status"]).toBe(200);
    const broken = await sites.open((_request, response) => response.writeHead(500).end());
    expect(await refused(visit("web.fetch", broken.url("/"), asking))).toContain("cannot be read");
    expect(broken.asked).toEqual(["GET /robots.txt"]);
  });
});

describe("rejected:", () => {
  test.each(["web.fetch", "web.to_markdown", "web.links"])("by %s a private address", async (id) => {
    const inside = await sites.openInside();
    const addresses = [
      inside.url("/"),
      `http://localhost:${inside.port}/`,
      `http://[::1]:${inside.port}/`,
      `http://2130706433:${inside.port}/`,
      "http://10.0.0.1/",
      "http://192.168.1.1/",
      "http://169.254.169.254/latest/meta-data/",
      "http://[fd00:ec2::254]/",
      "file:///etc/passwd",
    ];
    for (const url of addresses) expect([url, await refused(visit(id, url))]).toEqual([url, UNSAFE]);
    const site = await sites.open(({ url = "" }, response) => {
      response.writeHead(302, { location: addresses[Number(url.slice(1))] }).end();
    });
    for (const at of addresses.keys()) expect(await refused(visit(id, site.url(`/${at}`)))).toBe(UNSAFE);
    expect(inside.asked).toEqual([]);
  });
  const UNSAFE = "unsafe_url input.url: The address is not public.";

  test("more than the requested or maximum size, while it expands", async () => {
    const bomb = gzipSync(Buffer.alloc(40_000_000));
    const site = await sites.open((_request, response) => {
      response.setHeader("content-encoding", "gzip").setHeader("content-type", "text/html").end(bomb);
    });
    const said = "unprocessable_input input.url: Expected at most";
    expect(await refused(visit("web.to_markdown", site.url("/")))).toBe(`${said} 20971520 bytes, got more.`);
    expect(await refused(visit("web.fetch", site.url("/"), { max_bytes: 10 }))).toBe(`${said} 10 bytes, got more.`);
  });

  test("a silent server", async () => {
    const site = await sites.open((_request, response) => void response.write("x"));
    expect(await refused(visit("web.fetch", site.url("/")))).toBe(
      "input_unavailable input.url: The server at this address did not respond in time.",
    );
  }, 30_000);

  test("a cancelled run, immediately, though its server drips", async () => {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const controller = new AbortController();
    const site = await sites.open((_request, response) => {
      const timer = setInterval(() => response.write("x"), 20);
      response.on("close", () => (clearInterval(timer), onClose()));
      setTimeout(() => controller.abort(new Error("cancelled")), 100);
    });
    const error = await visit("web.fetch", site.url("/"), {}, controller.signal).catch(String);
    expect(error).toBe("Error: cancelled");
    await closed;
  });

  test.each<[string, Record<string, string>, string, string?]>([
    ["host", { Host: "evil" }, "params.headers.Host"],
    ["content-length", { "content-length": "1" }, "params.headers.content-length"],
    ["a proxy's", { "Proxy-Authorization": "x" }, "params.headers.Proxy-Authorization"],
    ["one that is no name", { "a b": "x" }, "params.headers.a b"],
    ["one with a line in it", { a: "x\r\nHost: evil" }, "params.headers.a", "unsupported_value"],
    ["more than twenty", Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`x-${at}`, "1"])), "params.headers"],
  ])("a header: %s", async (_what, headers, param, code = "invalid_request") => {
    expect(await refused(visit("web.fetch", "https://example.com/", { headers }))).toMatch(`${code} ${param}:`);
  });

  test.each([
    ["a picture", PNG, "image/png", "unsupported: Expected a page of text, got image/png."],
    ["too deep a page", `<p>${"<div>".repeat(5_000)}`, "text/html", "too_large: Expected elements nested at most 400"],
    ["too many elements", "<i>a</i>".repeat(60_000), "text/html", "too_large: Expected at most 50000 elements"],
    ["too long a table", `<table>${"<tr><td>a".repeat(4_000)}`, "text/html", "too_large: Expected at most 2000 table"],
    ["too many pieces", "< ".repeat(300_000), "text/html", "too_large: Expected at most 250000 tags"],
    [
      "too long a list of classes",
      `<p class="${"a ".repeat(1_000_000)}">x`,
      "text/html",
      "too_large: Expected HTML with",
    ],
    ["too much of it", "a".repeat(6_000_000), "text/html", "too_large: Expected HTML of at most 5242880 characters"],
  ])(
    "as Markdown, %s",
    async (_what, body, type, said) => {
      const site = await sites.open((_request, response) => response.setHeader("content-type", type).end(body));
      expect(await refused(visit("web.to_markdown", site.url("/")))).toContain(said);
    },
    20_000,
  );
});

const ARTICLE = `<!doctype html><html lang="en"><head><title>On tea</title><base href="/tea/"></head><body>
<nav><a href="/">Home</a><a href="/shop">Shop</a></nav><script>alert("never")</script>
<article><h1>On tea</h1><h2>Leaves</h2>${"<p>Green tea is not fermented, black tea is, and oolong stands, as its drinkers say, in between.</p>".repeat(9)}
<p>More of <a href="oolong?a=1&amp;b=2">oolong</a> and <a href="javascript:alert(1)">nothing</a>. <img src="cup.png" alt="A cup"></p>
<table><thead><tr><th>Tea</th><th>Minutes</th></tr></thead><tbody><tr><td>Green</td><td>2</td></tr></tbody></table>
<pre><code class="language-js">steep(2);\n</code></pre></article><footer>Imprint</footer></body></html>`;

describe("web.to_markdown", () => {
  test("reads the article, with absolute addresses, tables and code", async () => {
    const site = await sites.open({ "/a/page": ARTICLE });
    const { output } = await visit("web.to_markdown", site.url("/a/page"));
    expect(output).toMatchObject({ url: site.url("/a/page"), scope: "article", title: "On tea", language: "en" });
    const text = String(output["text"]);
    expect(text).toContain(
      `More of [oolong](${site.url("/tea/oolong?a=1&b=2")}) and nothing. ![A cup](${site.url("/tea/cup.png")})`,
    );
    expect(text).toContain("## Leaves\n");
    expect(text).toContain("| Tea | Minutes |\n| --- | --- |\n| Green | 2   |");
    expect(text).toContain("```js\nsteep(2);\n```");
    expect(text).not.toMatch(/Home|Imprint|never|javascript/);
  });

  test("reads the whole page, and only the text of links", async () => {
    const site = await sites.open({ "/": ARTICLE });
    const { output } = await visit("web.to_markdown", site.url("/"), { scope: "page", links: "drop" });
    const text = String(output["text"]);
    expect(text).toStartWith("HomeShop\n\n# On tea\n\n## Leaves\n\n");
    expect(text).toContain("More of oolong and nothing. A cup\n");
    expect(text).toContain("Imprint");
    expect(text).not.toMatch(/never|https?:/);
  });

  test.each([
    ["without body or html", "<title>T</title><p>One<p>Two", { title: "T", scope: "article", text: "One\n\nTwo\n" }],
    ["of words alone", "just words", { text: "just words\n" }],
    [
      "of frames",
      "<html><frameset><frame src=a name=main></frameset></html>",
      { text: expect.stringMatching(/^\[main\]\(http.*\/a\)\n$/) },
    ],
    [
      "of nothing but its head",
      "<html><head><title>T</title></head></html>",
      { title: "T", scope: "page", text: "\n" },
    ],
    ["with one half of a body", "<html lang=de><p>One</p></body></html>", { language: "de", text: "One\n" }],
  ])("reads a page %s", async (_what, html, output) => {
    const site = await sites.open({ "/": html });
    expect((await visit("web.to_markdown", site.url("/"))).output).toMatchObject(output);
  });

  test("returns a page of plain text unchanged, and a long one as a file", async () => {
    const site = await sites.open({ "/a.txt": "# Tea\n", "/long.txt": "tea ".repeat(300_000) });
    expect((await visit("web.to_markdown", site.url("/a.txt"))).output["text"]).toBe("# Tea\n");
    const long = await visit("web.to_markdown", site.url("/long.txt"));
    expect(long).toMatchObject({
      output: { bytes: 1_200_000 },
      files: [{ name: "page.md", mediaType: "text/markdown" }],
    });
  });
});

describe("web.links", () => {
  const PAGE = `<html lang="en-GB"><head><title>Tea &amp; more</title><meta name="Description" content="On &quot;tea&quot;">
<meta property="og:type" content="website"><link rel="canonical" href="/tea"><base href="/b/">
<link rel="alternate" type="application/rss+xml" href="/feed.xml" title="News"><link rel="sitemap" href="/map.xml"></head><body>
<a href="one?x=1&amp;y=2"> One <b>and</b>\n more </a><a href="#top">Top</a><a href="one?x=1&y=2">again</a><a href="mailto:a@b.c">Mail</a>
<a href="https://other.example/x" rel="nofollow">Other</a><!-- <a href="/hidden">x</a> --><script>"<a href='/scripted'>"</script></body></html>`;

  test("lists the addresses of a page, each once", async () => {
    const site = await sites.open({ "/": PAGE });
    const kinds = ["links", "meta", "feed", "sitemap"];
    expect((await visit("web.links", site.url("/"), { kinds })).output).toEqual({
      url: site.url("/"),
      charset: "utf-8",
      links: [
        { url: site.url("/b/one?x=1&y=2"), title: "One and more" },
        { url: "https://other.example/x", title: "Other", rel: "nofollow" },
      ],
      meta: {
        language: "en-GB",
        title: "Tea & more",
        description: 'On "tea"',
        "og:type": "website",
        canonical: site.url("/tea"),
      },
      feeds: [{ url: site.url("/feed.xml"), title: "News", format: "rss" }],
      sitemaps: [{ url: site.url("/map.xml") }],
      is_cut: false,
    });
  });

  test("is limited to the host, and to the requested number", async () => {
    const site = await sites.open({ "/": PAGE });
    const own = [{ url: site.url("/b/one?x=1&y=2"), title: "One and more" }];
    expect((await visit("web.links", site.url("/"), { same_host: true, kinds: ["links"] })).output).toMatchObject({
      links: own,
      is_cut: false,
    });
    expect((await visit("web.links", site.url("/"), { max: 1, kinds: ["links"] })).output).toMatchObject({
      links: own,
      is_cut: true,
    });
  });

  const RSS = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><item><title>One &amp; two</title><link>/1</link><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>`;
  const ATOM = `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title>One &amp; two</title><link rel="edit" href="/e"/><link href="/1"/><updated>2026-11-02</updated></entry></feed>`;
  const JSON_FEED = JSON.stringify({
    version: "https://jsonfeed.org/version/1.1",
    title: "News",
    items: [{ id: "1", url: "/1", title: "One & two", date_published: "2026-11-02" }],
  });
  test.each([
    ["rss", "/a.xml", RSS, "Mon, 02 Nov 2026 10:00:00 GMT"],
    ["atom", "/a", ATOM, "2026-11-02"],
    ["json", "/a.json", JSON_FEED, "2026-11-02"],
  ])("reads a feed in %s", async (format, path, text, date) => {
    const site = await sites.open({ [path]: text });
    const items = [{ url: site.url("/1"), title: "One & two", date }];
    const kinds = ["links", "meta", "feed"];
    expect((await visit("web.links", site.url(path), { kinds })).output).toEqual({
      url: site.url(path),
      charset: "utf-8",
      links: items,
      meta: { title: "News" },
      feeds: [{ url: site.url(path), title: "News", format }],
      items,
      is_cut: false,
    });
  });

  test("reads sitemaps, their indexes, and those listed in robots.txt", async () => {
    const site = await sites.open({
      "/map.xml": `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.example/1?x&amp;y</loc><lastmod>2026-11-02</lastmod></url></urlset>`,
      "/index.xml": `<?xml version="1.0"?><sitemapindex><sitemap><loc>/map.xml</loc></sitemap><sitemap><loc><![CDATA[/other.xml]]></loc></sitemap></sitemapindex>`,
      "/robots.txt": `User-agent: *\nDisallow:\nSitemap: https://a.example/s.xml\n`,
    });
    const of = async (path: string) => (await visit("web.links", site.url(path), { kinds: ["sitemap"] })).output;
    expect(await of("/map.xml")).toMatchObject({
      sitemaps: [],
      pages: [{ url: "https://a.example/1?x&y", date: "2026-11-02" }],
    });
    expect(await of("/index.xml")).toMatchObject({
      sitemaps: [{ url: site.url("/map.xml") }, { url: site.url("/other.xml") }],
      pages: [],
    });
    expect(await of("/robots.txt")).toMatchObject({ sitemaps: [{ url: "https://a.example/s.xml" }] });
  });

  test("detects a feed after a comment, and a sitemap's locations with attributes", async () => {
    const feed = `<rss version="2.0"><channel><title>T</title><item><link>https://a.example/1</link></item></channel></rss>`;
    const site = await sites.open({
      "/feed.xml": `<?xml version="1.0"?><!-- <html> -->${feed}`,
      "/map.xml": `<urlset><url><loc x="1">https://a.example/2</loc></url></urlset>`,
    });
    const of = async (path: string) =>
      (await visit("web.links", site.url(path), { kinds: ["feed", "sitemap"] })).output;
    expect(await of("/feed.xml")).toMatchObject({ items: [{ url: "https://a.example/1" }] });
    expect(await of("/map.xml")).toMatchObject({ pages: [{ url: "https://a.example/2" }] });
  });

  test("rejects a sitemap with entities, and a truncated one", async () => {
    const site = await sites.open({
      "/bomb.xml": `<!DOCTYPE a [<!ENTITY b "c">]><urlset><url><loc>&b;</loc></url></urlset>`,
      "/cut.xml": `<urlset><url><loc>https://a.example/`,
    });
    for (const path of ["/bomb.xml", "/cut.xml"]) {
      expect(await refused(visit("web.links", site.url(path)))).toStartWith("corrupt: The sitemap cannot be read");
    }
  });

  test("processes a page of 200,000 links, and returns as many as fit", async () => {
    const site = await sites.open({
      "/": Array.from({ length: 200_000 }, (_, at) => `<a href="/${at}">${at}</a>`).join(""),
    });
    const { output } = await visit("web.links", site.url("/"), { max: 5_000 });
    expect(output["links"]).toHaveLength(5_000);
    expect(output["is_cut"]).toBe(true);
  }, 30_000);
});
