/**
 * A map and a set for what comes and goes with every call. A Map or Set of JavaScriptCore leaves its table behind when that is full, with
 * all that stands in it, and each table leads to the next one. So the collector's short cycles find in use what stood in one of them since
 * the last full cycle: 12 KB of each call of a worker (measured). These here hold entries, which give up their values when they go.
 */
export interface Entry<Value> {
  /** Undefined once it is deleted. */
  readonly value: Value | undefined;
}

interface OwnEntry<Value> {
  value: Value | undefined;
}

/** Values by their keys, in the order of coming; who is set anew keeps its place. Keys are strings, since tables keep those. */
export class InFlightMap<Value> {
  private readonly entries = new Map<string, OwnEntry<Value>>();

  get size(): number {
    return this.entries.size;
  }

  get(key: string): Value | undefined {
    return this.entries.get(key)?.value;
  }

  set(key: string, value: Value): void {
    const entry = this.entries.get(key);
    if (entry) entry.value = value;
    else this.entries.set(key, { value });
  }

  /** Returns what stood there. */
  take(key: string): Value | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    const { value } = entry;
    entry.value = undefined;
    this.entries.delete(key);
    return value;
  }

  /** Yields keys and values, without what is taken meanwhile. */
  *[Symbol.iterator](): Generator<readonly [string, Value]> {
    for (const [key, { value }] of this.entries) yield [key, value as Value];
  }

  /** Yields values, without what is taken meanwhile. */
  *values(): Generator<Value> {
    for (const { value } of this.entries.values()) yield value as Value;
  }
}

/** Values in the order of coming; one may be in it twice. */
export class InFlightSet<Value> {
  private readonly entries = new Set<OwnEntry<Value>>();

  get size(): number {
    return this.entries.size;
  }

  /** Returns its entry, by which it is deleted. */
  add(value: Value): Entry<Value> {
    const entry: OwnEntry<Value> = { value };
    this.entries.add(entry);
    return entry;
  }

  /** Returns true if it was there. */
  delete(entry: Entry<Value>): boolean {
    const own = entry as OwnEntry<Value>;
    own.value = undefined;
    return this.entries.delete(own);
  }

  /** Yields values, without what is deleted meanwhile. */
  *[Symbol.iterator](): Generator<Value> {
    for (const { value } of this.entries) yield value as Value;
  }
}
