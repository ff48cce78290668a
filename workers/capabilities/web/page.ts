/** Determines the media type and decodes the text of a fetched page. For child processes only. */
import { gunzipSync } from "node:zlib";

import { MediaError } from "#shared/children/media-error.ts";

import { address, type InputPage } from "../define.ts";
import { WEB_PAGE_BYTES_MAX } from "../limits.ts";
import { number } from "../params.ts";
import { charsetIn, charsetOf, decodeText, type DecodedText, knownCharset } from "../text.ts";

export const WEB_PRICE = { unit: "per_operation", operation_price: "0.1" } as const;
export const PAGE_MEMBER = { url: address("The page's public http or https address.") };
/** Declares the parameter `wait` of capabilities that load a page in a browser. */
export const wait = (more = "") =>
  number(`Seconds to wait after the page has loaded and its network is idle.${more}`, {
    min: 0,
    max: 10,
    unit: "s",
    default: 0,
  });
export const SAMPLE = { url: "https://example.com/" } as const;

/** Returns the media type in lower case, without parameters. */
export function typeOf({ contentType }: InputPage): string {
  return contentType.split(";", 1).join("").trim().toLowerCase();
}

/** Returns the page's file and content type for the browser. The type is HTML if the server names none. */
export function htmlOf({ path, contentType }: InputPage): { readonly path: string; readonly contentType: string } {
  return { path, contentType: contentType === "" ? "text/html" : contentType };
}

/**
 * Decodes the text of a page. The charset is determined by the byte order mark, the server, the page's head, or the bytes, in this order. A
 * gzip file as body, such as `sitemap.xml.gz`, is decompressed first. @throws MediaError corrupt, too_large
 */
export async function pageText({ path, contentType }: InputPage): Promise<DecodedText> {
  const bytes = inflated(await Bun.file(path).bytes());
  return decodeText(bytes, { declared: knownCharset(charsetOf(contentType)) ?? charsetIn(bytes) });
}

function inflated(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: WEB_PAGE_BYTES_MAX });
  } catch (error) {
    const isTooLarge = (error as { readonly code?: unknown }).code === "ERR_BUFFER_TOO_LARGE";
    throw isTooLarge
      ? new MediaError("too_large", `Expected at most ${WEB_PAGE_BYTES_MAX} bytes of inflated page, got more.`, {
          cause: error,
        })
      : new MediaError("corrupt", "The gzip data of the page is damaged.", { cause: error });
  }
}

export type Form = "html" | "feed" | "sitemap" | "json" | "text";

const ROOTS: ReadonlyMap<string, Form> = new Map([
  ["rss", "feed"],
  ["feed", "feed"],
  ["rdf:rdf", "feed"],
  ["urlset", "sitemap"],
  ["sitemapindex", "sitemap"],
  ["html", "html"],
]);

/**
 * Detects the format of a page, such as HTML or a feed, from its first element. If that is unknown, the content type is used. It comes
 * second, because feeds often have a wrong content type.
 * @throws MediaError unsupported
 */
export function formOf(page: InputPage, text: string): Form {
  const type = typeOf(page);
  const start = text.slice(0, 4_096).replaceAll(/<!--[^]*?-->/g, "");
  const root = /^\s*</.test(text) ? /<([a-z][a-z0-9:]{0,40})/i.exec(start)?.[1] : undefined;
  const form = ROOTS.get(root?.toLowerCase() ?? "");
  if (form !== undefined) return form;
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (/[/+]json$/.test(type)) return "json";
  if (type.startsWith("text/") || (type === "" && page.mediaType.startsWith("text/"))) {
    return root === undefined ? "text" : "html";
  }
  throw new MediaError("unsupported", `Expected a page of text, got ${type === "" ? page.mediaType : type}.`);
}

/** Resolves a link to an absolute http or https URL without user information. Returns undefined for any other URL. */
export function resolved(href: string, base: string): URL | undefined {
  const url = URL.canParse(href, base) ? new URL(href, base) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  [url.username, url.password] = ["", ""];
  return url;
}
