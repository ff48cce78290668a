/** Answers for people: columns that line up. */
import { formatCredits } from "#shared/money.ts";

type Cell = string | number | bigint | boolean | Date | null;

/** Left-aligned columns under their titles; a column of `right` is aligned at its end. */
export function table(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  right: readonly string[] = [],
): string {
  const lines = [titles, ...rows.map((row) => row.map(cellText))];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ""))));
  const isRight = titles.map((title) => right.includes(title));
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

/** One fact per line, names first. */
export function facts(rows: readonly (readonly [name: string, value: Cell])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`).join("\n");
}

/** A table, or a sentence when there is nothing to show. */
export function tableOr(
  nothing: string,
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  right: readonly string[] = [],
): string {
  return rows.length === 0 ? nothing : table(titles, rows, right);
}

/** Exact credits with the sign shown when they moved. */
export function signedCredits(nano: bigint): string {
  return nano > 0n ? `+${formatCredits(nano)}` : formatCredits(nano);
}

/** Names of streams and subjects are others': nothing of them may steer the terminal. */
function cellText(cell: Cell): string {
  if (cell === null) return "-";
  if (cell instanceof Date) return cell.toISOString();
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return String(cell).replaceAll(/\p{Cc}/gu, "\u{fffd}");
}
