/**
 * Estimates the usual and maximum cost of a run, step by step. No credits are held. Values unknown before a run count with their maximum.
 * Calls that may not happen, such as retries and steps with an unknown condition, count only in the maximum.
 */
import type { WorkflowDefinition } from "#schemas/generated/types.ts";
import type { Capability } from "#shared/calls/capabilities/entry.ts";
import { expectedOf } from "#shared/calls/capabilities/expected.ts";
import { capabilityCharge, capabilityPrice } from "#shared/calls/capabilities/price.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { EMBEDDINGS } from "#shared/calls/kinds/embeddings.ts";
import type { Kind } from "#shared/calls/kinds/kind.ts";
import { findModel } from "#shared/calls/kinds/models.ts";
import { namedFallbacks } from "#shared/calls/model-choice.ts";
import type { Model } from "#shared/calls/model.ts";
import { findDefinition, findWorkflow } from "#shared/database/workflows.ts";
import { ApiError } from "#shared/base/errors.ts";
import {
  FOR_EACH_ITEMS_MAX,
  RUN_ATTEMPTS_MAX,
  WORKFLOW_DEPTH_MAX,
  WORKFLOW_NESTED_MAX,
} from "#shared/workflows/limits.ts";

import { readerOf } from "../access.ts";
import { type CompiledDefinition, type CompiledStep, compilingDefinition } from "../definition.ts";
import { readKnownInput } from "../inputs.ts";
import { kindOf } from "../step-work.ts";
import { chatCost, embeddingsCost, mediaCost } from "./call-cost.ts";
import { atMost, type CallContext, type Cost, type CostContext, nothing, sumOf } from "./cost.ts";
import {
  type Known,
  type KnownItem,
  knownMembers,
  type KnownParams,
  openNames,
  resolveKnown,
  resolveParams,
  unitsOf,
} from "./known.ts";
import type { EstimateWork } from "./work.ts";

interface EstimateContext extends CostContext {
  /** Returns a capability. @throws ApiError `capability_not_found` */
  capability(id: string): Capability;
}

interface StepCost extends Cost {
  readonly id: string;
}

/** Maximum number of operations in one call of a capability with a list of operations. */
const OPERATIONS_MAX = 20;
/** Units of work for each estimated call, about 50 µs. The work for the values of the call is added. */
const CALL_UNITS = 5_000;

/**
 * Estimates the cost of a workflow.
 * @param attempts maximum attempts of the run
 * @param work limit of the estimate: once it is spent, values of expressions count as unknown
 * @throws ApiError of a step whose call would be rejected, with the step's location in param; `invalid_request` for definitions that take
 * too much work to read
 */
export async function estimateWorkflow(
  context: EstimateContext,
  definition: WorkflowDefinition,
  known: Known,
  attempts: number,
  work: EstimateWork,
): Promise<readonly StepCost[]> {
  const compiled = await readDefinition(definition, work);
  return new Estimate(context, work).ofSteps(compiled, { known, attempts, depth: 0 });
}

/** A run in the estimate: the estimated run, or a run that one of its steps starts. */
interface Run {
  readonly known: Known;
  readonly attempts: number;
  readonly depth: number;
}

class Estimate {
  readonly #context: EstimateContext;
  readonly #work: EstimateWork;
  readonly #workflows: EstimatedWorkflows;
  /**
   * Costs of steps, computed after the work limit was spent. Values of the expressions then count as unknown, so that a step has the same
   * cost for every item.
   */
  readonly #unknown = new Map<CompiledStep, Cost>();

  constructor(context: EstimateContext, work: EstimateWork) {
    this.#context = context;
    this.#work = work;
    this.#workflows = new EstimatedWorkflows(context, work);
  }

  async ofSteps({ steps }: CompiledDefinition, run: Run): Promise<readonly StepCost[]> {
    const costs: StepCost[] = [];
    for (const [at, step] of steps.entries()) {
      try {
        costs.push({ id: step.step.id, ...(await this.#ofStep(step, run)) });
      } catch (error) {
        throw error instanceof ApiError ? placed(error, step, `definition.steps[${at}]`) : error;
      }
      await this.#work.slices.yieldIfOver();
    }
    return costs;
  }

  async #ofStep(compiled: CompiledStep, run: Run): Promise<Cost> {
    const { step, condition, list } = compiled;
    const met = resolveKnown(condition, run.known, undefined, this.#work);
    if (met && ("fault" in met || typeof met.value !== "boolean")) {
      return nothing("The step fails: its condition is neither true nor false.");
    }
    if (met?.value === false) return nothing("The step is skipped: its condition is false.");
    const items = list && resolveKnown(list, run.known, undefined, this.#work);
    if (items && "fault" in items) return nothing("The step fails: its list cannot be evaluated.");
    const costOf = (item: KnownItem | undefined): Promise<Cost> => this.#ofCall(compiled, run, item);
    const cost = list ? await listCost(compiled, items, costOf, this.#work) : await costOf(undefined);
    const tries = BigInt(run.attempts * (step.retry?.max_attempts ?? 1));
    const said: string[] = [];
    if (met === undefined) said.push("The condition is unknown before a run: only the maximum includes the step.");
    if (tries > 1n) said.push(`The maximum includes ${tries} attempts.`);
    return {
      estimatedNano: met === undefined ? 0n : cost.estimatedNano,
      maxNano: cost.maxNano * tries,
      assumption: [cost.assumption, ...said].join(" "),
    };
  }

  async #ofCall(compiled: CompiledStep, run: Run, item: KnownItem | undefined): Promise<Cost> {
    const { step, params } = compiled;
    if (step.type === "sub_pipeline") return this.#ofNested(compiled, run, item);
    const { isSpent } = this.#work;
    const remembered = isSpent ? this.#unknown.get(compiled) : undefined;
    if (remembered) return remembered;
    const resolved = await resolveParams(step.params ?? {}, params, run.known, item, this.#work);
    this.#work.count(CALL_UNITS + unitsOf(resolved.value));
    const cost =
      step.type === "model"
        ? await modelCost({ ...this.#context, work: this.#work }, step.model ?? "", resolved)
        : this.#ofCapability(step.type, resolved);
    if (isSpent) this.#unknown.set(compiled, cost);
    return cost;
  }

  #ofCapability(id: string, params: KnownParams): Cost {
    const capability = this.#context.capability(id);
    const price = capabilityPrice(this.#context.catalogue, capability);
    const { operations: list } = knownMembers(params);
    const operations = Array.isArray(list) ? list.length : 1;
    const most = openNames(params).includes("operations") ? OPERATIONS_MAX : operations;
    const ofMany = (count: number) => expectedOf(capability, { operations: Array.from({ length: count }) }, {});
    return {
      estimatedNano: capabilityCharge(price, ofMany(operations).usual).nano,
      maxNano: capabilityCharge(price, ofMany(most).most).nano,
      assumption: "The run is charged for the measured amount; the maximum assumes the limits of a run.",
    };
  }

  async #ofNested({ step, input }: CompiledStep, run: Run, item: KnownItem | undefined): Promise<Cost> {
    const depth = run.depth + 1;
    const found = await this.#workflows.find((step.workflow_id ?? "").toLowerCase(), step.version, depth);
    const { definition } = found.compiled;
    const resolved = await resolveParams(step.input ?? {}, input, run.known, item, this.#work);
    const open = openNames(resolved);
    this.#work.count(CALL_UNITS + unitsOf(resolved.value));
    const inputs = readKnownInput(definition.inputs ?? {}, knownMembers(resolved), open);
    const known: Known = { inputs, unknown: new Set(open) };
    // Counts the nested run's own retries, even if its mode allows none: the maximum is estimated.
    const attempts = Math.min(RUN_ATTEMPTS_MAX, Math.max(1, definition.retry?.max_attempts ?? 1));
    return this.#workflows.costOf(found, depth, known, async () => {
      const steps = await this.ofSteps(found.compiled, { known, attempts, depth });
      return { ...atMost(sumOf(steps), definition.max_credits), assumption: `A workflow of ${steps.length} steps.` };
    });
  }
}

const NESTED = "Nested workflow: ";

/**
 * Returns an error whose param is a location in the caller's own definition. For an error inside a nested workflow, the param is the step
 * that runs this workflow.
 */
function placed({ code, message, param, cause }: ApiError, { step }: CompiledStep, place: string): ApiError {
  if (param === null) return new ApiError(code, message, { param: place, cause });
  if (step.type !== "sub_pipeline") {
    const at = param === "model" ? `${place}.model` : `${place}.params.${param}`;
    return new ApiError(code, message, { param: at, cause });
  }
  if (param.startsWith("input.")) return new ApiError(code, message, { param: `${place}.${param}`, cause });
  const said = message.startsWith(NESTED) ? message : NESTED + message;
  return new ApiError(code, said, { param: place, cause });
}

// Cost of a model call, as far as its params are known: usual and maximum.

/**
 * Returns the cost of a step's call to a model.
 * @throws ApiError if the model rejects the known params
 */
async function modelCost(context: CallContext, slug: string, params: KnownParams): Promise<Cost> {
  const model = findModel(context.catalogue, slug);
  const [kind, ...others] = kindsOf(model, params);
  const own = await costOn(context, model, kind, params);
  let { maxNano } = own;
  for (const other of others) {
    const cost = await costOn(context, model, other, params).catch(passOver);
    if (cost && cost.maxNano > maxNano) maxNano = cost.maxNano;
  }
  const named = namedFallbacks(kind, context.catalogue, model, knownMembers(params));
  const isContinued = named === undefined && context.caller.continuedChains?.has(slug) === true;
  // A fallback serves at its own price; for a continued stream, every participating model is paid.
  for (const name of named ?? context.caller.fallbackChains?.get(slug) ?? []) {
    const other = context.catalogue.models.get(name);
    const cost = other && kind.isOfKind(other) ? await costOn(context, other, kind, params).catch(passOver) : undefined;
    if (!cost) continue;
    if (isContinued) maxNano += cost.maxNano;
    else if (cost.maxNano > maxNano) maxNano = cost.maxNano;
  }
  return { ...own, maxNano };
}

/**
 * Returns the kinds of call that the step may make. An input image that is unknown before the run may be null, and the call then creates an
 * image from text only.
 */
function kindsOf(model: Model, params: KnownParams): readonly [Kind, ...Kind[]] {
  const known = knownMembers(params);
  const open = Object.fromEntries(openNames(params).map((name) => [name, ""]));
  const [kind, other] = [kindOf(model, { ...known, ...open }), kindOf(model, known)];
  return kind === other ? [kind] : [kind, other];
}

/** Ignores the error of a fallback that rejects the call, because such a fallback is also skipped during a run. */
function passOver(error: unknown): undefined {
  if (error instanceof ApiError) return undefined;
  throw error;
}

/** Returns the cost of a call on one model, which is at most `max_credits` of its params. */
async function costOn(context: CallContext, model: Model, kind: Kind, params: KnownParams): Promise<Cost> {
  const { max_credits: credits } = params.value;
  return atMost(await fullCostOn(context, model, kind, params), typeof credits === "number" ? credits : undefined);
}

async function fullCostOn(context: CallContext, model: Model, kind: Kind, params: KnownParams): Promise<Cost> {
  if (kind === CHAT) return chatCost(context, model, params);
  if (kind === EMBEDDINGS) return embeddingsCost(context, model, params);
  return mediaCost(context, model, kind, params);
}

// Cost of a step that runs for each item of a list.

/** Returns the cost of a step for one item. @param item undefined for an unknown item */
type CostOfItem = (item: KnownItem | undefined) => Promise<Cost>;

/**
 * Returns the cost of a step for all items of its list.
 * @param list list of the step; undefined if it is unknown before a run
 */
async function listCost(
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
  const remaining = all - BigInt(sampled.length);
  if (remaining === 0n) return { estimatedNano, maxNano, assumption: `${items.length} items. ${assumption}` };
  const other = await costOf(undefined);
  const mean = sampled.length === 0 ? other.estimatedNano : estimatedNano / BigInt(sampled.length);
  return {
    estimatedNano: estimatedNano + remaining * mean,
    maxNano: maxNano + remaining * other.maxNano,
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

/** Returns the costs of the first items of a list. Stops when the work limit of the estimate is spent. */
async function sampleItems(
  items: readonly unknown[],
  costOf: CostOfItem,
  work: EstimateWork,
): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  for (const [index, item] of items.entries()) {
    if (work.isSpent) break;
    costs.push(await costOf({ item, index }));
    await work.slices.yieldIfOver();
  }
  return costs;
}

function readsItem({ params, input }: CompiledStep): boolean {
  return [...params.references, ...input.references].some(
    ({ reference: { root } }) => root === "item" || root === "index",
  );
}

// Workflows of an estimate: each is read once, and its cost is cached by input.

interface Found {
  readonly id: string;
  readonly version: number;
  readonly compiled: CompiledDefinition;
}

/**
 * Compiles a definition that is stored or was already checked.
 * @throws ApiError `invalid_request` if all definitions of the estimate together take too much work
 */
async function readDefinition(
  definition: WorkflowDefinition,
  { slices, reading }: EstimateWork,
): Promise<CompiledDefinition> {
  try {
    return await slices.run(compilingDefinition(definition, reading));
  } catch (error) {
    if (reading.remaining >= 0) throw error;
    const message = "The expressions of the workflows are too complex for an estimate; use fewer or shorter ones.";
    throw new ApiError("invalid_request", message, { cause: error });
  }
}

class EstimatedWorkflows {
  readonly #context: CostContext;
  readonly #work: EstimateWork;
  /** Workflows that were already read, by their id and version in the step. */
  readonly #found = new Map<string, Found>();
  readonly #depths = new Set<string>();
  readonly #costs = new Map<string, Cost>();

  constructor(context: CostContext, work: EstimateWork) {
    this.#context = context;
    this.#work = work;
  }

  /**
   * Finds a workflow that a step runs. The permission was checked when the definition was written.
   * @param version undefined means the latest version
   * @throws ApiError `workflow_not_found`; `invalid_request` for more workflows than a definition may use
   */
  async find(workflowId: string, version: number | undefined, depth: number): Promise<Found> {
    if (depth > WORKFLOW_DEPTH_MAX) {
      throw new ApiError("invalid_request", `Expected workflows nested at most ${WORKFLOW_DEPTH_MAX} deep.`);
    }
    const key = `${workflowId} ${version ?? ""}`;
    this.#depths.add(`${depth} ${key}`);
    if (this.#depths.size > WORKFLOW_NESTED_MAX) {
      throw new ApiError("invalid_request", `Expected at most ${WORKFLOW_NESTED_MAX} workflows in an estimate.`);
    }
    const found = this.#found.get(key) ?? (await this.#read(workflowId, version));
    this.#found.set(key, found);
    return found;
  }

  async #read(workflowId: string, asked: number | undefined): Promise<Found> {
    const { database, caller } = this.#context;
    const row = await findWorkflow(database, { ...readerOf(caller), seesAll: true }, workflowId);
    if (!row) throw new ApiError("workflow_not_found", "There is no such workflow in this workspace.");
    const version = asked ?? row.latest_version;
    const definition = await findDefinition(database, row.id, version);
    if (definition === undefined) {
      throw new ApiError("workflow_not_found", `The workflow has no version ${version}.`);
    }
    return { id: row.id, version, compiled: await readDefinition(definition as WorkflowDefinition, this.#work) };
  }

  /** Returns the cost of a workflow. @param cost computes the cost if it is not cached */
  async costOf({ id, version }: Found, depth: number, known: Known, cost: () => Promise<Cost>): Promise<Cost> {
    const key = `${id} ${version} ${depth} ${digest([known.inputs, [...known.unknown].toSorted()])}`;
    const remembered = this.#costs.get(key) ?? (await cost());
    this.#costs.set(key, remembered);
    return remembered;
  }
}

function digest(value: unknown): string {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(value)).digest("base64");
}
