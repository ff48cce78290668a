/** Merges files: entries are matched by id, objects merge member by member, lists and values are replaced. */
import type {
  CatalogueCapability,
  CatalogueFile,
  CatalogueModel,
  PresetEntry,
  ProviderEntry,
} from "#schemas/generated/types.ts";

import type { Layer } from "./layer.ts";

/** Place and content of an entry in one file. */
export interface Origin {
  readonly layer: Layer;
  /** Such as `models[3]`. */
  readonly path: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

export interface Merged<Entry> {
  readonly entry: Entry;
  /** All files with the entry; the last one takes precedence. */
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

/**
 * Two exceptions to the plain merge. Prices of another unit replace the old ones completely, since a model has one unit. A new price
 * without a source does not keep the old price's source.
 */
function mergeModel(base: CatalogueModel, over: CatalogueModel): CatalogueModel {
  const merged = mergeObjects(base, over);
  if (over.pricing === undefined) return merged;
  if (over.pricing.unit !== undefined && over.pricing.unit !== base.pricing?.unit) merged.pricing = over.pricing;
  if (over.price_source === undefined) delete merged.price_source;
  return merged;
}

/** A price has one unit and replaces the old one completely. */
function mergeCapability(base: CatalogueCapability, over: CatalogueCapability): CatalogueCapability {
  return { ...base, ...over };
}

/** Returns a new object: members of `over` win, objects on both sides merge, everything else is replaced. */
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
