/** Results as text: aligned columns, or one member per line. */
import type { Answer } from "./command.ts";

/** Formats a result for people: its own text if present, otherwise its JSON as a table or as one member per line. */
export function textOf({ json, text, columns }: Pick<Answer, "json" | "text" | "columns">): string {
  if (text !== undefined) return text;
  const rows = [json].flat().map((row: unknown) => new Map(Object.entries(row ?? {})));
  if (columns === undefined) return rows.map((row) => facts([...row])).join("\n\n");
  const members = columns.split(" ");
  const cells = rows.map((row) => members.map((member) => row.get(member)));
  return rows.length === 0 ? "none" : table(members.map(titleOf), cells);
}

/** Formats rows as columns under their titles. Columns of numbers are right-aligned. */
export function table(titles: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const texts = rows.map((row) => row.map(cellText));
  const lines = [titles, ...texts];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ""))));
  const isRight = titles.map((_, column) => texts.every((line) => /^([+-]?\d+(\.\d+)?|-)$/.test(line[column] ?? "")));
  return lines
    .map((line) =>
      line
        .map((cell, column) => {
          const gap = " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
          return isRight[column] === true ? gap + cell : cell + gap;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function facts(members: readonly (readonly [name: string, value: unknown])[]): string {
  const width = Math.max(...members.map(([name]) => name.length));
  return members.map(([name, value]) => `${name.replaceAll("_", " ").padEnd(width)}  ${cellText(value)}`).join("\n");
}

/** Returns the column title of a member: `created_at` → `Created`. */
function titleOf(member: string): string {
  const title = member.replace(/^is_|_(at|id)$/g, "").replaceAll("_", " ");
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** Formats a table cell without control characters, line breaks and marks of direction, which could change the terminal. Names of streams and subjects come from outside. */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return "-";
  if (cell instanceof Date) return cell.toISOString();
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  if (Array.isArray(cell)) return cell.map(cellText).join(", ");
  const text = typeof cell === "string" ? cell : JSON.stringify(cell);
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, "\u{fffd}");
}
