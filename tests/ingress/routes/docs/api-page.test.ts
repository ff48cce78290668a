import { describe, expect, test } from "bun:test";

import { siteAsset } from "#ingress/routes/docs/assets.ts";
import { explorerAsset, explorerPage } from "#ingress/routes/docs/api-page.ts";

describe("the API explorer", () => {
  test("loads from our own origin only, and every file it loads is served", async () => {
    const html = await explorerPage().text();
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link ?? "");
    const assets = links.filter((link) => link.startsWith("/docs/assets/"));
    expect(links.filter((link) => !link.startsWith("/") || link.startsWith("//"))).toEqual([]);
    expect(assets).toHaveLength(7);
    for (const asset of assets) {
      const name = new URL(asset, "http://host").pathname.slice("/docs/assets/".length);
      const response = siteAsset(name) ?? explorerAsset(name);
      expect((await response?.arrayBuffer())?.byteLength).toBeGreaterThan(100);
    }
  });

  test("forbids foreign hosts, inline code and framing", async () => {
    const response = explorerPage();
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(policy).not.toMatch(/https?:|\*/);
    expect(await response.text()).not.toMatch(/<script>|<style|\son\w+=|style=/);
  });

  test("starts on our document and keeps its address from the validator's host", async () => {
    const script = await explorerAsset("start.js")?.text();
    expect(script).toContain('url: "/openapi.json"');
    expect(script).toContain("validatorUrl: null");
    expect(explorerAsset("start.js")?.headers.get("content-type")).toContain("text/javascript");
    expect(explorerAsset("start.js")?.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test.each(["package.json", "../package.json", "..%2Fpackage.json", "swagger-initializer.js", "", "constructor"])(
    "serves no asset with the name %j",
    (name) => {
      expect(explorerAsset(name)).toBeUndefined();
    },
  );
});
