/**
 * Tables of HTML as those of Markdown. Each cell is looked at once: the plugin for it goes through all rows for each of them, and writes
 * out every column that a cell claims to span.
 */
import type TurndownService from "turndown";

/** Members of turndown's nodes that are read here. */
interface Part {
  readonly nodeName: string;
  readonly firstChild: Part | null;
  readonly nextSibling: Part | null;
  readonly parentNode: Part | null;
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
  getElementsByTagName(name: string): { readonly length: number };
}

interface Shape {
  /** Its cells stand one below the other: it holds other tables, or a single cell. */
  readonly isLayout: boolean;
  readonly hasHead: boolean;
  /** Alignment of each column; an empty string for none. */
  readonly aligns: readonly string[];
}

/** Wider cells stand for so many columns. */
const SPAN_MAX = 50;
const BORDERS: Readonly<Record<string, string>> = { left: ":---", right: "---:", center: ":---:" };

export function tables(service: TurndownService): void {
  const shapes = new WeakMap<object, Shape>();
  const shapeAround = (node: Part): Shape => {
    let table = node.parentNode;
    while (table && table.nodeName !== "TABLE") table = table.parentNode;
    if (!table) return LAYOUT;
    const shape = shapes.get(table) ?? shapeOf(table);
    shapes.set(table, shape);
    return shape;
  };
  service.addRule("tableCell", {
    filter: ["th", "td"],
    replacement(content, node) {
      const cell = node as unknown as Part;
      if (shapeAround(cell).isLayout) return `\n\n${content}\n\n`;
      const lines = content.split("\n").map((line) => line.trim()).filter((line) => line !== ""); // prettier-ignore
      return ` ${lines
        .join("<br>")
        .replaceAll("|", String.raw`\|`)
        .padEnd(3)} |${"     |".repeat(spanOf(cell) - 1)}`;
    },
  });
  service.addRule("tableRow", {
    filter: "tr",
    replacement: (content, node) => (shapeAround(node).isLayout ? content : `\n|${content}`),
  });
  service.addRule("tableSection", { filter: ["thead", "tbody", "tfoot"], replacement: (content) => content });
  service.addRule("tableRest", { filter: ["caption", "colgroup", "col"], replacement: () => "" });
  service.addRule("table", {
    filter: "table",
    replacement(content, node) {
      const table = node as unknown as Part;
      const { isLayout, hasHead, aligns } = shapes.get(table) ?? shapeOf(table);
      if (isLayout) return `\n\n${content}\n\n`;
      const rows = content.split("\n").filter((line) => line.length > 1);
      const empty = `|${"     |".repeat(aligns.length)}`;
      const border = `| ${aligns.map((align) => BORDERS[align] ?? "---").join(" | ")} |`;
      const caption =
        childrenOf(table)
          .find(({ nodeName }) => nodeName === "CAPTION")
          ?.textContent?.trim() ?? "";
      const lines = hasHead ? [rows[0], border, ...rows.slice(1)] : [empty, border, ...rows];
      return `\n\n${caption === "" ? "" : `${caption}\n\n`}${lines.join("\n")}\n\n`;
    },
  });
}

const LAYOUT: Shape = { isLayout: true, hasHead: false, aligns: [] };

function shapeOf(table: Part): Shape {
  const rows = childrenOf(table).flatMap((child) => {
    if (child.nodeName === "TR") return [child];
    return SECTIONS.has(child.nodeName) ? childrenOf(child).filter(({ nodeName }) => nodeName === "TR") : [];
  });
  const cells = rows.map(cellsOf).filter((row) => row.length > 0);
  const [first] = cells;
  if (!first || (cells.length === 1 && first.length === 1)) return LAYOUT;
  if (table.getElementsByTagName("table").length > 0) return LAYOUT;
  const aligns: string[] = [];
  for (const row of cells) {
    let column = 0;
    for (const cell of row) {
      aligns[column] = aligns[column] || alignOf(cell);
      for (const end = column + spanOf(cell); column < end; column++) aligns[column] ??= "";
    }
  }
  const isHead =
    first[0]?.parentNode?.parentNode?.nodeName === "THEAD" || first.every(({ nodeName }) => nodeName === "TH");
  return { isLayout: false, hasHead: isHead, aligns };
}

const SECTIONS = new Set(["THEAD", "TBODY", "TFOOT"]);

function cellsOf(row: Part): readonly Part[] {
  return childrenOf(row).filter(({ nodeName }) => nodeName === "TD" || nodeName === "TH");
}

function childrenOf(node: Part): readonly Part[] {
  const children: Part[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

function spanOf(cell: Part): number {
  const span = Number(cell.getAttribute("colspan") ?? 1);
  return Number.isInteger(span) ? Math.min(SPAN_MAX, Math.max(1, span)) : 1;
}

function alignOf(cell: Part): string {
  const styled = /text-align:\s{0,5}(left|right|center)/i.exec(cell.getAttribute("style") ?? "")?.[1];
  return (cell.getAttribute("align") ?? styled ?? "").toLowerCase();
}
