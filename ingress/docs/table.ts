/** Tables. Tables of properties stack on narrow screens; all others scroll in a box of their own. */
import type { Tokens } from "marked";

/** First column heads of tables that list members of something. */
const LISTS_MEMBERS: ReadonlySet<string> = new Set(["Property", "Parameter", "Header", "Param"]);

/** Tables with more columns than this may be wider than the page, so the keyboard must reach their box. */
const COLUMNS_MAX = 2;

export function tableHtml({ header, rows }: Tokens.Table, inline: (cell: Tokens.TableCell) => string): string {
  const isMembers = LISTS_MEMBERS.has(header[0]?.text ?? "");
  const heads = header.map((cell) => `<th scope="col"${alignOf(cell)}>${inline(cell)}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell, index) => cellHtml(cell, index, isMembers, inline)).join("")}</tr>`);
  const look = isMembers ? "table-box members" : "table-box";
  const reach = !isMembers && header.length > COLUMNS_MAX ? ' tabindex="0" role="region" aria-label="Table"' : "";
  return `<div class="${look}"${reach}><table><thead><tr>${heads}</tr></thead><tbody>${body.join("")}</tbody></table></div>\n`;
}

function cellHtml(
  cell: Tokens.TableCell,
  index: number,
  isMembers: boolean,
  inline: (cell: Tokens.TableCell) => string,
): string {
  const html = inline(cell);
  if (!isMembers || index > 0) return `<td${alignOf(cell)}>${html}</td>`;
  // The names of the objects around a member are the same in many rows: they step back.
  return `<td>${html.replace(/<code>([^<]*[.\]])([^.\]<]+)<\/code>/, '<code><span class="dim">$1</span>$2</code>')}</td>`;
}

function alignOf({ align }: Tokens.TableCell): string {
  return align === "right" || align === "center" ? ` class="${align}"` : "";
}
