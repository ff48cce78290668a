/**
 * Serves the API explorer at /docs/explorer. Swagger UI comes from the service's own node_modules, so that nothing is loaded from another
 * host.
 */
import { assetAddress } from "./assets.ts";
import { htmlPage, PAGE_HEADERS } from "../../core/html-page.ts";

interface Asset {
  readonly type: string;
  readonly file?: string;
  readonly text?: string;
}

/**
 * Script that starts Swagger UI. `validatorUrl` is null, because the validator badge would send the document's address to a foreign host.
 */
const START_SCRIPT = `const dark = matchMedia("(prefers-color-scheme: dark)");
const { classList, dataset } = document.documentElement;
const follow = () => classList.toggle("dark-mode", dataset.theme === undefined ? dark.matches : dataset.theme === "dark");
follow();
dark.addEventListener("change", follow);
addEventListener("storage", follow);
addEventListener("pageshow", follow);
window.addEventListener("load", () => {
  SwaggerUIBundle({
    url: "/openapi.json",
    dom_id: "#docs",
    deepLinking: true,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
  });
});
`;

/** Files served from the Swagger UI package, by name. Other files of the package are not served. */
const ASSETS: ReadonlyMap<string, Asset> = new Map([
  ["swagger-ui.css", { type: "text/css; charset=utf-8", file: "swagger-ui.css" }],
  ["swagger-ui-bundle.js", { type: "text/javascript; charset=utf-8", file: "swagger-ui-bundle.js" }],
  ["favicon-32x32.png", { type: "image/png", file: "favicon-32x32.png" }],
  ["start.js", { type: "text/javascript; charset=utf-8", text: START_SCRIPT }],
]);

const page = (): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API explorer · Sluice</title>
<link rel="icon" type="image/png" href="/docs/assets/favicon-32x32.png">
<script src="${assetAddress("theme.js")}"></script>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="stylesheet" href="${assetAddress("tokens.css")}">
<link rel="stylesheet" href="${assetAddress("explorer.css")}">
</head>
<body>
<nav class="explorer-top"><a href="/docs">Documentation</a><a href="/docs/api">API reference</a></nav>
<div id="docs"></div>
<noscript>The explorer needs JavaScript. The <a href="/docs/api">API reference</a> does not.</noscript>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>
</body>
</html>
`;

/**
 * Content security policy: only the own origin and no inline code. Images may also be data URLs, which the style sheet uses for its icons.
 */
const LOADS = ["script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"];

/** Returns the HTML page of the API explorer. */
export function explorerPage(): Response {
  return htmlPage(page(), { loads: LOADS, formAction: "'none'" }, { "cache-control": "no-cache" });
}

/** Returns a file that the page loads from /docs/assets/{name}; undefined for every name that is not listed. */
export function explorerAsset(name: string): Response | undefined {
  const asset = ASSETS.get(name);
  if (asset === undefined) return undefined;
  const body = asset.file === undefined ? asset.text : Bun.file(new URL(asset.file, packageFolder()));
  return new Response(body, {
    headers: { ...PAGE_HEADERS, "content-type": asset.type, "cache-control": "public, max-age=86400" },
  });
}

function packageFolder(): string {
  return import.meta.resolve("swagger-ui-dist/package.json");
}
