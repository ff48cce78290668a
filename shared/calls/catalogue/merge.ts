/** Merges catalogue files. Entries are matched by id, and objects merge member by member. Lists and other values are replaced. */
import type {
  CatalogueCapability,
  CatalogueFile,
  CatalogueModel,
  PresetEntry,
  ProviderEntry,
} from "#schemas/generated/types.ts";

import type { Layer } from "./layer.ts";

/** Content of an entry in one file, and its location. */
export interface Origin {
  readonly layer: Layer;
  /** JSON path of the entry, such as `models[3]`. */
  readonly path: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

export interface Merged<Entry> {
  readonly entry: Entry;
  /** The entry in each file that contains it; later files take precedence. */
  readonly origins: readonly Origin[];
}

export interface MergedFiles {
  readonly providers: ReadonlyMap<string, Merged<ProviderEntry>>;
  readonly presets: ReadonlyMap<string, Merged<PresetEntry>>;
  readonly models: ReadonlyMap<string, Merged<CatalogueModel>>;
  readonly capabilities: ReadonlyMap<string, Merged<CatalogueCapability>>;
}

/** Merges later layers over earlier ones. Disabled entries are kept and marked, so that references to them can report the reason. */
export function mergeLayers(layers: readonly Layer[]): MergedFiles {
  return {
    providers: collect(layers, "providers", (provider) => provider.id, mergeObjects),
    presets: collect(layers, "presets", (preset) => preset.name, mergeObjects),
    models: collect(layers, "models", (model) => model.slug, mergeModel),
    capabilities: collect(layers, "capabilities", (capability) => capability.id, mergeCapability),
  };
}

type EntryOf<List extends keyof CatalogueFile> = NonNullable<CatalogueFile[List]>[number];

function collect<List extends keyof CatalogueFile>(
  layers: readonly Layer[],
  list: List,
  nameOf: (entry: EntryOf<List>) => string,
  merge: (base: EntryOf<List>, over: EntryOf<List>) => EntryOf<List>,
): Map<string, Merged<EntryOf<List>>> {
  const merged = new Map<string, Merged<EntryOf<List>>>();
  for (const layer of layers) {
    const entries: readonly EntryOf<List>[] = layer.content[list] ?? [];
    for (const [index, entry] of entries.entries()) {
      const name = nameOf(entry);
      const before = merged.get(name);
      const origin: Origin = { layer, path: `${list}[${index}]`, entry: { ...entry } };
      merged.set(name, {
        entry: before === undefined ? entry : merge(before.entry, entry),
        origins: [...(before?.origins ?? []), origin],
      });
    }
  }
  return merged;
}

/** Members of a pricing with further rates for the same tokens. */
const TABLES: ReadonlySet<string> = new Set(["long_context", "service_tiers"]);
/** Members of a pricing that are not rates. */
const NO_RATES: ReadonlySet<string> = new Set(["unit", "currency", "batch_factor", ...TABLES]);

/**
 * Merges two entries of a model, with three exceptions. A price in another unit replaces the old price completely, because a model has one
 * unit. A new rate removes the old tables of long contexts and service tiers, because they belong to the old rates: a call could cost less
 * than the new ones. A new price without `price_source` removes the old `price_source`, which documents the old price.
 */
function mergeModel(base: CatalogueModel, over: CatalogueModel): CatalogueModel {
  const merged = mergeObjects(base, over);
  if (over.pricing === undefined) return merged;
  if (over.pricing.unit !== undefined && over.pricing.unit !== base.pricing?.unit) merged.pricing = over.pricing;
  else if (Object.keys(over.pricing).some((name) => !NO_RATES.has(name))) {
    const old = Object.fromEntries(Object.entries(base.pricing ?? {}).filter(([name]) => !TABLES.has(name)));
    merged.pricing = mergeObjects<object>(old, over.pricing);
  }
  if (over.price_source === undefined) delete merged.price_source;
  return merged;
}

/** Merges two entries of a capability. A new price replaces the old one completely, because a price has one unit. */
function mergeCapability(base: CatalogueCapability, over: CatalogueCapability): CatalogueCapability {
  return { ...base, ...over };
}

/**
 * Merges two objects into a new one. Members that are objects on both sides are merged; all other members of `over` replace those of
 * `base`.
 */
export function mergeObjects<Value extends object>(base: Value, over: Value): Value {
  const merged = new Map<string, unknown>(Object.entries(base));
  for (const [key, value] of Object.entries(over) as [string, unknown][]) {
    const before = merged.get(key);
    merged.set(key, isObject(before) && isObject(value) ? mergeObjects(before, value) : value);
  }
  // Unlike an assignment, this keeps a key called __proto__ as a key.
  return Object.fromEntries(merged) as Value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
