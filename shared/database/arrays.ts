/** Returns a Postgres array literal for values without quoting (uuid, numbers, booleans): cheaper than the driver's encoding. */

export function plainArray(values: readonly (string | number | bigint | boolean | null)[]): string {
  let text = "{";
  for (let i = 0; i < values.length; i++) {
    if (i > 0) text += ",";
    text += values[i] === null ? "null" : String(values[i]);
  }
  return `${text}}`;
}
