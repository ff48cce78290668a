/** Writes values as TOML. */
import { MediaError } from "#shared/children/media-error.ts";

/** True for a date or time from the TOML parser. Such a value is an object whose JSON form is its TOML text. */
export function isTomlTime(value: unknown): value is { toJSON(): string } {
  return Object.prototype.toString.call(value).startsWith("[object Temporal.");
}

/** Formats a table as TOML, without members that are null. @throws MediaError invalid for a null in a list */
export function tomlOf(table: Readonly<Record<string, unknown>>): string {
  return tableOf(table, []).replace(/^\n/, "");
}

/** Formats a table: first its values, then its nested tables. */
function tableOf(table: Readonly<Record<string, unknown>>, path: readonly string[]): string {
  const members = Object.entries(table).filter(([, value]) => value !== null);
  const plain = members.filter(([, value]) => !isTable(value));
  const tables = members.filter((entry): entry is [string, Record<string, unknown>] => isTable(entry[1]));
  const isNamed = path.length > 0 && (plain.length > 0 || tables.length === 0);
  const head = isNamed ? `\n[${path.map(keyOf).join(".")}]\n` : "";
  const body = plain.map(([name, value]) => `${keyOf(name)} = ${valueOf(value)}\n`).join("");
  return `${head}${body}${tables.map(([name, value]) => tableOf(value, [...path, name])).join("")}`;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isTomlTime(value);
}

function valueOf(value: unknown): string {
  if (value === null) {
    throw new MediaError("invalid", "Expected no null in a list for params.to toml, which has none, got one.");
  }
  if (Array.isArray(value)) return `[${value.map(valueOf).join(", ")}]`;
  if (isTable(value)) {
    const members = Object.entries(value).filter(([, one]) => one !== null);
    return `{ ${members.map(([name, one]) => `${keyOf(name)} = ${valueOf(one)}`).join(", ")} }`;
  }
  if (typeof value === "number") return numberOf(value);
  if (typeof value === "string") return textOf(value);
  return isTomlTime(value) ? value.toJSON() : JSON.stringify(value);
}

/** Writes a number. TOML integers have 64 bits, so an integer beyond a double's precision is written as a float. */
function numberOf(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const written = String(value);
  return Number.isInteger(value) && !Number.isSafeInteger(value) && !written.includes("e") ? `${written}.0` : written;
}

/** Formats a string. TOML has the same escapes as JSON, but also requires one for U+007F. */
function textOf(value: string): string {
  return JSON.stringify(value.toWellFormed()).replaceAll("\u007f", "\\u007f");
}

function keyOf(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : textOf(name);
}
