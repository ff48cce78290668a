/** Tests of feedparser: titles, descriptions, links and dates of RSS and Atom feeds, as web.links lists them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { decodeHTML } from "entities";

import { runCapability } from "../in-folder.ts";
import { type Case, testCorpus } from "./corpus.ts";

// Refused: CDF, and a prefix before `rss`. Wrong: titles of Atom 0.3 in base64 (6), markup in an attribute, and `Content-Location` as base.
await testCorpus(
  "feeds of feedparser",
  { name: "feedparser", version: "6.0.12", release: "sid", folder: "tests/wellformed" },
  { right: 180, refused: 6, wrong: 8 },
  casesIn,
);

/** Facts that the capability returns, by their names in the tests. */
const FACTS: Readonly<Record<string, (found: Found, at: number) => string | undefined>> = {
  "feed title": ({ feed }) => feed.title,
  "feed title_detail": ({ feed }) => feed.title,
  "feed subtitle": ({ meta }) => meta.description,
  "feed tagline": ({ meta }) => meta.description,
  "feed description": ({ meta }) => meta.description,
  "entry title": ({ items }, at) => items[at]?.title,
  "entry title_detail": ({ items }, at) => items[at]?.title,
  "entry link": ({ items }, at) => items[at]?.url,
  "entry published": ({ items }, at) => items[at]?.date,
  "entry updated": ({ items }, at) => items[at]?.date,
};

interface Found {
  readonly feed: { readonly title?: string };
  readonly meta: { readonly description?: string };
  readonly items: readonly { readonly title?: string; readonly url?: string; readonly date?: string }[];
}

/** An expectation of one fact, such as `entries[0]['title'] == 'Tea'`. */
const EXPECTED =
  /Expect:\s*not bozo and (feed|entries\[(\d)\])\['(\w+)'\](?:\['value'\])? == u?(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*$/m;

/** Tests of an HTML sanitizer, and of links within the HTML of titles: both are the caller's to do. */
const OTHER_TESTS = /^sanitize\/|(?:title|tagline|subtitle)\w*_base_|relative_uri/;

function* casesIn(folder: string): Iterable<Case> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".xml") && !OTHER_TESTS.test(name),
  );
  for (const name of names.toSorted()) {
    const bytes = readFileSync(join(folder, name));
    const [, place = "", at = "0", fact = "", single, double] = EXPECTED.exec(bytes.toString()) ?? [];
    const read = FACTS[`${place === "feed" ? "feed" : "entry"} ${fact}`];
    if (read === undefined) continue;
    const expected = pythonText(single ?? double ?? "");
    yield {
      name: `${name} ${JSON.stringify(expected)}`,
      isRight: async () => {
        const own = plain(read(await found(name, bytes), Number(at)));
        if (own !== plain(expected)) throw new Error(JSON.stringify(own));
        return true;
      },
    };
  }
}

/** The tests expect that a server of their own serves the files. */
async function found(name: string, bytes: Buffer): Promise<Found> {
  const url = {
    address: `http://127.0.0.1:8097/tests/wellformed/${name}`,
    html: bytes,
    contentType: "application/xml",
  };
  const { output } = await runCapability("web.links", { url }, { kinds: ["feed", "meta"] });
  const { feeds, meta, items } = output as unknown as Pick<Found, "meta"> &
    Partial<Pick<Found, "items">> & { readonly feeds: readonly Found["feed"][] };
  return { feed: feeds[0] ?? {}, meta, items: items ?? [] };
}

/** Text of a string literal of Python. */
function pythonText(literal: string): string {
  return literal.replaceAll(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gi, (_all, ...codes: string[]) => {
    const [two, four, eight, letter = ""] = codes;
    const code = two ?? four ?? eight;
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    return { n: "\n", t: "\t", r: "\r" }[letter] ?? letter;
  });
}

/** Text without markup: a title is the author's HTML or text here, and cleaned HTML there. An address is compared as an address. */
function plain(text = ""): string {
  if (URL.canParse(text)) return new URL(text).href;
  const bare = decodeHTML(text.replaceAll(/<\/?[a-z][^>]*>/gi, ""));
  return decodeHTML(bare)
    .replaceAll(/<\/?[a-z][^>]*>/gi, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
