/** Cost of a step that runs for each item of a list. */

import { FOR_EACH_ITEMS_MAX } from "#shared/workflows/limits.ts";

import type { CompiledStep } from "../definition.ts";
import { type Cost, nothing, sumOf } from "./cost.ts";
import type { KnownItem } from "./known.ts";
import type { EstimateWork } from "./work.ts";

/** Returns the cost of the step for one item. @param item undefined for an unknown item */
type CostOfItem = (item: KnownItem | undefined) => Promise<Cost>;

/** @param list undefined if unknown */
export async function listCost(
  step: CompiledStep,
  list: { readonly value: unknown } | undefined,
  costOf: CostOfItem,
  work: EstimateWork,
): Promise<Cost> {
  if (list === undefined) return unknownListCost(await costOf(undefined));
  // A skipped step resolves to null, which is an empty list here.
  const items: unknown = list.value ?? [];
  if (!Array.isArray(items) || items.length > FOR_EACH_ITEMS_MAX) {
    return nothing(`The step fails: expected a list of at most ${FOR_EACH_ITEMS_MAX} items.`);
  }
  if (items.length === 0) return nothing("The list is empty.");
  const all = BigInt(items.length);
  if (!readsItem(step)) {
    const { estimatedNano, maxNano, assumption } = await costOf(undefined);
    return {
      estimatedNano: all * estimatedNano,
      maxNano: all * maxNano,
      assumption: `${items.length} items. ${assumption}`,
    };
  }
  const sampled = await sampleItems(items, costOf, work);
  const { estimatedNano, maxNano } = sumOf(sampled);
  const [{ assumption } = nothing("")] = sampled;
  const rest = all - BigInt(sampled.length);
  if (rest === 0n) return { estimatedNano, maxNano, assumption: `${items.length} items. ${assumption}` };
  const other = await costOf(undefined);
  const mean = sampled.length === 0 ? other.estimatedNano : estimatedNano / BigInt(sampled.length);
  return {
    estimatedNano: estimatedNano + rest * mean,
    maxNano: maxNano + rest * other.maxNano,
    assumption:
      `${items.length} items, ${sampled.length} of them estimated. The others count with the average of these, ` +
      `the maximum assumes unknown items. ${other.assumption}`,
  };
}

function unknownListCost(one: Cost): Cost {
  return {
    estimatedNano: one.estimatedNano,
    maxNano: one.maxNano * BigInt(FOR_EACH_ITEMS_MAX),
    assumption: `${one.assumption} The list is unknown before a run: the estimate assumes one item, the maximum ${FOR_EACH_ITEMS_MAX}.`,
  };
}

/** Returns the costs of the first items, as many as the remaining work allows. */
async function sampleItems(
  items: readonly unknown[],
  costOf: CostOfItem,
  work: EstimateWork,
): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  for (const [index, item] of items.entries()) {
    if (work.isSpent) break;
    costs.push(await costOf({ item, index }));
    await work.slices.rest();
  }
  return costs;
}

function readsItem({ params, input }: CompiledStep): boolean {
  return [...params.references, ...input.references].some(
    ({ reference: { root } }) => root === "item" || root === "index",
  );
}
