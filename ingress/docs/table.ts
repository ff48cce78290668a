/** Tables. Tables of properties stack on narrow screens; all others scroll in a box of their own. */
import type { Token, Tokens } from "marked";

/** First column heads of tables that list members of something. */
const LISTS_MEMBERS: ReadonlySet<string> = new Set(["Property", "Parameter", "Header", "Param"]);

/** Tables with more columns than this may be wider than the page, so the keyboard must reach their box. */
const COLUMNS_MAX = 2;

/** Columns of a table beyond which the text of each would be too narrow on a page: such a table is wider than its box. */
const WIDE_COLUMNS = 4;

export function tableHtml({ header, rows }: Tokens.Table, inline: (cell: Tokens.TableCell) => string): string {
  const isMembers = LISTS_MEMBERS.has(header[0]?.text ?? "");
  const heads = header.map((cell) => `<th scope="col"${alignOf(cell)}>${inline(cell)}</th>`).join("");
  const body = rows.map(
    (row) => `<tr>${row.map((cell, index) => cellHtml(cell, index, isMembers, inline)).join("")}</tr>`,
  );
  const isWide = header.length > WIDE_COLUMNS;
  const look = isMembers ? "table-box members" : `table-box${isWide ? " wide" : ""}`;
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
