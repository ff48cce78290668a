/** The documentation over HTTP, rendered in its thread. */
import { afterAll, describe, expect, test } from "bun:test";

import { createApp } from "#ingress/app.ts";
import { siteAsset } from "#ingress/routes/docs/assets.ts";
import { createRenderer, createTextCache } from "#ingress/routes/docs/renderer.ts";
import { fakeContext } from "#tests/ingress/fake-context.ts";

import { DOCUMENT, FACTS } from "./site.ts";

const fake = fakeContext();
const app = createApp(fake.context);
afterAll(() => fake.close());

const SOURCE = { document: JSON.stringify(DOCUMENT), facts: FACTS };

function get(
  path: string,
  headers: Readonly<Record<string, string>> = { accept: "text/html" },
  origin = "http://localhost",
): Promise<Response> {
  return app.handle(new Request(origin + path, { headers }));
}

describe("a page", () => {
  test.each([
    "/docs",
    "/docs/api",
    "/docs/api/createChatCompletion",
    "/docs/reference/errors",
    "/docs/search?q=retry",
    "/docs/nothing",
  ])("%s loads from our own origin only, has no inline code, and all that it loads is served", async (path) => {
    const response = await get(path);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const html = await response.text();
    expect(html).not.toMatch(/<script>|<style|\son\w+="| style=/);
    const head = html.slice(0, html.indexOf("</head>"));
    const loads = [...head.matchAll(/(?:src|href|data-search|data-ranking)="([^"]+)"/g)].map(([, link = ""]) => link);
    const assets = loads.filter((link) => link.startsWith("/docs/assets/"));
    expect(loads.filter((link) => !link.startsWith("/docs"))).toEqual([]);
    expect(assets).toHaveLength(8);
    for (const asset of assets) expect([asset, (await get(asset)).status]).toEqual([asset, 200]);
  });

  test("is HTML, and Markdown with .md at its end", async () => {
    const html = await get("/docs/reference/errors");
    expect(html.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await html.text()).toContain('<h3 id="overloaded">');
    const markdown = await get("/docs/reference/errors.md");
    expect(markdown.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await markdown.text()).toStartWith("# Errors A–Z\n\nHTTP status, cause and fix of every error code.\n\n");
    expect(await (await get("/docs/index.md")).text()).toStartWith("# Sluice documentation\n");
  });

  test("is rendered once, and has an ETag for conditional requests", async () => {
    const first = await get("/docs/reference/settings");
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"\w+"$/);
    expect(first.headers.get("cache-control")).toBe("private, max-age=300");
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get("/docs/reference/settings", { "if-none-match": known });
      expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
    }
    expect((await get("/docs/reference/settings", { "if-none-match": '"other"' })).status).toBe(200);
  });

  test.each(["/docs/get-started/quickstart", "/docs/api/createChatCompletion", "/docs/guides/chat.md"])(
    "%s contains the origin of its request, and no shared cache keeps it",
    async (path) => {
      const etags = new Set<string | null>();
      for (const origin of ["http://localhost:3000", "http://10.0.0.9", "http://localhost:3000"]) {
        const response = await get(path, {}, origin);
        expect(response.headers.get("cache-control")).toBe("private, max-age=300");
        etags.add(response.headers.get("etag"));
        const text = await response.text();
        expect(text).toContain(`${origin}/v1/chat/completions`);
        expect(new Set(text.match(/(?:127\.0\.0\.1:8080|localhost:3000|10\.0\.0\.9)/g))).toEqual(
          new Set([origin.slice("http://".length)]),
        );
      }
      expect(etags.size).toBe(2);
    },
  );

  test("contains the public URL instead, if it is set, as text", async () => {
    const installed = fakeContext();
    Object.assign(installed.context.config, { publicUrl: "https://ai.example.com/a&$&" });
    const own = createApp(installed.context);
    const send = (path: string): Promise<Response> => own.handle(new Request(`http://other.example${path}`));
    const html = await send("/docs/guides/chat");
    expect(html.headers.get("cache-control")).toBe("public, max-age=300");
    expect(await html.text()).toContain("https://ai.example.com/a&amp;$&amp;/v1/chat/completions");
    expect(await (await send("/docs/guides/chat.md")).text()).toContain(
      "https://ai.example.com/a&$&/v1/chat/completions",
    );
    expect(await (await send("/docs/get-started/quickstart.md")).text()).toContain("http://127.0.0.1:8080/v1");
    installed.close();
  });

  test("about the machine of the service keeps the addresses that are meant there", async () => {
    expect(await (await get("/docs/operate/access.md")).text()).toContain("env SLUICE_URL=http://127.0.0.1:8080 bun");
  });

  test("has its position in the navigation, contents, neighbours, and the link to its Markdown", async () => {
    const html = await (await get("/docs/reference/settings")).text();
    expect(html).toContain('<a href="/docs/reference/settings" aria-current="page">Settings</a>');
    expect(html).toContain('<nav class="contents-list" aria-label="On this page">');
    expect(html).toMatch(/<a rel="prev" href="\/docs\/[a-z/-]+">/);
    expect(html).toMatch(/<a rel="next" href="\/docs\/[a-z/-]+">/);
    expect(html).toContain('<a href="/docs/reference/settings.md">');
  });

  test("that does not exist names the nearest page, to browsers as HTML and to programs as an error", async () => {
    const html = await get("/docs/reference/eror");
    expect([html.status, html.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await html.text()).toContain('The nearest page is <a href="/docs/reference/errors">Errors A–Z</a>');
    for (const [path, headers] of [
      ["/docs/reference/eror", {}],
      ["/docs/reference/eror.md", { accept: "text/html" }],
    ] as const) {
      const response = await get(path, headers);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: { code: "not_found", message: expect.stringContaining("/docs/reference/errors") as string },
      });
    }
  });

  test.each([
    "/docs/..%2f..%2fpackage.json",
    "/docs/reference/..%2f..%2f..%2fREADME.md",
    "/docs/%3Cscript%3E/a",
    "/docs/constructor",
    `/docs/${"a".repeat(5_000)}`,
  ])("does not serve another file: %s", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await response.text()).not.toMatch(/<script>|"dependencies"/);
  });
});

describe("search", () => {
  test("works without a script", async () => {
    const html = await (await get("/docs/search?q=overloaded")).text();
    expect(html).toContain('<a href="/docs/reference/errors#overloaded">');
    expect(html).toContain('value="overloaded"');
  });

  test("reads any query as text, up to 200 characters", async () => {
    const html = await (
      await get(`/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}${"x".repeat(5_000)}`)
    ).text();
    expect(html).not.toContain("<script>");
    expect(/name="q" value="([^"]*)"/.exec(html)?.[1]?.replaceAll(/&\w+;/g, "&")).toHaveLength(200);
    expect(await (await get("/docs/search")).text()).toContain("Enter a word");
  });

  test("in the browser uses an index of all pages", async () => {
    const response = await get("/docs/search.json");
    expect(response.headers.get("content-type")).toContain("application/json");
    const index = (await response.json()) as { documentIds: Record<string, string> };
    expect(Object.values(index.documentIds)).toContain("/docs/reference/errors#overloaded");
  });
});

describe.each(["/docs/search.json", "/openapi.json", "/llms.txt"])("the large text %s", (path) => {
  test.each(["gzip", "br, gzip", "GZIP;q=0.5", "deflate, gzip ; q=1, br"])(
    "is compressed for a client that accepts %j",
    async (accepted) => {
      const plain = await get(path);
      const packed = await get(path, { "accept-encoding": accepted });
      expect([packed.status, packed.headers.get("content-encoding")]).toEqual([200, "gzip"]);
      const bytes = new Uint8Array(await packed.arrayBuffer());
      const text = await plain.text();
      expect(new TextDecoder().decode(Bun.gunzipSync(bytes)) === text).toBe(true);
      expect(bytes.length).toBeLessThan(text.length / 2);
      for (const response of [plain, packed]) expect(response.headers.get("vary")).toContain("accept-encoding");
      const etag = plain.headers.get("etag");
      expect(packed.headers.get("etag")).toBe(etag === null ? null : `W/${etag}`);
    },
  );

  test.each(["", "identity", "br", "gzip;q=0", "gzip; q=0.0", "x-gzipped"])(
    "is plain for a client that accepts %j",
    async (accepted) => {
      const response = await get(path, { "accept-encoding": accepted });
      expect(response.headers.get("content-encoding")).toBe(null);
      expect((await response.text()).length).toBeGreaterThan(1_000);
    },
  );
});

describe("/llms.txt", () => {
  test("has the name, a summary, and each page with its summary as a link to Markdown that is served", async () => {
    const response = await get("/llms.txt");
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const text = await response.text();
    expect(text).toMatch(/^# Sluice\n\n> .+\n/);
    expect(text).toContain("\n## Reference\n");
    const links = [...text.matchAll(/^- \[[^\]]+\]\((\/docs\/[^)]+\.md)\): .+$/gm)].map(([, link = ""]) => link);
    expect(links).toContain("/docs/reference/errors.md");
    expect(links).toContain("/docs/api/createChatCompletion.md");
    for (const link of links.filter((one) => !one.startsWith("/docs/api/")))
      expect([link, (await get(link)).status]).toEqual([link, 200]);
  });
});

test.each(["package.json", "../package.json", "..%2Fpackage.json", "site.ts", "", "constructor"])(
  "no asset has the name %j",
  (name) => {
    expect(siteAsset(name)).toBeUndefined();
  },
);

describe("the renderer", () => {
  test("renders a page once for concurrent requests", async () => {
    let sources = 0;
    const renderer = createRenderer(() => {
      sources += 1;
      return SOURCE;
    });
    const all = await Promise.all(
      Array.from({ length: 200 }, () => renderer.render({ kind: "page", path: "reference/errors" })),
    );
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    expect(sources).toBe(1);
  });

  test("rejects requests above the maximum of waiting ones", async () => {
    const renderer = createRenderer(() => SOURCE);
    const all = await Promise.allSettled(
      Array.from({ length: 70 }, (_, index) => renderer.render({ kind: "search", query: `word ${index}` })),
    );
    const refused = all.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(refused).toHaveLength(6);
    expect(refused[0]?.reason).toMatchObject({ code: "overloaded" });
  });

  test("reports an error of the thread, and works again afterwards", async () => {
    let broken = true;
    const renderer = createRenderer(() => ({ document: broken ? "{}" : SOURCE.document, facts: {} }));
    const [failed] = await Promise.allSettled([renderer.render({ kind: "llms" })]);
    expect(failed.status).toBe("rejected");
    broken = false;
    expect((await renderer.render({ kind: "llms" })).text).toStartWith("# Sluice");
  });

  test("works again after any number of sources that failed", async () => {
    let broken = true;
    const renderer = createRenderer(() => {
      if (broken) throw new Error("no source");
      return SOURCE;
    });
    for (let count = 0; count < 70; count += 1) {
      const [failed] = await Promise.allSettled([renderer.render({ kind: "search", query: "retry" })]);
      expect([count, String((failed as PromiseRejectedResult).reason)]).toEqual([count, "Error: no source"]);
    }
    broken = false;
    expect((await renderer.render({ kind: "llms" })).text).toStartWith("# Sluice");
  });

  test("caches texts up to its bound, the most recently read ones", () => {
    const cache = createTextCache(10);
    cache.set("a", "1234");
    cache.set("b", "5678");
    expect(cache.get("a")).toBe("1234");
    cache.set("c", "90ab");
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual(["1234", undefined, "90ab"]);
    cache.set("d", "x".repeat(11));
    expect([cache.get("d"), cache.get("a")]).toEqual([undefined, "1234"]);
  });
});
