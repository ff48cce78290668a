/** Converts Markdown to plain text. */
import { type Block, blocksOf, plain } from "./markdown.ts";

export function blocksText(markdown: string): string {
  return blocksOf(markdown).map(textOf).filter((text) => text !== "").join("\n\n"); // prettier-ignore
}

function textOf(block: Block): string {
  switch (block.kind) {
    case "heading":
    case "paragraph":
      return plain(block.runs);
    case "code":
      return block.text;
    case "quote":
      return block.blocks.map(textOf).join("\n");
    case "list":
      return block.items.map((item) => item.map(textOf).join("\n")).join("\n");
    case "table":
      return [block.head, ...block.rows].map((row) => row.map(plain).join("\t")).join("\n");
    case "rule":
      return "";
    default:
      return block satisfies never;
  }
}
