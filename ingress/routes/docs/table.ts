/** Tables. Rows stack on narrow screens; tables with many columns scroll in a box of their own. */
import type { Token, Tokens } from "marked";

import { escapeHtml } from "./highlight.ts";

/** First column heads of tables that list members of something. */
const LISTS_MEMBERS: ReadonlySet<string> = new Set(["Property", "Parameter", "Header", "Param"]);

/** Tables with more columns than this may be wider than the page, so the keyboard must reach their box. */
const COLUMNS_MAX = 2;

/** Columns of a table beyond which the text of each would be too narrow on a page: such a table is wider than its box. */
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

/** The names of the objects around a member are the same in many rows: they are dimmed. Lines break after them only. */
function memberName(html: string): string {
  return html.replace(/<code>([^<]*[.\]])([^.\]<]+)<\/code>/, (_whole, around: string, name: string) => {
    const parts = around.split(/(?<=\.)/).join("<wbr>");
    return `<code><span class="dim">${parts}</span><wbr>${name}</code>`;
  });
}

const CODE = /<code>([^<]*)<\/code>/g;

/** Code of a cell never breaks inside a word: lines break after a space, and in a path after a slash. */
function codeInPieces(whole: string, code: string): string {
  const isPath = /^(?:[A-Z]+ )?(?:https?:\/|…)?\//.test(code);
  const pieces = code.split(isPath ? /(?<=\s|[\w}]\/)(?=.)/ : /(?<=\s)(?=.)/);
  if (pieces.length === 1) return whole;
  return `<code class="pieces">${pieces.map((piece) => `<span>${piece}</span>`).join("<wbr>")}</code>`;
}

function classOf({ align }: Tokens.TableCell): string {
  return align === "right" || align === "center" ? ` class="${align}"` : "";
}

/** A heading of the fourth order with the table of members below it, shown as a block that opens. */
interface NestedTable {
  readonly type: "nested";
  readonly raw: string;
  readonly tokens: readonly [heading: Tokens.Heading, table: Tokens.Table];
}

export function isNestedTable(token: { readonly type: string }): token is NestedTable {
  return token.type === "nested";
}

/** Joins each heading of the fourth order and the table of members that follows it. */
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
