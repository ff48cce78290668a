/** Links and metadata of a page of HTML, read in one pass and without a tree: pages may be long. */
import { parseHTML } from "linkedom";

import { MediaError } from "#shared/children/media-error.ts";

export interface Anchor {
  readonly href: string;
  readonly text: string;
  readonly rel?: string;
}

export interface HtmlNames {
  /** Base address of its links, if the page names one. */
  readonly base: string | undefined;
  readonly anchors: readonly Anchor[];
  /** `link` elements. */
  readonly relations: readonly {
    readonly rel: string;
    readonly href: string;
    readonly type: string;
    readonly title: string;
  }[];
  /** Title, language and named ones. */
  readonly meta: ReadonlyMap<string, string>;
}

const TEXT_CHARACTERS_MAX = 200;
const META_CHARACTERS_MAX = 1_000;
const META_MAX = 100;

interface Open {
  readonly href: string;
  readonly rel: string | null;
  text: string;
}

/** @throws MediaError corrupt */
export function namesIn(html: string): HtmlNames {
  const anchors: Open[] = [];
  const relations: HtmlNames["relations"][number][] = [];
  const meta = new Map<string, string>();
  let base: string | undefined;
  let title = "";
  const put = (name: string, value: string): void => {
    const word = decoded(name).trim().toLowerCase().slice(0, 100);
    if (word === "" || value === "" || meta.has(word) || meta.size >= META_MAX) return;
    meta.set(word, words(value, META_CHARACTERS_MAX));
  };
  const rewriter = new HTMLRewriter()
    .on("html[lang]", { element: (element) => put("language", element.getAttribute("lang") ?? "") })
    .on("base[href]", { element: (element) => void (base ??= decoded(element.getAttribute("href") ?? "")) })
    .on("head title", {
      text(piece) {
        if (title.length < META_CHARACTERS_MAX) title += piece.text;
      },
    })
    .on("meta[content]", {
      element(element) {
        const name = element.getAttribute("name") ?? element.getAttribute("property") ?? "";
        put(name, element.getAttribute("content") ?? "");
      },
    })
    .on("link[rel][href]", {
      element(element) {
        const [rel = "", href = "", type = "", named = ""] = ["rel", "href", "type", "title"].map((name) =>
          decoded(element.getAttribute(name) ?? ""),
        );
        relations.push({ rel: rel.toLowerCase(), href, type: type.toLowerCase(), title: words(named) });
      },
    })
    .on("a[href], area[href]", {
      element(element) {
        const href = element.getAttribute("href") ?? "";
        anchors.push({ href, rel: element.getAttribute("rel"), text: element.getAttribute("alt") ?? "" });
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
  put("title", title);
  return {
    base,
    relations,
    meta,
    anchors: anchors.map(({ href, rel, text }) => ({
      href: decoded(href),
      text: words(text),
      ...(rel === null ? {} : { rel: words(rel) }),
    })),
  };
}

function words(raw: string, max = TEXT_CHARACTERS_MAX): string {
  return decoded(raw.slice(0, max * 2))
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, max)
    .toWellFormed();
}

/** No address or name that is longer means anything. */
const RAW_CHARACTERS_MAX = 8_000;

/** The rewriter gives what stands in the page, with its entities. */
function decoded(raw: string): string {
  if (raw.length > RAW_CHARACTERS_MAX) return "";
  if (!raw.includes("&")) return raw;
  const { document } = parseHTML(`<p>${raw.replaceAll("<", "&lt;")}</p>`) as unknown as {
    readonly document: { querySelector(selector: string): { readonly textContent: string } | null };
  };
  return document.querySelector("p")?.textContent ?? raw;
}
