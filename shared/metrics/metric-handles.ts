/**
 * Counters, gauges and histograms of prom-client with typed, positional label values. Each metric limits the number of its label sets. A
 * metric never throws, and no value corrupts its sum.
 */
import * as prom from "prom-client";

import { NANO_PER_CREDIT } from "../base/money.ts";

/** Maximum number of label sets of a metric, so that an unbounded label cannot exhaust the memory. Further sets are counted as `other`. */
const LABEL_SETS_MAX = 1_000;
const OVERFLOW = "other";

type Labels = readonly string[];

export interface Counter<L extends Labels> {
  inc(...labels: L): void;
  add(amount: number, ...labels: L): void;
}

export interface Gauge<L extends Labels> {
  set(value: number, ...labels: L): void;
  add(amount: number, ...labels: L): void;
  /** Returns the gauge for one set of label values. The gauge has no value until one is set. */
  at(...labels: L): { set(value: number): void };
}

export interface Histogram<L extends Labels> {
  observe(value: number, ...labels: L): void;
  /** Returns the histogram for one set of label values. */
  at(...labels: L): { observe(value: number): void };
}

/** Counter of an amount of money. Amounts are added in nano-credits; the metrics page lists credits. */
export interface CreditsCounter {
  addNano(nano: bigint): void;
}

/** Returns a function that creates the counter, gauge or histogram of each label set once and caches it. */
function handlesBy<Handle>(names: Labels, create: (...values: string[]) => Handle): (values: Labels) => Handle {
  const handles = new Map<string, Handle>();
  let overflow: Handle | undefined;
  return (values) => {
    // Label values are short and come from our own lists, so none contains the separator.
    const key = values.join("\u0000");
    const known = handles.get(key);
    if (known) return known;
    if (handles.size >= LABEL_SETS_MAX) return (overflow ??= create(...names.map(() => OVERFLOW)));
    const handle = create(...values);
    handles.set(key, handle);
    return handle;
  };
}

/** Creates a counter. A counter without labels starts at 0, so that an alert on its rate has a first value. */
export function counter<L extends Labels>(registry: prom.Registry, name: string, help: string, names: L): Counter<L> {
  const metric = new prom.Counter({ name, help, labelNames: names, registers: [registry] });
  const handleOf = handlesBy(names, (...values) => metric.labels(...values));
  return {
    inc: (...labels) => handleOf(labels).inc(),
    add: (amount, ...labels) => {
      if (amount > 0 && Number.isFinite(amount)) handleOf(labels).inc(amount);
    },
  };
}

/**
 * Creates a gauge. It has no value until one is set, because a process must not report 0 for an unknown level.
 * @param read returns the level at each scrape
 */
export function gauge<L extends Labels>(
  registry: prom.Registry,
  name: string,
  help: string,
  names: L,
  read?: () => number,
): Gauge<L> {
  const collect = read && ((): void => metric.set(read()));
  const metric = new prom.Gauge({ name, help, labelNames: names, registers: [registry], ...(collect && { collect }) });
  // prom-client sets a gauge without labels to 0.
  if (names.length === 0) metric.remove();
  const handleOf = handlesBy(names, (...values) => metric.labels(...values));
  return {
    set: (value, ...labels) => handleOf(labels).set(value),
    add: (amount, ...labels) => handleOf(labels).inc(amount),
    at: (...labels) => handleOf(labels),
  };
}

/**
 * Creates a histogram.
 * @param buckets upper bounds, ascending, without +Inf
 */
export function histogram<L extends Labels>(
  registry: prom.Registry,
  name: string,
  help: string,
  names: L,
  buckets: readonly number[],
): Histogram<L> {
  const metric = new prom.Histogram({ name, help, labelNames: names, buckets: [...buckets], registers: [registry] });
  const handleOf = handlesBy(names, (...values) => {
    const handle = metric.labels(...values);
    return {
      observe: (value: number) => {
        if (Number.isFinite(value)) handle.observe(value);
      },
    };
  });
  return {
    observe: (value, ...labels) => handleOf(labels).observe(value),
    at: (...labels) => handleOf(labels),
  };
}

export function credits(registry: prom.Registry, name: string, help: string): CreditsCounter {
  let sum = 0n;
  observedCounter(registry, name, help, () => Number(sum) / Number(NANO_PER_CREDIT));
  return {
    addNano(nano) {
      if (nano > 0n) sum += nano;
    },
  };
}

/** Creates a counter whose value is read from a function at each scrape. */
export function observedCounter(registry: prom.Registry, name: string, help: string, read: () => number): void {
  const collect = (): void => {
    metric.reset();
    metric.inc(read());
  };
  const metric = new prom.Counter({ name, help, registers: [registry], collect });
}
