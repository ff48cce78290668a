import { decodeHTML, decodeHTMLAttribute } from "entities";
import { DetectError, parseFeed } from "feedsmith";

import { MediaError } from "#shared/children/media-error.ts";
import { CAPABILITY_TEXT_BYTES_MAX } from "#workers/capabilities/limits.ts";

import { defineCapability } from "../define.ts";
import { choice, flag, integer, list } from "../params.ts";
import { unreadable, xmlOf } from "../text.ts";
import { formOf, PAGE_MEMBER, pageText, resolved, SAMPLE, WEB_PRICE } from "./page.ts";
import { sitemapsOf } from "./robots.ts";

const KINDS = ["links", "meta", "feed", "sitemap"] as const;

export default defineCapability({
  id: "web.links",
  display_name: "Page links",
  description: "Lists the links of a page, feed, sitemap or robots.txt, and the metadata of a page.",
  long_description:
    "`links` lists the addresses on the page, each once. `meta` returns its title, language, description and other metadata. `feed` returns " +
    "`feeds`, the feeds that the page declares, and the `items` of a feed; an item without a link has no `url`. `sitemap` returns `sitemaps`, the declared or " +
    "listed, and the `pages` of a sitemap. `charset` is the encoding that the page was decoded with. Only the given address is fetched.",
  output_modality: "text",
  input: PAGE_MEMBER,
  params: {
    kinds: list("Kinds of entries to list.", choice("One kind.", KINDS, { required: true }), {
      default: ["links", "meta"],
      max: KINDS.length,
    }),
    same_host: flag("Skip links to other hosts.", false),
    max: integer("Maximum length of each list.", { min: 1, max: 5_000, default: 500 }),
  },
  sample_input: SAMPLE,
  examples: [
    { title: "Links and metadata", params: {} },
    { title: "Links of the same host, and feeds", params: { kinds: ["links", "feed"], same_host: true } },
  ],
  price: WEB_PRICE,
  engine: "web",
  async run({ params: { kinds, same_host: sameHost, max }, inputs: { url: page } }) {
    const { text, charset } = await pageText(page);
    const found = read(formOf(page, text), text, page.address);
    const lists = openLists({ base: found.base, page: page.address, max, sameHost });
    const output: Record<string, unknown> = { url: page.address, charset };
    if (kinds.includes("links")) output["links"] = lists.add(found.links);
    if (kinds.includes("meta")) output["meta"] = found.meta;
    if (kinds.includes("feed")) {
      output["feeds"] = lists.add(found.feeds, { anyHost: true });
      if (found.items) output["items"] = lists.add(found.items, { keepsUnlinked: true });
    }
    if (kinds.includes("sitemap")) {
      output["sitemaps"] = lists.add(found.sitemaps, { anyHost: true });
      if (found.pages) output["pages"] = lists.add(found.pages);
    }
    return { output: { ...output, is_cut: lists.isCut() } };
  },
});

/** Entry of a list of links. Its additional members are returned unchanged. */
type Named = Entry & Readonly<Record<string, unknown>>;

interface Found {
  readonly base: string;
  readonly links: readonly Named[];
  readonly meta: Readonly<Record<string, string>>;
  readonly feeds: readonly Named[];
  readonly items?: readonly Named[];
  readonly sitemaps: readonly Named[];
  readonly pages?: readonly Named[];
}

function read(form: ReturnType<typeof formOf>, text: string, address: string): Found {
  const none: Found = { base: address, links: [], meta: {}, feeds: [], sitemaps: [] };
  if (form === "html") return readHtml(text, address);
  if (form === "sitemap") {
    const { sitemaps, pages } = readSitemap(text) as { readonly sitemaps: Named[]; readonly pages: Named[] };
    return { ...none, links: [...sitemaps, ...pages], sitemaps, pages };
  }
  if (form === "text") {
    const isRobots = new URL(address).pathname === "/robots.txt";
    return isRobots ? { ...none, sitemaps: sitemapsOf(text).map((href) => ({ href })) } : none;
  }
  const feed = readFeed(text, address);
  if (!feed) return none;
  const { format, title, description } = feed;
  const meta = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
  const items = feed.entries as readonly Named[];
  return {
    ...none,
    meta,
    links: items,
    items,
    feeds: [{ href: address, ...(title === undefined ? {} : { title }), format }],
  };
}

const FEED_TYPE = /^application\/(?:(rss|atom|rdf)\+xml|feed\+json)$/;

function readHtml(text: string, address: string): Found {
  const { base: named, anchors, relations, meta } = namesIn(text);
  const base = resolved(named ?? "", address)?.href ?? address;
  const of = (rel: string) => relations.filter((one) => one.rel.split(/\s+/).includes(rel));
  const canonical = resolved(of("canonical")[0]?.href ?? "data:", base)?.href;
  return {
    base,
    links: anchors.flatMap(({ href, text: title, rel }) =>
      /^\s*#/.test(href) ? [] : [{ href, title, ...(rel === undefined ? {} : { rel }) }],
    ),
    meta: { ...Object.fromEntries(meta), ...(canonical === undefined ? {} : { canonical }) },
    feeds: of("alternate").flatMap(({ href, type, title }) => {
      const format = FEED_TYPE.exec(type);
      return format ? [{ href, title, format: format[1] ?? "json" }] : [];
    }),
    sitemaps: of("sitemap").map(({ href }) => ({ href })),
  };
}

interface Bounds {
  readonly base: string;
  readonly page: string;
  readonly max: number;
  readonly sameHost: boolean;
}

/** Maximum characters of a listed URL. */
const ADDRESS_CHARACTERS_MAX = 4_000;

/** Collects lists of links without duplicate URLs. All lists together are limited to the maximum text of a result. */
function openLists({ base, page, max, sameHost }: Bounds) {
  const { host } = new URL(page);
  let bytes = 0;
  let isCut = false;
  return {
    /**
     * Returns the entries as a list without duplicates.
     * @param options `anyHost`: include links to other hosts even if `sameHost` is set; `keepsUnlinked`: include entries without a link,
     * and different entries with the same link
     */
    add(
      entries: readonly Named[],
      { anyHost = false, keepsUnlinked = false }: { readonly anyHost?: boolean; readonly keepsUnlinked?: boolean } = {},
    ): readonly object[] {
      const listed = new Map<unknown, object>();
      for (const entry of entries) {
        const { href, ...more } = entry;
        const url = href === "" ? undefined : resolved(href, base);
        if (url ? url.href.length > ADDRESS_CHARACTERS_MAX : !keepsUnlinked) continue;
        const one = url ? { url: url.href, ...more } : more;
        // Different items of a feed may have the same link, such as the home page.
        const key = url ? (keepsUnlinked ? JSON.stringify(one) : url.href) : entry;
        if (listed.has(key) || (url && sameHost && !anyHost && url.host !== host)) continue;
        bytes += Buffer.byteLength(JSON.stringify(one));
        isCut ||= listed.size >= max || bytes > CAPABILITY_TEXT_BYTES_MAX;
        if (listed.size >= max || bytes > CAPABILITY_TEXT_BYTES_MAX) break;
        listed.set(key, one);
      }
      return [...listed.values()];
    },
    isCut: () => isCut,
  };
}

// Parses feeds and sitemaps into lists of pages.

interface Entry {
  /** URL of the entry's page; empty if it has none. */
  readonly href: string;
  readonly title?: string;
  /** Date of the entry, in the format of the feed's author. */
  readonly date?: string;
}

interface Feed {
  readonly format: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly entries: readonly Entry[];
}

/** Parses a feed. Returns undefined if the text is not a feed. @param address base of relative links @throws MediaError corrupt */
function readFeed(text: string, address: string): Feed | undefined {
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

/**
 * Returns the text of a feed's title. If `type` is a media type other than text or XML, the text is decoded from base64 (RFC 4287,
 * 4.1.3.3).
 */
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

/**
 * Returns the link to the page of an entry, preferably to an HTML page. Links with the relations `edit`, `self` and `enclosure` have other
 * targets.
 */
function alternateOf(links: readonly FeedLink[]): string | undefined {
  const alternates = links.filter(({ rel = "alternate" }) => rel.replace(RELATIONS, "").toLowerCase() === "alternate");
  const html = alternates.find(({ type = "text/html" }) => /^(?:text\/html|application\/xhtml\+xml)\b/i.test(type));
  return (html ?? alternates[0])?.href;
}

/** Returns the absolute URL in a `guid` element; undefined if it is marked as another kind of identifier (RSS 2.0). */
function permalinkOf(
  guid: { readonly value?: string; readonly isPermaLink?: boolean } | undefined,
): string | undefined {
  const { value = "", isPermaLink = true } = guid ?? {};
  return isPermaLink && /^\s*https?:\/\//i.test(value) ? value : undefined;
}

/** Resolves a link. The base is the feed's URL, and the `xml:base` of feed and entry if present. */
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

interface Sitemap {
  /** Links to other sitemaps. */
  readonly sitemaps: readonly Entry[];
  readonly pages: readonly Entry[];
}

/**
 * Parses a sitemap into its links to pages and to other sitemaps.
 * @throws MediaError corrupt
 */
function readSitemap(text: string): Sitemap {
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

// Reads links and metadata of HTML in one pass without a tree, because pages may be long.

interface Anchor {
  readonly href: string;
  readonly text: string;
  readonly rel?: string;
}

interface HtmlNames {
  /** URL in the page's `base` element; undefined without one. */
  readonly base: string | undefined;
  readonly anchors: readonly Anchor[];
  /** Links in the page's `link` elements. */
  readonly relations: readonly {
    readonly rel: string;
    readonly href: string;
    readonly type: string;
    readonly title: string;
  }[];
  /** Title, language, and named `meta` elements. */
  readonly meta: ReadonlyMap<string, string>;
}

const TEXT_CHARACTERS_MAX = 200;
const META_CHARACTERS_MAX = 1_000;
const META_MAX = 100;

interface Open {
  readonly href: string;
  readonly rel: string | null;
  readonly alt: string;
  /** Text of the link, in which character references are not decoded yet. */
  text: string;
}

/**
 * Parses the links, title, language and named `meta` elements of an HTML page.
 * @throws MediaError corrupt
 */
function namesIn(html: string): HtmlNames {
  const anchors: Open[] = [];
  const relations: HtmlNames["relations"][number][] = [];
  const meta = new Map<string, string>();
  let base: string | undefined;
  let title = "";
  let [titles, drawings] = [0, 0];
  const put = (name: string, value: string): void => {
    const key = attributeValue(name).trim().toLowerCase().slice(0, 100);
    if (key === "" || value === "" || meta.has(key) || meta.size >= META_MAX) return;
    meta.set(key, oneLine(value, META_CHARACTERS_MAX));
  };
  const rewriter = new HTMLRewriter()
    .on("html[lang]", { element: (element) => put("language", attributeValue(element.getAttribute("lang"))) })
    .on("base[href]", { element: (element) => void (base ??= attributeValue(element.getAttribute("href"))) })
    .on("svg", {
      element(element) {
        if (!element.canHaveContent) return;
        drawings += 1;
        element.onEndTag(() => void (drawings -= 1));
      },
    })
    // Head tags are optional, and SVG elements contain titles of their own.
    .on("title", {
      element() {
        if (drawings === 0) titles += 1;
      },
      text(piece) {
        if (drawings === 0 && titles === 1 && title.length < META_CHARACTERS_MAX) title += piece.text;
      },
    })
    .on("meta[content]", {
      element(element) {
        const name = element.getAttribute("name") ?? element.getAttribute("property") ?? "";
        put(name, attributeValue(element.getAttribute("content")));
      },
    })
    .on("link[rel][href]", {
      element(element) {
        const [rel = "", href = "", type = "", named = ""] = ["rel", "href", "type", "title"].map((name) =>
          attributeValue(element.getAttribute(name)),
        );
        relations.push({ rel: rel.toLowerCase(), href, type: type.toLowerCase(), title: oneLine(named) });
      },
    })
    .on("a[href], area[href]", {
      element(element) {
        const [href, alt] = ["href", "alt"].map((name) => attributeValue(element.getAttribute(name))) as [
          string,
          string,
        ];
        anchors.push({ href, alt, rel: element.getAttribute("rel"), text: "" });
      },
      text(piece) {
        const last = anchors.at(-1);
        if (last && last.text.length < TEXT_CHARACTERS_MAX * 2) last.text += piece.text;
      },
    });
  try {
    rewriter.transform(html);
  } catch (error) {
    throw new MediaError("corrupt", "The page cannot be read as HTML.", { cause: error });
  }
  put("title", decodeHTML(title.slice(0, 2 * META_CHARACTERS_MAX)));
  return {
    base,
    relations,
    meta,
    anchors: anchors.map(({ href, rel, alt, text }) => ({
      href,
      text: oneLine(text === "" ? alt : decodeHTML(text.slice(0, META_CHARACTERS_MAX))),
      ...(rel === null ? {} : { rel: oneLine(attributeValue(rel)) }),
    })),
  };
}

function oneLine(text: string, max = TEXT_CHARACTERS_MAX): string {
  return text
    .slice(0, max * 2)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, max)
    .toWellFormed();
}

/** Maximum characters of an attribute value. Longer values are treated as empty. */
const RAW_CHARACTERS_MAX = 8_000;

/**
 * Decodes the character references in an attribute value. In attributes, `&copy=` and `&sectionx` are part of URLs and not references (HTML
 * standard, 13.2.5.73).
 */
function attributeValue(raw: string | null): string {
  return raw === null || raw.length > RAW_CHARACTERS_MAX ? "" : decodeHTMLAttribute(raw);
}
