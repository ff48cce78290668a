/** Converts HTML to Markdown and to plain text. */
import TurndownService from "turndown";

import { checkParts, TABLE_PARTS } from "./html-parts.ts";
import { isInTable, tables } from "./document/html-tables.ts";
import { escapeInline, escapeText } from "./markdown-text.ts";
import { guarded } from "./document/markdown.ts";
import { DOCUMENT_TAGS_MAX } from "./limits.ts";

/** HTML elements whose content browsers do not show as text. */
const HIDDEN = new Set(["SCRIPT", "STYLE", "HEAD", "TITLE", "NOSCRIPT", "TEMPLATE", "IFRAME", "OBJECT", "SVG"]);

/**
 * Elements that browsers show as blocks and turndown treats as inline. Without this list, their text would be joined to the text beside
 * them.
 */
const MORE_BLOCKS = ["details", "dialog", "legend", "optgroup", "option", "search", "summary"] as const;

/** True if an element is hidden. Names are compared case-insensitively, because SVG elements have lowercase names. */
function isHidden({ nodeName }: { readonly nodeName: string }): boolean {
  return HIDDEN.has(nodeName.toUpperCase());
}

function isMoreBlock(nodeName: string): boolean {
  return (MORE_BLOCKS as readonly string[]).includes(nodeName.toLowerCase());
}

/** Converts HTML to Markdown. @throws MediaError too_large if the HTML has too many table rows or cells, or is nested too deeply */
export function markdownOf(html: string): string {
  checkParts(html, TABLE_PARTS);
  const service = new TurndownService({ headingStyle: "atx", bulletListMarker: "-" });
  service.escape = escapeText;
  service.use([marks, links, code, tables]);
  service.addRule("heading", {
    filter: ["h1", "h2", "h3", "h4", "h5", "h6"],
    // Escaped, because Markdown drops a closing run of # from a heading.
    replacement: (content, { nodeName }) =>
      `\n\n${"#".repeat(Number(nodeName[1]))} ${inOneLine(content).replace(/(?<=^|\s)#+$/, String.raw`\$&`)}\n\n`,
  });
  service.addRule("task", {
    filter: (node) =>
      node.nodeName === "INPUT" && node.getAttribute("type") === "checkbox" && node.parentNode?.nodeName === "LI",
    replacement: (_content, node) => ((node as Element).hasAttribute("checked") ? "[x] " : "[ ] "),
  });
  service.addRule("block", { filter: [...MORE_BLOCKS], replacement: (content) => `\n\n${content}\n\n` });
  service.remove(isHidden);
  return `${guarded(() => service.turndown(html))
    .replaceAll(`!${LINK_START}`, String.raw`\!`)
    .replaceAll(LINK_START, "")}\n`;
}

/** Converts HTML to plain text. @throws MediaError too_large if the HTML has too many tags, or is nested too deeply */
export function textOfHtml(html: string): string {
  checkParts(html, [{ name: "tags", pattern: /</g, max: DOCUMENT_TAGS_MAX }]);
  const service = new TurndownService();
  service.escape = (text) => text;
  service.remove(isHidden);
  service.addRule("text", {
    filter: (node) => !isHidden(node),
    replacement(content, node) {
      const { nodeName } = node;
      if (nodeName === "BR") return "\n";
      if (nodeName === "TD" || nodeName === "TH") return `${content.trim()}\t`;
      if (nodeName === "TR") return `\n${content.trimEnd()}`;
      if (nodeName === "LI") return `\n${content.trim()}`;
      const isBlock = (node as unknown as { readonly isBlock: boolean }).isBlock || isMoreBlock(nodeName);
      return isBlock ? `\n\n${content}\n\n` : content;
    },
  });
  return guarded(() => service.turndown(html)).replaceAll(/\n{3,}/g, "\n\n").trim(); // prettier-ignore
}

/**
 * Placeholder that is written before each link. If the text before a link ends with an exclamation mark, the mark is escaped, because the
 * link would otherwise become an image. HTML cannot contain this character.
 */
const LINK_START = "\0";

/** Members of turndown's nodes that this file uses. */
interface Element {
  readonly nodeName: string;
  readonly nodeType: number;
  readonly textContent: string | null;
  readonly previousSibling: Element | null;
  readonly nextSibling: Element | null;
  readonly parentNode: Element | null;
  readonly className: string;
  readonly isBlock?: boolean;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  querySelector(selector: string): Element | null;
}

function inOneLine(content: string): string {
  const lines = content.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" ");
}

const MARKS: Readonly<Record<string, string>> = {
  EM: "_",
  I: "_",
  STRONG: "**",
  B: "**",
  DEL: "~~",
  S: "~~",
  STRIKE: "~~",
};

/**
 * Adds a rule that writes emphasis as Markdown marks. At positions where Markdown does not recognize a mark, the rule writes HTML tags
 * instead.
 */
function marks(service: TurndownService): void {
  service.addRule("marks", {
    filter: (node) => Object.hasOwn(MARKS, node.nodeName),
    replacement(content, node, _options) {
      const element = node as unknown as Element & {
        readonly flankingWhitespace: { readonly leading: string; readonly trailing: string };
      };
      const mark = MARKS[element.nodeName] ?? "";
      // Emphasis cannot span paragraphs, and a nested mark of the same kind would mean a different one.
      if (content.trim() === "" || /\n\s*\n/.test(content) || isWithin(element.parentNode, mark)) return content;
      const { leading, trailing } = element.flankingWhitespace;
      const before = leading === "" ? neighbour(element, "previousSibling") : " ";
      const after = trailing === "" ? neighbour(element, "nextSibling") : " ";
      const opens = canFlank(before, content[0] ?? "");
      const closes = canFlank(after, content.at(-1) ?? "");
      if (!opens || !closes || before === MARKED || after === MARKED) {
        const tag = TAGS[mark] ?? "";
        return `<${tag}>${content}</${tag}>`;
      }
      const own = mark === "_" && /[\p{L}\p{N}]/u.test(before + after) ? "*" : mark;
      return `${own}${content}${own}`;
    },
  });
}

const TAGS: Readonly<Record<string, string>> = { _: "em", "**": "strong", "~~": "del" };
/** Value that `neighbour` returns for an adjacent element that contains emphasis. */
const MARKED = "*";

function isWithin(outer: Element | null, mark: string): boolean {
  for (let at = outer; at && at.isBlock !== true; at = at.parentNode) if (MARKS[at.nodeName] === mark) return true;
  return false;
}

/** Returns the character before or after an element within its block; empty at the edge of the block. */
function neighbour(element: Element, side: "previousSibling" | "nextSibling"): string {
  for (let at: Element | null = element; at && at.isBlock !== true; at = at.parentNode) {
    const sibling = at[side];
    if (!sibling) continue;
    if (sibling.nodeName === "BR" || sibling.isBlock === true) return "";
    if (sibling.nodeType === 1 && (Object.hasOwn(MARKS, sibling.nodeName) || sibling.querySelector(MARKED_ELEMENTS)))
      return MARKED;
    const text = sibling.textContent ?? "";
    return (side === "nextSibling" ? text[0] : text.at(-1)) ?? "";
  }
  return "";
}

const MARKED_ELEMENTS = Object.keys(MARKS).join(",").toLowerCase();

/**
 * True if Markdown recognizes an emphasis mark between two characters. If the mark follows or precedes a letter, the marked text must not
 * begin or end with punctuation (CommonMark, 6.2).
 */
function canFlank(outside: string, inside: string): boolean {
  return outside === "" || /[\s\p{P}\p{S}]/u.test(outside) || !/[\p{P}\p{S}]/u.test(inside);
}

function links(service: TurndownService): void {
  service.addRule("link", {
    filter: (node) => node.nodeName === "A" && Boolean(node.getAttribute("href")),
    replacement(content, node) {
      // A link cannot contain blocks, such as the heading of a card, so their text is joined into one line.
      const text = /\n/.test(content.trim())
        ? inOneLine(content.replaceAll(/^[ \t]*(?:#{1,6}|[-+*>]|\d+\.)[ \t]+/gm, ""))
        : content;
      return `${LINK_START}[${text}](${target(node, "href")})`;
    },
  });
  service.addRule("image", {
    filter: "img",
    replacement(_content, node) {
      const image = node as unknown as Element;
      const alt = escapeInline(inOneLine(image.getAttribute("alt") ?? ""));
      return image.getAttribute("src") ? `![${alt}](${target(image, "src")})` : "";
    },
  });
}

/** Returns the URL and the title of a link or an image, as written in Markdown. */
function target(element: Element, attribute: "href" | "src"): string {
  const address = (element.getAttribute(attribute) ?? "").trim().replaceAll(/[\s\p{Cc}]/gu, encodeURIComponent);
  const title = inOneLine(element.getAttribute("title") ?? "");
  const written = address.replaceAll(/[\\()<>`]|&(?=#?\w+;)/g, String.raw`\$&`);
  return title === "" ? written : `${written} "${title.replaceAll(/[\\"`<]|&(?=#?\w+;)/g, String.raw`\$&`)}"`;
}

function code(service: TurndownService): void {
  service.addRule("code", {
    filter: (node) => node.nodeName === "CODE" && node.parentNode?.nodeName !== "PRE",
    replacement(_content, node) {
      const text = (node.textContent ?? "").replaceAll(/\r\n?|\n/g, " ");
      if (text.trim() === "") return text;
      // In a table, a code span cannot contain a backslash before a pipe.
      if (/\\\|/.test(text) && isInTable(node)) return codeTag(text);
      const tick = "`".repeat(freeRun(text, 1));
      const space = /^`|`$|^ .* $/.test(text) ? " " : "";
      return `${tick}${space}${text}${space}${tick}`;
    },
  });
  service.addRule("preformatted", {
    filter: "pre",
    replacement(_content, node) {
      const text = (node.textContent ?? "").replace(/\n$/, "");
      if (isInTable(node)) return codeTag(text);
      const pre = node as unknown as Element;
      const names = `${pre.querySelector("code")?.className ?? ""} ${pre.className} ${pre.parentNode?.className ?? ""}`;
      const language = /(?:^|\s)(?:lang(?:uage)?|highlight-(?:text|source))-([^\s`]+)/.exec(names)?.[1] ?? "";
      const fence = "`".repeat(freeRun(text, 3));
      return `\n\n${fence}${language}\n${text}\n${fence}\n\n`;
    },
  });
}

/** Returns the length of a backtick fence for a text. It is the shortest length, at least `min`, that does not occur in the text. */
function freeRun(text: string, min: number): number {
  const runs = new Set((text.match(/`+/g) ?? []).map(({ length }) => length));
  let length = min;
  while (min === 1 ? runs.has(length) : [...runs].some((run) => run >= length)) length++;
  return length;
}

/** Returns code as one line of HTML. Every special character of Markdown becomes a numeric entity. */
function codeTag(text: string): string {
  const line = text.replaceAll(/[!-/:-@[-`{-~]/g, (sign) => `&#${sign.codePointAt(0)};`).replaceAll("\n", "<br>");
  return `<code>${line}</code>`;
}
