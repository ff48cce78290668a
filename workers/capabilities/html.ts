/** HTML as Markdown and as plain text. */
import { highlightedCodeBlock, strikethrough, taskListItems } from "@joplin/turndown-plugin-gfm";
import TurndownService from "turndown";

import { checkParts, TABLE_PARTS } from "./html-parts.ts";
import { tables } from "./document/html-tables.ts";
import { guarded } from "./document/markdown.ts";
import { DOCUMENT_TAGS_MAX } from "./limits.ts";

/** Elements that are not for readers. */
const HIDDEN = new Set(["SCRIPT", "STYLE", "HEAD", "TITLE", "NOSCRIPT", "TEMPLATE", "IFRAME", "OBJECT", "SVG"]);

/** Drawings have names in small letters. */
function isHidden({ nodeName }: { readonly nodeName: string }): boolean {
  return HIDDEN.has(nodeName.toUpperCase());
}

/** @throws MediaError too_large, for tables of too many rows or cells, and for what is nested too deeply */
export function markdownOf(html: string): string {
  checkParts(html, TABLE_PARTS);
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  service.use([highlightedCodeBlock, strikethrough, taskListItems, tables]);
  service.remove(isHidden);
  return `${guarded(() => service.turndown(html))}\n`;
}

/** @throws MediaError too_large, for too many tags, and for what is nested too deeply */
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
      return (node as unknown as { readonly isBlock: boolean }).isBlock ? `\n\n${content}\n\n` : content;
    },
  });
  return guarded(() => service.turndown(html)).replaceAll(/\n{3,}/g, "\n\n").trim(); // prettier-ignore
}
