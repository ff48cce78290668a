/**
 * What a run of a workflow would cost, step by step: usually, and at most. Nothing is held. What is not known before a run counts at
 * its bound; what may not happen, such as tries again and steps behind a condition that is not known, counts in the most alone.
 */
import type { WorkflowDefinition, WorkflowStep } from "#schemas/generated/types.ts";
import type { Capability } from "#shared/capabilities/entry.ts";
import { capabilityBound, capabilityPrice, usualCost } from "#shared/capabilities/price.ts";
import { findDefinition, findWorkflow } from "#shared/database/workflows.ts";
import { ApiError } from "#shared/errors.ts";
import { LIMITS } from "#shared/limits.ts";

import { readerOf } from "../access.ts";
import { type Known, type KnownItem, resolveKnown, resolveMembers } from "./known.ts";
import { type Cost, type CostContext, modelCost } from "./model-cost.ts";

export interface EstimateContext extends CostContext {
  /** @throws ApiError `capability_not_found` */
  capability(id: string): Capability;
}

export interface StepCost extends Cost {
  readonly id: string;
}

/** Operations of one pipeline, at most. */
const OPERATIONS_MAX = 20;
/** Calls of lists that are looked at one by one; longer lists are taken as so many of the dearest of these. */
const LOOKED_AT_MAX = 100;

/**
 * @param attempts of the run, at most
 * @throws ApiError of a step whose call would be refused, its param led by the step's place
 */
export async function estimateWorkflow(
  context: EstimateContext,
  definition: WorkflowDefinition,
  known: Known,
  attempts: number,
): Promise<readonly StepCost[]> {
  const looked = { definitions: 0 };
  return estimateSteps(context, definition, known, attempts, 0, looked);
}

async function estimateSteps(
  context: EstimateContext,
  definition: WorkflowDefinition,
  known: Known,
  attempts: number,
  depth: number,
  looked: { definitions: number },
): Promise<readonly StepCost[]> {
  looked.definitions += 1;
  if (looked.definitions > LIMITS.workflowNestedMax) {
    throw new ApiError(
      "invalid_request",
      `Expected at most ${LIMITS.workflowNestedMax} workflows to be looked at for an estimate.`,
    );
  }
  const costs: StepCost[] = [];
  for (const [at, step] of definition.steps.entries()) {
    try {
      costs.push({ id: step.id, ...(await stepCost(context, step, known, attempts, depth, looked)) });
    } catch (error) {
      if (!(error instanceof ApiError) || depth > 0) throw error;
      const place = `definition.steps[${at}]`;
      throw new ApiError(error.code, error.message, {
        param: error.param === null ? place : `${place}.params.${error.param}`,
      });
    }
  }
  return costs;
}

async function stepCost(
  context: EstimateContext,
  step: WorkflowStep,
  known: Known,
  attempts: number,
  depth: number,
  looked: { definitions: number },
): Promise<Cost> {
  const condition = resolveKnown(step.if ?? true, known, undefined);
  if (condition?.value === false) return { estimatedNano: 0n, maxNano: 0n, assumption: "Its condition is false." };
  const list = step.for_each === undefined ? undefined : resolveKnown(step.for_each, known, undefined);
  const items = list && Array.isArray(list.value) ? (list.value as unknown[]) : undefined;
  const tries = BigInt(attempts * (step.retry?.max_attempts ?? 1));
  const said: string[] = [];
  let cost: Cost;
  if (step.for_each === undefined) cost = await callCost(context, step, known, undefined, depth, looked);
  else if (items) cost = await listCost(context, step, known, items, depth, looked);
  else {
    const one = await callCost(context, step, known, undefined, depth, looked);
    cost = { ...one, maxNano: one.maxNano * BigInt(LIMITS.forEachItemsMax) };
    said.push(
      `Its list is not known before a run: one item is taken for usual, ${LIMITS.forEachItemsMax} for the most.`,
    );
  }
  if (condition === undefined) said.push("Its condition is not known before a run: the most alone counts it.");
  if (tries > 1n) said.push(`The most counts ${tries} tries.`);
  return {
    estimatedNano: condition === undefined ? 0n : cost.estimatedNano,
    maxNano: cost.maxNano * tries,
    assumption: [cost.assumption, ...said].join(" "),
  };
}

async function listCost(
  context: EstimateContext,
  step: WorkflowStep,
  known: Known,
  items: readonly unknown[],
  depth: number,
  looked: { definitions: number },
): Promise<Cost> {
  const costs: Cost[] = [];
  // The largest come first, which are likely the dearest; the rest count as one that is not known.
  for (const [index, item] of items.slice(0, LOOKED_AT_MAX).entries()) {
    costs.push(await callCost(context, step, known, { item, index }, depth, looked));
  }
  const rest = items.length - costs.length;
  const other = rest > 0 ? await callCost(context, step, known, undefined, depth, looked) : undefined;
  const sum = (of: "estimatedNano" | "maxNano"): bigint =>
    costs.reduce((total, one) => total + one[of], 0n) + (other?.[of] ?? 0n) * BigInt(rest);
  const assumption = `${items.length} items. ${costs[0]?.assumption ?? "There is nothing to do."}`;
  return { estimatedNano: sum("estimatedNano"), maxNano: sum("maxNano"), assumption };
}

async function callCost(
  context: EstimateContext,
  step: WorkflowStep,
  known: Known,
  item: KnownItem | undefined,
  depth: number,
  looked: { definitions: number },
): Promise<Cost> {
  if (step.type === "model")
    return modelCost(context, step.model ?? "", resolveMembers(step.params ?? {}, known, item));
  if (step.type === "sub_pipeline") return nestedCost(context, step, known, item, depth, looked);
  const capability = context.capability(step.type);
  const price = capabilityPrice(context.catalogue, capability);
  const { known: params, unknown } = resolveMembers(step.params ?? {}, known, item);
  const given = params["operations"];
  const operations = Array.isArray(given) ? given.length : 1;
  const most = unknown.includes("operations") ? OPERATIONS_MAX : operations;
  return {
    estimatedNano: usualCost(price, operations),
    maxNano: capabilityBound(price, capability, most),
    assumption: "Settled at what is measured; the most is what a run may measure.",
  };
}

async function nestedCost(
  context: EstimateContext,
  step: WorkflowStep,
  known: Known,
  item: KnownItem | undefined,
  depth: number,
  looked: { definitions: number },
): Promise<Cost> {
  if (depth >= LIMITS.workflowDepthMax) {
    throw new ApiError(
      "invalid_request",
      `Expected workflows that run others to a depth of at most ${LIMITS.workflowDepthMax}.`,
    );
  }
  const reader = { ...readerOf(context.caller), seesAll: true };
  const row = await findWorkflow(context.database, reader, (step.workflow_id ?? "").toLowerCase());
  const found = row && (await findDefinition(context.database, row.id, step.version ?? row.latest_version));
  if (!found) throw new ApiError("workflow_not_found", "There is no such workflow in this workspace.");
  const definition = found as WorkflowDefinition;
  const { known: values, unknown } = resolveMembers(step.input ?? {}, known, item);
  const defaults = Object.entries(definition.inputs ?? {}).flatMap(([name, { default: fallback }]) =>
    fallback === undefined || name in values ? [] : [[name, fallback] as const],
  );
  const inner: Known = {
    inputs: { ...Object.fromEntries(defaults.filter(([name]) => !unknown.includes(name))), ...values },
    unknown: new Set(unknown),
  };
  // Its own tries count where its run is one of those that may be tried again: the most is meant.
  const attempts = Math.min(LIMITS.runAttemptsMax, Math.max(1, definition.retry?.max_attempts ?? 1));
  const steps = await estimateSteps(context, definition, inner, attempts, depth + 1, looked);
  return { ...sumOf(steps), assumption: `A workflow of ${steps.length} steps.` };
}

export function sumOf(costs: readonly Cost[]): { readonly estimatedNano: bigint; readonly maxNano: bigint } {
  return {
    estimatedNano: costs.reduce((sum, { estimatedNano }) => sum + estimatedNano, 0n),
    maxNano: costs.reduce((sum, { maxNano }) => sum + maxNano, 0n),
  };
}
