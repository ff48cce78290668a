/** Parses one catalogue file into checked entries with their lines. Each file is one layer; merge.ts combines the layers. */
import type { CatalogueFile } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { parseDecimal } from "#shared/base/money.ts";
import { BATCH_FACTOR_PLACES } from "#shared/calls/pricing/price.ts";

import { CatalogueError, type CatalogueFault, quote, throwFaults } from "./faults.ts";
import { locate, type Positions, syntaxLine } from "./positions.ts";

/** Folder of the catalogue files that ship with the service. */
export const OUR_FOLDER = "shared/calls/catalogue";

export interface Layer {
  readonly file: string;
  readonly content: CatalogueFile;
  readonly positions: Positions;
}

/** Maximum size of a catalogue file, in bytes. All files that ship with the service have 40 KB together. */
const TEXT_BYTES_MAX = 4 * 1_048_576;
/** Maximum price, in credits. It is far above any real price and keeps each product of price and token count within Postgres' bigint. */
const PRICE_CREDITS_MAX = 1_000_000n;
const NANO_PLACES = 9;

/**
 * Parses one file and checks each of its entries separately.
 * @throws CatalogueError that lists the locations of invalid YAML, schema violations, duplicates and invalid prices
 */
export function readLayer(file: string, text: string): Layer {
  const content = parseYaml(file, text);
  const positions = locate(text);
  const at = (place: string, message: string): CatalogueFault => faultAt({ file, positions }, place, message);
  throwFaults(
    positions.repeated.map((key) => ({ file, line: key.line, place: key.path, message: "this key is given twice" })),
  );
  throwFaults(unquotedPrices(content).map(([place, message]) => at(place, message)));
  const fault = schemaFault(content);
  if (fault !== undefined) throw new CatalogueError([at(fault.place, fault.message)]);
  const checked = content as CatalogueFile;
  throwFaults([...repeatedEntries(checked), ...malformedPrices(checked)].map(([place, message]) => at(place, message)));
  return Object.freeze({ file, content: checked, positions });
}

/** Returns a fault with its line. The line is absent if the structure of the file does not reveal it. */
export function faultAt(layer: Pick<Layer, "file" | "positions">, place: string, message: string): CatalogueFault {
  const line = layer.positions.lineOf(place);
  return line === undefined ? { file: layer.file, place, message } : { file: layer.file, line, place, message };
}

function parseYaml(file: string, text: string): unknown {
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX) {
    throw new CatalogueError([
      { file, place: "", message: `expected at most ${TEXT_BYTES_MAX} bytes, got ${Buffer.byteLength(text)}` },
    ]);
  }
  let content: unknown;
  try {
    content = Bun.YAML.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^YAML Parse error: /, "") : String(error);
    const line = error instanceof SyntaxError ? { line: syntaxLine(text, Bun.YAML.parse) } : {};
    throw new CatalogueError([{ file, ...line, place: "", message: `this is not YAML: ${reason}` }], { cause: error });
  }
  // Bun returns several documents as a list, and an empty file as null.
  if (Array.isArray(content)) {
    throw new CatalogueError([
      {
        file,
        line: 1,
        place: "",
        message: "expected one mapping with providers, presets, models or capabilities, got a list",
      },
    ]);
  }
  return content ?? {};
}

type Finding = readonly [place: string, message: string];

/** Returns the prices that are not quoted. YAML parses an unquoted 0.1 as a float, which would lose digits. */
function unquotedPrices(content: unknown): Finding[] {
  return PRICED.flatMap((list) => {
    const entries = (content as Readonly<Record<string, unknown>>)[list];
    return Array.isArray(entries) ? unquotedPricesIn(list, entries) : [];
  });
}

/** Lists of a catalogue file whose entries have prices. */
const PRICED = ["models", "capabilities"] as const;

function unquotedPricesIn(list: string, entries: readonly unknown[]): Finding[] {
  return entries.flatMap((model: unknown, index) => {
    const { pricing, price_variants: variants } = (model ?? {}) as { pricing?: unknown; price_variants?: unknown };
    const findUnquoted = (path: string, value: unknown): Finding[] =>
      typeof value === "number"
        ? [[`${list}[${index}].${path}`, `expected decimal text in quotes, got a number: write "${value}"`]]
        : [];
    return [
      ...pricesIn(pricing).flatMap(([path, value]) => findUnquoted(path, value)),
      ...(Array.isArray(variants) ? variants : []).flatMap((variant: unknown, at) =>
        findUnquoted(`price_variants[${at}].price`, (variant as { price?: unknown } | null)?.price),
      ),
    ];
  });
}

/** Returns the members of a pricing and their paths, including the members of its long contexts and service tiers. */
function pricesIn(pricing: unknown, path = "pricing"): [path: string, value: unknown][] {
  if (typeof pricing !== "object" || pricing === null) return [];
  return Object.entries(pricing).flatMap(([name, value]: [string, unknown]): [string, unknown][] =>
    name === "above_tokens" ? [] : [[`${path}.${name}`, value], ...pricesIn(value, `${path}.${name}`)],
  );
}

function repeatedEntries(content: CatalogueFile): Finding[] {
  const lists = [
    ["models", "slug", content.models?.map((model) => model.slug)],
    ["providers", "id", content.providers?.map((provider) => provider.id)],
    ["presets", "name", content.presets?.map((preset) => preset.name)],
    ["capabilities", "id", content.capabilities?.map((capability) => capability.id)],
  ] as const;
  return lists.flatMap(([list, field, names = []]) =>
    names.flatMap((name, index): Finding[] => {
      const first = names.indexOf(name);
      return first === index
        ? []
        : [[`${list}[${index}].${field}`, `${quote(name)} is already ${list}[${first}] of this file`]];
    }),
  );
}

function malformedPrices(content: CatalogueFile): Finding[] {
  const priced = PRICED.flatMap((list) => (content[list] ?? []).map((entry, index) => ({ list, entry, index })));
  return priced.flatMap(({ list, entry, index }) => {
    const variants = "price_variants" in entry ? (entry.price_variants ?? []) : [];
    const prices = [
      ...pricesIn(entry.pricing).filter((price): price is [string, string] => typeof price[1] === "string"),
      ...variants.map(({ price }, at) => [`price_variants[${at}].price`, price] as const),
    ];
    return prices.flatMap(([path, text]): Finding[] => {
      if (path === "pricing.unit" || path === "pricing.currency") return [];
      const message = path === "pricing.batch_factor" ? shareFault(text) : priceFault(text);
      return message === undefined ? [] : [[`${list}[${index}].${path}`, message]];
    });
  });
}

/** Describes the fault of a price in credits; returns undefined if the price is valid. */
function priceFault(text: string): string | undefined {
  let nano: bigint;
  try {
    nano = parseDecimal(text, NANO_PLACES);
  } catch (error) {
    return `expected credits as a decimal number with at most ${NANO_PLACES} places: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (nano < 0n) return `expected a price of 0 or more, got ${quote(text)}`;
  if (nano > PRICE_CREDITS_MAX * 10n ** BigInt(NANO_PLACES))
    return `expected at most ${PRICE_CREDITS_MAX} credits, got ${quote(text)}`;
  return undefined;
}

/** Describes the fault of a share of the price; returns undefined if the share is valid. */
function shareFault(text: string): string | undefined {
  const expected = `expected a decimal number above 0 and at most 1, with at most ${BATCH_FACTOR_PLACES} places`;
  try {
    const millionths = parseDecimal(text, BATCH_FACTOR_PLACES);
    return millionths > 0n && millionths <= 10n ** BigInt(BATCH_FACTOR_PLACES)
      ? undefined
      : `${expected}, got ${quote(text)}`;
  } catch (error) {
    return `${expected}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

// Checks a catalogue file against its schema.

/** Returns the first violation of the schema `CatalogueFile`; undefined if the file is valid. */
function schemaFault(content: unknown): { readonly place: string; readonly message: string } | undefined {
  const fault = validate("CatalogueFile", content);
  if (fault === null) return undefined;
  const place = fault.param ?? "";
  // Messages are worded for request bodies; here, the place precedes the message.
  const message = fault.message
    .replace(place === "" ? "The body " : `${place} `, "")
    .replace(/^Missing required parameter.*/, "this is required")
    .replace(/^is not a known parameter/, "this is no member of a catalogue file")
    .replace(/\.$/, "");
  return { place, message };
}
