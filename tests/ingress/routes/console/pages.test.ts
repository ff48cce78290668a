/** The built console as the ingress serves it: one page for all its paths, files with hashed names, and the size of the first paint. */
import { beforeAll, describe, expect, test } from "bun:test";

import { buildConsole } from "#deploy/build-console.ts";
import { createApp } from "#ingress/app.ts";
import { fakeContext } from "#tests/ingress/fake-context.ts";

/** Maximum size of everything that the first paint loads, compressed. */
const FIRST_PAINT_BYTES_MAX = 60_000;

const app = createApp(fakeContext().context);

beforeAll(() => buildConsole());

function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return app.handle(new Request(`http://localhost${path}`, { headers }));
}

/** Addresses of the files that the page loads before it runs. */
async function filesOfPage(): Promise<readonly string[]> {
  const html = await (await get("/console")).text();
  return [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
}

describe("page", () => {
  test.each(["/console", "/console/requests", "/console/requests/01a2", "/console/operator/holds/x"])(
    "%s is the console, which loads its own files only",
    async (path) => {
      const response = await get(path);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(response.status).toBe(200);
      expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:/);
      expect(await response.text()).not.toMatch(/<script(?![^>]*src=)/);
    },
  );

  test("a browser that opens the address of the service arrives at the console, and a program reads JSON", async () => {
    const browser = await get("/", { accept: "text/html,application/xhtml+xml" });
    expect([browser.status, browser.headers.get("location")]).toEqual([303, "/console"]);
    expect((await get("/")).headers.get("content-type")).toStartWith("application/json");
  });
});

describe("files", () => {
  test("the first paint loads at most 60 kB, which browsers keep", async () => {
    let bytes = 0;
    for (const path of await filesOfPage()) {
      const response = await get(path, { "accept-encoding": "gzip" });
      expect(response.headers.get("cache-control")).toContain("immutable");
      expect(response.headers.get("content-encoding")).toBe("gzip");
      bytes += (await response.arrayBuffer()).byteLength;
    }
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(FIRST_PAINT_BYTES_MAX);
  });

  test("clients without gzip receive the same file uncompressed", async () => {
    const [path = ""] = await filesOfPage();
    const [zipped, plain] = [await get(path, { "accept-encoding": "gzip" }), await get(path)];
    expect(Bun.gunzipSync(new Uint8Array(await zipped.arrayBuffer()))).toEqual(
      new Uint8Array(await plain.arrayBuffer()),
    );
  });

  test.each(["nothing.js", "stamp", "..%2Findex.html", "index.html", "x.gz"])("%s does not exist", async (name) => {
    expect((await get(`/console/assets/${name}`)).status).toBe(404);
  });
});
