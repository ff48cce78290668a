/** Writes values as YAML that parsers of YAML 1.2 and of 1.1 (PyYAML, Ruby, Go) read alike. */
import { isTomlTime } from "./toml.ts";

/** Matches text that YAML 1.1 reads as a date or time (yaml.org/type/timestamp.html, and Go's further formats). */
const DATE = /^\d{4}-\d\d?-\d\d?(?:(?:t|[ \t]+)\d\d?:\d\d?:\d\d?(?:\.\d*)?(?:[ \t]*(?:z|[-+]\d\d?(?::?\d\d)?))?)?$/i;
/** Matches text that only YAML 1.1 reads as a number or value key: numbers in other bases, in base 60, or with underscores. */
const OTHER =
  /^(?:=|[-+]?(?:0b[01_]+|0o[0-7_]+|0x[\da-f_]+|\.?\d[\d_]*\.?[\d_]*(?:e[-+]?[\d_]+)?|\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?))$/i;

export function yamlOf(value: unknown): string {
  const lines: string[] = [];
  write(value, { lines, first: "", indent: "" });
  return `${lines.join("\n")}\n`;
}

interface Place {
  readonly lines: string[];
  /** Text before the first line of the value. */
  readonly first: string;
  /** Text before each further line of the value. */
  readonly indent: string;
}

function write(value: unknown, { lines, first, indent }: Place): void {
  const isList = Array.isArray(value);
  const isTable = typeof value === "object" && value !== null && !isList && !isTomlTime(value);
  const entries: readonly (readonly [string, unknown])[] = isList || isTable ? Object.entries(value) : [];
  if (entries.length === 0) {
    lines.push(`${first}${isList ? "[]" : isTable ? "{}" : scalarOf(value)}`);
    return;
  }
  for (const [at, [name, one]] of entries.entries()) {
    const start = at === 0 ? first : indent;
    const deeper = `${indent}  `;
    if (isList) write(one, { lines, first: `${start}- `, indent: deeper });
    else if (!isParent(one)) write(one, { lines, first: `${start}${scalarOf(name)}: `, indent: deeper });
    else {
      lines.push(`${start}${scalarOf(name)}:`);
      write(one, { lines, first: deeper, indent: deeper });
    }
  }
}

/** True for a non-empty list or table, whose members are written on separate lines. */
function isParent(value: unknown): boolean {
  return typeof value === "object" && value !== null && !isTomlTime(value) && Object.keys(value).length > 0;
}

function scalarOf(value: unknown): string {
  if (isTomlTime(value)) {
    const text = value.toJSON();
    return DATE.test(text) ? text : JSON.stringify(text);
  }
  if (typeof value === "string" && (DATE.test(value) || OTHER.test(value))) return JSON.stringify(value);
  const text = Bun.YAML.stringify(value);
  // Without a point, YAML 1.1 parsers read a number with an exponent as text.
  return typeof value === "number" ? text.replace(/^(-?\d+)e/, "$1.0e") : text;
}
