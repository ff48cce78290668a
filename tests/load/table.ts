/** Tables in markdown whose columns are also aligned in a terminal, and the forms of their numbers. */

export type Row = readonly (string | number)[];

/** Returns the lines of a heading and a table; none when there are no rows. */
export function section(title: string, heads: readonly string[], rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const cells = [heads, ...rows].map((row) => row.map(String));
  const widths = heads.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [head = [], ...body] = cells;
  return ["", `## ${title}`, "", line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)];
}

/** Formats milliseconds; empty for NaN. */
export function ms(value: number): string {
  return fixed(value, Math.abs(value) < 10 ? 2 : 1);
}

/** Formats milliseconds as microseconds. */
export function micro(value: number): string {
  return fixed(value * 1_000, 0);
}

/** Formats a number; empty for NaN and infinity. */
export function fixed(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : "";
}
