/** The type of a fetched page, and its text. For child processes only. */
import { MediaError } from "#shared/children/media-error.ts";

import { address, type InputPage } from "../define.ts";
import { decodeText, type DecodedText, knownCharset } from "../text.ts";

export const WEB_PRICE = { unit: "per_operation", operation_price: "0.1" } as const;
export const PAGE_MEMBER = { url: address("The page's public http or https address.") };
export const SAMPLE = { url: "https://example.com/" } as const;

/** Without its parameters, in lower case. */
export function typeOf({ contentType }: InputPage): string {
  return contentType.split(";", 1).join("").trim().toLowerCase();
}

/** The page as a browser gets it: as HTML if the server names no type. */
export function htmlOf({ path, contentType }: InputPage): { readonly path: string; readonly contentType: string } {
  return { path, contentType: contentType === "" ? "text/html" : contentType };
}

/** The place in which a page says what it is written in (HTML standard, 13.2.3.2). */
const HEAD_BYTES = 1_024;

/** Decoded by its byte order mark, its server, its own head, or its bytes, in this order. */
export async function pageText({ path, contentType }: InputPage): Promise<DecodedText> {
  const bytes = await Bun.file(path).bytes();
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString("latin1");
  return decodeText(bytes, { declared: knownCharset(charsetOf(contentType)) ?? charsetIn(head) });
}

function charsetOf(text: string): string | undefined {
  return /(?:charset|encoding)\s{0,9}=\s{0,9}["']?([a-z0-9_:.+-]{1,40})/i.exec(text)?.[1];
}

/** Charset that the head of a page declares; declarations in comments and unknown names are ignored. */
function charsetIn(head: string): string | undefined {
  const tags = head.replaceAll(/<!--[^]*?-->/g, "").match(/<\?xml\s[^>]*>|<meta\s[^>]*>/gi) ?? [];
  const named = tags.map((tag) => knownCharset(charsetOf(tag))).find((name) => name !== undefined);
  // A head that reads as single bytes is not in 16 bits (HTML standard, 13.2.3.2).
  if (named?.startsWith("utf-16") === true) return "utf-8";
  return named === "x-user-defined" ? "windows-1252" : named;
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

/** By its first element where that is a known one: servers send feeds as anything. @throws MediaError unsupported */
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

/** Absolute, without user information; undefined for what is no address of the web. */
export function resolved(href: string, base: string): URL | undefined {
  const url = URL.canParse(href.trim(), base) ? new URL(href.trim(), base) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  [url.username, url.password] = ["", ""];
  return url;
}
