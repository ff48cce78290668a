/** Feeds and sitemaps, as lists of pages. */
import { DetectError, parseFeed } from "feedsmith";

import { unreadable, xmlOf } from "../text.ts";

export interface Entry {
  readonly href: string;
  readonly title?: string;
  /** Date as the author wrote it. */
  readonly date?: string;
}

export interface Feed {
  readonly format: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly entries: readonly Entry[];
}

/** Undefined for what is no feed. @throws MediaError corrupt */
export function readFeed(text: string): Feed | undefined {
  try {
    const { format, feed } = parseFeed(text);
    switch (format) {
      case "atom":
        return {
          format,
          title: feed.title?.value,
          description: feed.subtitle?.value,
          entries: (feed.entries ?? []).map(({ links = [], title, published, updated }) => {
            const link = links.find(({ rel = "alternate" }) => rel === "alternate") ?? links[0];
            return entry(link?.href, title?.value, published ?? updated);
          }),
        };
      case "json":
        return {
          format,
          title: feed.title,
          description: feed.description,
          entries: (feed.items ?? []).map((item) => entry(item.url, item.title, item.date_published)),
        };
      case "rss":
        return {
          format,
          title: feed.title,
          description: feed.description,
          entries: (feed.items ?? []).map((item) => entry(item.link ?? item.guid?.value, item.title, item.pubDate)),
        };
      case "rdf":
        return {
          format,
          title: feed.title,
          description: feed.description,
          entries: (feed.items ?? []).map((item) => entry(item.link, item.title, undefined)),
        };
      default:
        return format satisfies never;
    }
  } catch (error) {
    if (error instanceof DetectError) return undefined;
    throw unreadable("feed", error);
  }
}

function entry(href: string | undefined, title: string | undefined, date: unknown): Entry {
  return {
    href: href ?? "",
    ...(title === undefined ? {} : { title }),
    ...(typeof date === "string" ? { date } : {}),
  };
}

export interface Sitemap {
  /** Other sitemaps. */
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
    // With attributes it is an element of its own.
    const href = memberOf(place, "#text") ?? place;
    return typeof href === "string" ? [entry(href, undefined, date)] : [];
  });
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
