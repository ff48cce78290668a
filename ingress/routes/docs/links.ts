/** Converts links in Markdown pages to addresses of the documentation site. */
import { posix } from "node:path";

import type { Page } from "./pages.ts";

/** Address of the service in the sources of the pages: the address at which `npm start` listens. Served pages name their own service instead. */
export const SOURCE_BASE = "http://127.0.0.1:8080";

/** Pages about the machine of the service and its settings. Their addresses are literal. */
export const LITERAL = /^(?:operate\/|reference\/(?:settings|changelog)$)/;

/** Page that starts a service on the reader's machine, whose address a hosted service does not replace by its own. */
const STARTS_SERVICE = "get-started/quickstart";

/**
 * Returns the text of a page with the base URL of the service that serves it.
 * @param path path of the page below /docs
 * @param isHosted true for a service with a public URL
 */
export function withBase(text: string, path: string, base: string, isHosted: boolean): string {
  const isLiteral = LITERAL.test(path) || (isHosted && path === STARTS_SERVICE);
  return isLiteral ? text : text.replaceAll(SOURCE_BASE, () => base);
}

/** Returns the address of a page. */
export function addressOf({ path }: Pick<Page, "path">): string {
  return path === "" ? "/docs" : `/docs/${path}`;
}

/** Returns the address of a page's Markdown text. */
export function markdownAddressOf({ path }: Pick<Page, "path">): string {
  return path === "" ? "/docs/index.md" : `/docs/${path}.md`;
}

/** Returns the path, below the project root, of the file that a relative link names. Returns undefined for an address or a fragment. */
export function targetFile(from: Page, href: string): string | undefined {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/|#)/i.test(href)) return undefined;
  const [path = ""] = href.split("#");
  return path === "" ? undefined : posix.join(posix.dirname(from.file), path);
}

/**
 * Returns the site address that a link leads to. Undefined for other files of the project, which have no address.
 * @param byFile pages by the path of their file
 */
export function linkAddress(from: Page, href: string, byFile: ReadonlyMap<string, Page>): string | undefined {
  const file = targetFile(from, href);
  if (file === undefined) return /^(?:https?:|mailto:|\/(?!\/)|#)/i.test(href) ? href : undefined;
  const page = byFile.get(file);
  if (!page) return undefined;
  const hash = href.indexOf("#");
  return addressOf(page) + (hash === -1 ? "" : href.slice(hash));
}
