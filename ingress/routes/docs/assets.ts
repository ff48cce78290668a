/** Style sheets, scripts and icon of the documentation, which the service itself serves. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { PAGE_HEADERS } from "../../core/html-page.ts";

const CSS = "text/css; charset=utf-8";
const JS = "text/javascript; charset=utf-8";

const FILES: ReadonlyMap<string, { readonly type: string; readonly url: () => string }> = new Map([
  ["tokens.css", { type: CSS, url: () => import.meta.resolve("./assets/tokens.css") }],
  ["text.css", { type: CSS, url: () => import.meta.resolve("./assets/text.css") }],
  ["site.css", { type: CSS, url: () => import.meta.resolve("./assets/site.css") }],
  ["site.js", { type: JS, url: () => import.meta.resolve("./assets/site.js") }],
  ["theme.js", { type: JS, url: () => import.meta.resolve("./assets/theme.js") }],
  ["search.js", { type: JS, url: () => import.meta.resolve("./assets/search.js") }],
  ["explorer.css", { type: CSS, url: () => import.meta.resolve("./assets/explorer.css") }],
  ["minisearch.js", { type: JS, url: () => import.meta.resolve("minisearch") }],
  ["icon.svg", { type: "image/svg+xml", url: () => import.meta.resolve("./assets/icon.svg") }],
]);

interface Asset {
  readonly type: string;
  readonly text: string;
  /** Version of the asset, which changes with its text. */
  readonly version: string;
}

const loaded = new Map<string, Asset>();

function assetOf(name: string): Asset | undefined {
  const file = FILES.get(name);
  if (!file) return undefined;
  const known = loaded.get(name);
  if (known) return known;
  const text = readFileSync(fileURLToPath(file.url()), "utf8").replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");
  const asset = { type: file.type, text, version: Bun.hash(text).toString(36) };
  loaded.set(name, asset);
  return asset;
}

/**
 * Returns the address of an asset, including its version, so that an upgrade replaces cached copies in browsers. @throws Error for an
 * unknown name
 */
export function assetAddress(name: string): string {
  const asset = assetOf(name);
  if (!asset) throw new Error(`the documentation has no asset ${name}`);
  return `/docs/assets/${name}?v=${asset.version}`;
}

/** Returns the response for /docs/assets/{name}; undefined for an unknown name. */
export function siteAsset(name: string): Response | undefined {
  const asset = assetOf(name);
  if (!asset) return undefined;
  const headers = { ...PAGE_HEADERS, "content-type": asset.type, "cache-control": "public, max-age=86400" };
  return new Response(asset.text, { headers });
}
