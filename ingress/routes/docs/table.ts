/** Renders tables. Rows are stacked on narrow screens; a table with many columns scrolls in its own box. */
import type { Token, Tokens } from "marked";

import { escapeHtml } from "./highlight.ts";

/** Headings of the first column that mark a table as a list of members. */
const LISTS_MEMBERS: ReadonlySet<string> = new Set(["Property", "Parameter", "Header", "Param"]);

/**
 * Maximum number of columns with which a table always fits the page. A table with more columns may scroll, so its scroll box must be
 * reachable by keyboard.
 */
const COLUMNS_MAX = 2;

/** Maximum number of columns that fit the page at a readable width. A table with more columns is wider than its scroll box. */
const WIDE_COLUMNS = 4;

export function tableHtml({ header, rows }: Tokens.Table, inline: (cell: Tokens.TableCell) => string): string {
  const isMembers = LISTS_MEMBERS.has(header[0]?.text ?? "");
  const isWide = header.length > WIDE_COLUMNS;
  const heads = header.map((cell) => `<th scope="col"${classOf(cell)}>${inline(cell)}</th>`);
  // Stacked rows have no table head: cells of tables with three columns and more repeat their head.
  const hasLabels = !isMembers && header.length > 2;
  const body = rows.map((row) => {
    const cells = row.map((cell, index) => {
      const head = hasLabels && index > 0 ? textOf(header[index]) : "";
      const label = head === "" ? "" : ` data-label="${escapeHtml(head)}"`;
      const html = inline(cell);
      const rendered = isMembers && index === 0 ? memberName(html) : html.replaceAll(CODE, codeInPieces);
      return `<td${classOf(cell)}${label}>${rendered}</td>`;
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  const className = `table-box ${isMembers ? "members" : isWide ? "wide" : "stacks"}`;
  const reach = !isMembers && header.length > COLUMNS_MAX ? ' tabindex="0" role="region" aria-label="Table"' : "";
  return `<div class="${className}"${reach}><table><thead><tr>${heads.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>\n`;
}

function textOf(cell: Tokens.TableCell | undefined): string {
  return (cell?.text ?? "").replaceAll("`", "");
}

/**
 * Formats a member's name. The names of the objects around it are dimmed, because they repeat in many rows. Lines break only after these
 * names.
 */
function memberName(html: string): string {
  return html.replace(/<code>([^<]*[.\]])([^.\]<]+)<\/code>/, (_whole, around: string, name: string) => {
    const parts = around.split(/(?<=\.)/).join("<wbr>");
    return `<code><span class="dim">${parts}</span><wbr>${name}</code>`;
  });
}

const CODE = /<code>([^<]*)<\/code>/g;

/** Formats code in a table cell so that lines never break inside a word. They break after a space, and in a path after a slash. */
function codeInPieces(whole: string, code: string): string {
  const isPath = /^(?:[A-Z]+ )?(?:https?:\/|…)?\//.test(code);
  const pieces = code.split(isPath ? /(?<=\s|[\w}]\/)(?=.)/ : /(?<=\s)(?=.)/);
  if (pieces.length === 1) return whole;
  return `<code class="pieces">${pieces.map((piece) => `<span>${piece}</span>`).join("<wbr>")}</code>`;
}

function classOf({ align }: Tokens.TableCell): string {
  return align === "right" || align === "center" ? ` class="${align}"` : "";
}

/** Fourth-level heading with the table of members below it, shown as a collapsible block. */
interface NestedTable {
  readonly type: "nested";
  readonly raw: string;
  readonly tokens: readonly [heading: Tokens.Heading, table: Tokens.Table];
}

export function isNestedTable(token: { readonly type: string }): token is NestedTable {
  return token.type === "nested";
}

/** Joins each fourth-level heading with the table of members that follows it. */
export function nestedTables(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  for (const token of tokens) {
    const last = out.at(-1);
    const heading = last?.type === "space" ? out.at(-2) : last;
    if (
      token.type === "table" &&
      heading?.type === "heading" &&
      isMembersBelow(heading as Tokens.Heading, token as Tokens.Table)
    ) {
      out.splice(out.lastIndexOf(heading));
      const joined = [heading as Tokens.Heading, token as Tokens.Table] as const;
      out.push({ type: "nested", raw: "", tokens: joined } satisfies NestedTable as unknown as Token);
    } else if (token.type !== "space" || last?.type !== "heading") out.push(token);
  }
  return out;
}

function isMembersBelow({ depth }: Tokens.Heading, { header }: Tokens.Table): boolean {
  return depth === 4 && LISTS_MEMBERS.has(header[0]?.text ?? "");
}
