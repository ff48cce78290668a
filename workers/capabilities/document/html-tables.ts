/**
 * Converts HTML tables to Markdown tables. Each cell is read once. Turndown's own plugin reads all rows for each cell, and writes as many
 * columns as a cell's `colspan` states.
 */
import type TurndownService from "turndown";

import { MediaError } from "#shared/children/media-error.ts";

import { escapeText } from "../markdown-text.ts";

/** Members of turndown's nodes that this file uses. */
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
  /** True if the cells are written one below the other, because the table contains other tables or a single cell. */
  readonly isLayout: boolean;
  readonly hasHead: boolean;
  /** Alignment of each column; empty for a column without one. */
  readonly aligns: readonly string[];
  /** Number of columns to the left of each cell that are occupied by the `rowspan` of cells in earlier rows. */
  readonly before: ReadonlyMap<Part, number>;
}

/** Maximum number of columns that a cell spans. A wider `colspan` counts as this number. */
const SPAN_MAX = 50;
const BORDERS: Readonly<Record<string, string>> = { left: ":---", right: "---:", center: ":---:" };

const shapes = new WeakMap<object, Shape>();

function shapeAround(node: Part): Shape {
  let table = node.parentNode;
  while (table && table.nodeName !== "TABLE") table = table.parentNode;
  if (!table) return LAYOUT;
  const shape = shapes.get(table) ?? shapeOf(table);
  shapes.set(table, shape);
  return shape;
}

/** True if the node is within a table that becomes a Markdown table, not a layout table. */
export function isInTable(node: object): boolean {
  return !shapeAround(node as Part).isLayout;
}

export function tables(service: TurndownService): void {
  service.addRule("tableCell", {
    filter: ["th", "td"],
    replacement(content, node) {
      const cell = node as unknown as Part;
      const { isLayout, before } = shapeAround(cell);
      if (isLayout) return `\n\n${content}\n\n`;
      const lines = content.split("\n").map((line) => line.trim()).filter((line) => line !== ""); // prettier-ignore
      return `${EMPTY_CELL.repeat(before.get(cell) ?? 0)} ${lines
        .join("<br>")
        .replaceAll(/(\\.)|\|/g, (_all, escaped?: string) => escaped ?? String.raw`\|`)
        .padEnd(3)} |${EMPTY_CELL.repeat(columnsOf(cell) - 1)}`;
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
      const empty = `|${EMPTY_CELL.repeat(aligns.length)}`;
      const border = `| ${aligns.map((align) => BORDERS[align] ?? "---").join(" | ")} |`;
      const caption =
        childrenOf(table)
          .find(({ nodeName }) => nodeName === "CAPTION")
          ?.textContent?.trim()
          .replaceAll(/\s+/g, " ") ?? "";
      const lines = hasHead ? [rows[0], border, ...rows.slice(1)] : [empty, border, ...rows];
      return `\n\n${caption === "" ? "" : `${escapeText(caption)}\n\n`}${lines.join("\n")}\n\n`;
    },
  });
}

const LAYOUT: Shape = { isLayout: true, hasHead: false, aligns: [], before: new Map() };
const EMPTY_CELL = "     |";

function shapeOf(table: Part): Shape {
  const rows = childrenOf(table).flatMap((child) => {
    if (child.nodeName === "TR") return [child];
    return SECTIONS.has(child.nodeName) ? childrenOf(child).filter(({ nodeName }) => nodeName === "TR") : [];
  });
  const filled = rows.map(cellsOf).filter((row) => row.length > 0);
  const [first] = filled;
  if (!first || (filled.length === 1 && first.length === 1)) return LAYOUT;
  if (table.getElementsByTagName("table").length > 0) return LAYOUT;
  const isHead =
    first[0]?.parentNode?.parentNode?.nodeName === "THEAD" || first.every(({ nodeName }) => nodeName === "TH");
  return { isLayout: false, hasHead: isHead, ...columns(rows) };
}

/** Determines the columns of all rows, including those that `rowspan` occupies. @throws MediaError too_large */
function columns(rows: readonly Part[]): Pick<Shape, "aligns" | "before"> {
  const aligns: string[] = [];
  const before = new Map<Part, number>();
  let count = 0;
  /** Last row that each column's cell from an earlier row occupies: row index by column. */
  let reached = new Map<number, number>();
  for (const [at, row] of rows.entries()) {
    // `rowspan` ends at the end of a section.
    if (row.parentNode !== rows[at - 1]?.parentNode) reached = new Map();
    let column = 0;
    for (const cell of cellsOf(row)) {
      const start = column;
      while ((reached.get(column) ?? -1) >= at) column++;
      before.set(cell, column - start);
      const [end, last] = [column + columnsOf(cell), at + rowsOf(cell) - 1];
      aligns[column] = aligns[column] || alignOf(cell);
      for (; column < end; column++) {
        aligns[column] ??= "";
        if (last > at) reached.set(column, last);
      }
      count += column - start;
      if (count > TABLE_COLUMNS_MAX) {
        throw new MediaError(
          "too_large",
          `Expected a table whose cells span at most ${TABLE_COLUMNS_MAX} columns in all.`,
        );
      }
    }
    for (; (reached.get(column) ?? -1) >= at; column++) aligns[column] ??= "";
  }
  return { aligns: Array.from(aligns, (align) => align ?? ""), before };
}

/** Maximum number of columns over all cells of a table, including those that `rowspan` occupies. */
const TABLE_COLUMNS_MAX = 600_000;

const SECTIONS = new Set(["THEAD", "TBODY", "TFOOT"]);

function cellsOf(row: Part): readonly Part[] {
  return childrenOf(row).filter(({ nodeName }) => nodeName === "TD" || nodeName === "TH");
}

function childrenOf(node: Part): readonly Part[] {
  const children: Part[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

function columnsOf(cell: Part): number {
  const span = Number(cell.getAttribute("colspan") ?? 1);
  return Number.isInteger(span) ? Math.min(SPAN_MAX, Math.max(1, span)) : 1;
}

/** Returns the number of rows that a cell spans. A `rowspan` of 0 means all remaining rows of the section. */
function rowsOf(cell: Part): number {
  const span = Number(cell.getAttribute("rowspan") ?? 1);
  return span === 0 ? Number.POSITIVE_INFINITY : Number.isInteger(span) && span > 0 ? span : 1;
}

function alignOf(cell: Part): string {
  const styled = /text-align:\s{0,5}(left|right|center)/i.exec(cell.getAttribute("style") ?? "")?.[1];
  return (cell.getAttribute("align") ?? styled ?? "").toLowerCase();
}
