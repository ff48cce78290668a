/** Compares what a block printed with the output that its page shows. */
import type { Block } from "./page.ts";

/**
 * Says where the output differs from what the page shows; undefined where it does not. A page may shorten: `…` stands for any
 * text, and members of JSON that it leaves out are not compared. Without an output on the page, an error of the API differs, as does
 * the `null` that jq prints for one.
 */
export function difference({ output: shown }: Block, printed: string): string | undefined {
  if (shown === undefined)
    return /"error":\s*\{\s*"message"|^null$/m.test(printed) ? `the API refused it: ${printed}` : undefined;
  if (shown.language === "text") return isText(shown.text, printed) ? undefined : `printed: ${printed.slice(0, 2_000)}`;
  let value: unknown;
  try {
    value = JSON.parse(printed);
  } catch {
    return `printed no JSON: ${printed.slice(0, 2_000)}`;
  }
  return jsonDifference(JSON.parse(shown.text), value, "");
}

function isText(shown: string, printed: string): boolean {
  const words = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
  const pattern = words(shown)
    .split("…")
    .map((piece) => RegExp.escape(piece))
    .join("[^]*");
  return new RegExp(`^${pattern}$`).test(words(printed));
}

function jsonDifference(shown: unknown, value: unknown, at: string): string | undefined {
  if (typeof shown === "string" && shown.includes("…")) {
    return isText(shown, typeof value === "string" ? value : JSON.stringify(value))
      ? undefined
      : `${at}: ${JSON.stringify(value)}`;
  }
  if (Array.isArray(shown)) {
    if (!Array.isArray(value)) return `${at}: no list`;
    const isOpen = shown.at(-1) === "…";
    const items = isOpen ? shown.slice(0, -1) : shown;
    if (isOpen ? value.length < items.length : value.length !== items.length) return `${at}: ${value.length} items`;
    return firstOf(items.map((item, index) => jsonDifference(item, value[index], `${at}[${index}]`)));
  }
  if (typeof shown === "object" && shown !== null) {
    if (typeof value !== "object" || value === null) return `${at}: no object`;
    const members = value as Readonly<Record<string, unknown>>;
    return firstOf(Object.entries(shown).map(([name, item]) => jsonDifference(item, members[name], `${at}.${name}`)));
  }
  return shown === value ? undefined : `${at}: ${JSON.stringify(value)}`;
}

function firstOf(differences: readonly (string | undefined)[]): string | undefined {
  return differences.find((one) => one !== undefined);
}
