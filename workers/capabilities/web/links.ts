import { CAPABILITY_TEXT_BYTES_MAX } from "#workers/capabilities/limits.ts";

import { defineCapability } from "../define.ts";
import { choice, flag, integer, list } from "../params.ts";

import { type Entry, readFeed, readSitemap } from "./feeds.ts";
import { namesIn } from "./html-links.ts";
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

/** Entry whose further members are returned unchanged. */
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

/** Longest listed address, in characters. */
const ADDRESS_CHARACTERS_MAX = 4_000;

/** Collects lists without duplicate addresses. All lists together are limited to the largest text of a result. */
function openLists({ base, page, max, sameHost }: Bounds) {
  const { host } = new URL(page);
  let bytes = 0;
  let isCut = false;
  return {
    /** @param options `anyHost`: also lists links to other hosts; `keepsUnlinked`: lists entries without a link, without `url`, and entries with equal links */
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
