/** Reads links and metadata of HTML in one pass without a tree, because pages may be long. */
import { decodeHTML, decodeHTMLAttribute } from "entities";

import { MediaError } from "#shared/children/media-error.ts";

export interface Anchor {
  readonly href: string;
  readonly text: string;
  readonly rel?: string;
}

export interface HtmlNames {
  /** Base address from the page's `base` element; undefined without one. */
  readonly base: string | undefined;
  readonly anchors: readonly Anchor[];
  /** Links from `link` elements. */
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
  /** Text of the element, with undecoded character references. */
  text: string;
}

/** @throws MediaError corrupt */
export function namesIn(html: string): HtmlNames {
  const anchors: Open[] = [];
  const relations: HtmlNames["relations"][number][] = [];
  const meta = new Map<string, string>();
  let base: string | undefined;
  let title = "";
  let [titles, drawings] = [0, 0];
  const put = (name: string, value: string): void => {
    const word = attributeValue(name).trim().toLowerCase().slice(0, 100);
    if (word === "" || value === "" || meta.has(word) || meta.size >= META_MAX) return;
    meta.set(word, oneLine(value, META_CHARACTERS_MAX));
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

/** Longest attribute value that is read, in characters. */
const RAW_CHARACTERS_MAX = 8_000;

/**
 * Decodes character references in an attribute. In an attribute, `&copy=` and `&sectionx` are not references but parts of addresses (HTML
 * standard, 13.2.5.73).
 */
function attributeValue(raw: string | null): string {
  return raw === null || raw.length > RAW_CHARACTERS_MAX ? "" : decodeHTMLAttribute(raw);
}
