/** Returns a Postgres array literal for values that need no quoting (uuid, numbers, booleans). It is cheaper than the driver's encoding. */

export function plainArray(values: readonly (string | number | bigint | boolean | null)[]): string {
  let text = "{";
  for (let i = 0; i < values.length; i++) {
    if (i > 0) text += ",";
    text += values[i] === null ? "null" : String(values[i]);
  }
  return `${text}}`;
}
