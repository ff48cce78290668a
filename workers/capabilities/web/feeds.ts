/** Parses feeds and sitemaps into lists of pages. */
import { DetectError, parseFeed } from "feedsmith";

import { unreadable, xmlOf } from "../text.ts";

export interface Entry {
  /** Link of the entry; empty if it has none. */
  readonly href: string;
  readonly title?: string;
  /** Date in the author's format. */
  readonly date?: string;
}

export interface Feed {
  readonly format: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly entries: readonly Entry[];
}

/** Returns undefined if the text is not a feed. @param address base of relative links @throws MediaError corrupt */
export function readFeed(text: string, address: string): Feed | undefined {
  try {
    const { format, feed } = parseFeed(text);
    switch (format) {
      case "atom":
        return {
          format,
          title: textOf(feed.title),
          description: textOf(feed.subtitle),
          entries: (feed.entries ?? []).map(({ links = [], title, published, updated, xml }) =>
            entry(from(address, alternateOf(links), feed.xml?.base, xml?.base), textOf(title), published ?? updated),
          ),
        };
      case "json":
        return {
          format,
          title: feed.title,
          description: feed.description,
          entries: (feed.items ?? []).map((item) =>
            entry(item.url ?? item.external_url, item.title, item.date_published),
          ),
        };
      case "rss":
        // Many feeds use Dublin Core, Media RSS or the podcast namespace instead of RSS's own elements.
        return {
          format,
          title: feed.title ?? feed.dc?.titles?.[0],
          description: feed.description ?? feed.itunes?.summary ?? feed.itunes?.subtitle,
          entries: (feed.items ?? []).map(({ link, guid, atom, title, pubDate, xml, dc, dcterms, media }) =>
            entry(
              from(address, link ?? permalinkOf(guid) ?? alternateOf(atom?.links ?? []), feed.xml?.base, xml?.base),
              title ?? dc?.titles?.[0] ?? media?.title?.value,
              pubDate ?? dc?.dates?.[0] ?? dcterms?.issued?.[0] ?? dcterms?.modified?.[0],
            ),
          ),
        };
      case "rdf":
        return {
          format,
          title: feed.title,
          description: feed.description,
          entries: (feed.items ?? []).map((item) => entry(item.link, item.title, item.dc?.dates?.[0])),
        };
      default:
        return format satisfies never;
    }
  } catch (error) {
    if (error instanceof DetectError) return undefined;
    throw unreadable("feed", error);
  }
}

/** Returns a title's text. If its type is a media type other than text or XML, the text is in base64 (RFC 4287, 4.1.3.3). */
function textOf(content: { readonly value?: string; readonly type?: string } | undefined): string | undefined {
  const { value, type = "text" } = content ?? {};
  if (value === undefined || !type.includes("/") || /^text\/|[/+]xml$/i.test(type)) return value;
  return Buffer.from(value, "base64").toString();
}

interface FeedLink {
  readonly href?: string;
  readonly rel?: string;
  readonly type?: string;
}

/** URI prefix of registered link relations, which feeds may write in full (RFC 4287, 4.2.7.2). */
const RELATIONS = "http://www.iana.org/assignments/relation/";

/** Returns the link to the entry, HTML first. `edit`, `self` and `enclosure` are other targets. */
function alternateOf(links: readonly FeedLink[]): string | undefined {
  const alternates = links.filter(({ rel = "alternate" }) => rel.replace(RELATIONS, "").toLowerCase() === "alternate");
  const html = alternates.find(({ type = "text/html" }) => /^(?:text\/html|application\/xhtml\+xml)\b/i.test(type));
  return (html ?? alternates[0])?.href;
}

/** Returns an absolute address in a `guid` that is not marked as another kind of identifier (RSS 2.0). */
function permalinkOf(
  guid: { readonly value?: string; readonly isPermaLink?: boolean } | undefined,
): string | undefined {
  const { value = "", isPermaLink = true } = guid ?? {};
  return isPermaLink && /^\s*https?:\/\//i.test(value) ? value : undefined;
}

/** Resolves a link against the feed's address and the `xml:base` of feed and entry, if present. */
function from(
  address: string,
  href: string | undefined,
  ...bases: readonly (string | undefined)[]
): string | undefined {
  if (href === undefined) return undefined;
  return [...bases, href].reduce<string>(
    (base, one) => (URL.canParse(one ?? "", base) ? new URL(one ?? "", base).href : base),
    address,
  );
}

function entry(href: string | undefined, title: string | undefined, date: unknown): Entry {
  return {
    href: href ?? "",
    ...(title === undefined ? {} : { title }),
    ...(typeof date === "string" ? { date } : {}),
  };
}

export interface Sitemap {
  /** Links to other sitemaps. */
  readonly sitemaps: readonly Entry[];
  readonly pages: readonly Entry[];
}

/** @throws MediaError corrupt */
export function readSitemap(text: string): Sitemap {
  let root: unknown;
  try {
    root = xmlOf(text);
  } catch (error) {
    throw unreadable("sitemap", error);
  }
  return {
    sitemaps: places(memberOf(memberOf(root, "sitemapindex"), "sitemap")),
    pages: places(memberOf(memberOf(root, "urlset"), "url")),
  };
}

function places(found: unknown): readonly Entry[] {
  const all: readonly unknown[] = Array.isArray(found) ? found : [found];
  return all.flatMap((one) => {
    const [place, date] = [memberOf(one, "loc"), memberOf(one, "lastmod")];
    // The parser returns text with attributes as an object.
    const href = memberOf(place, "#text") ?? place;
    return typeof href === "string" ? [entry(href, undefined, date)] : [];
  });
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
