/** Workflows of an estimate: each is read once, and its cost is cached by input. */
import type { WorkflowDefinition } from "#schemas/generated/types.ts";
import { findDefinition, findWorkflow } from "#shared/database/workflows.ts";
import { ApiError } from "#shared/errors.ts";
import { WORKFLOW_DEPTH_MAX, WORKFLOW_NESTED_MAX } from "#shared/workflows/limits.ts";

import { readerOf } from "../access.ts";
import { type CompiledDefinition, compilingDefinition } from "../definition.ts";
import type { Cost, CostContext } from "./cost.ts";
import type { Known } from "./known.ts";
import type { EstimateWork } from "./work.ts";

export interface Found {
  readonly id: string;
  readonly version: number;
  readonly compiled: CompiledDefinition;
}

/** Compiles a stored or checked definition. @throws ApiError `invalid_request` if all definitions together take too much work */
export async function readDefinition(
  definition: WorkflowDefinition,
  { slices, reading }: EstimateWork,
): Promise<CompiledDefinition> {
  try {
    return await slices.run(compilingDefinition(definition, reading));
  } catch (error) {
    if (reading.left >= 0) throw error;
    const message = "The expressions of the workflows are too complex for an estimate; use fewer or shorter ones.";
    throw new ApiError("invalid_request", message, { cause: error });
  }
}

export class EstimatedWorkflows {
  readonly #context: CostContext;
  readonly #work: EstimateWork;
  /** By id and version as named by steps. */
  readonly #found = new Map<string, Found>();
  readonly #depths = new Set<string>();
  readonly #costs = new Map<string, Cost>();

  constructor(context: CostContext, work: EstimateWork) {
    this.#context = context;
    this.#work = work;
  }

  /**
   * Finds a workflow that a step runs. The permission was checked when the definition was written.
   * @param version undefined: the latest
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

  /** @param cost computes the cost if it is not cached */
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
