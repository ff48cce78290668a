/** Checks workflows that run other workflows: no recursion, limited depth, and a limited number of calls and runs. */
import type { WorkflowDefinition, WorkflowStep } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { Queryable } from "#shared/database/client.ts";
import { findDefinition, findWorkflow } from "#shared/database/workflows.ts";
import { ApiError, apiErrorsOf } from "#shared/base/errors.ts";

import type { TimeSlices } from "#shared/base/time-slices.ts";

import { mayRun, readerOf } from "./access.ts";
import { compilingBinding, constantOf } from "./bindings.ts";
import { readKnownInput } from "./inputs.ts";
import { renamed } from "./step-work.ts";
import { WORKFLOW_WORK_MAX, WORKFLOW_DEPTH_MAX, WORKFLOW_NESTED_MAX } from "./limits.ts";

/** A workflow that a step runs. */
interface Nested {
  readonly workflowId: string;
  readonly version: number | undefined;
  /** JSON path of the step in the checked definition that runs this workflow, directly or through other workflows. */
  readonly param: string;
}

interface Author {
  readonly caller: Caller;
  /** Id of the workflow whose definition is checked; undefined for a new or inline one. */
  readonly id: string | undefined;
  /**
   * Latest stored definition of the workflow. The new definition may run every workflow that this one already runs, even if the author may
   * not run it.
   */
  readonly earlier?: WorkflowDefinition | undefined;
}

/**
 * Checks the nested workflows of a definition.
 * @throws ApiError `invalid_workflow_definition` that names the step
 */
export async function checkNesting(
  target: Queryable,
  author: Author,
  definition: WorkflowDefinition,
  slices: TimeSlices,
): Promise<void> {
  const kept = new Set((author.earlier?.steps ?? []).flatMap((step) => idOf(step) ?? []));
  const walk = new Walk(target, author, kept);
  let work = 0;
  for (const [at, step] of definition.steps.entries()) {
    await slices.yieldIfOver();
    const param = `definition.steps[${at}].workflow_id`;
    work += await walk.workOf(step, param, 1);
    if (work > WORKFLOW_WORK_MAX) {
      const message = `Expected at most ${WORKFLOW_WORK_MAX} calls and runs in total, including the items of literal lists.`;
      throw refused(param, message);
    }
    const child = walk.loadedFor(step);
    if (child) await slices.run(checkStepInput(step, child, `definition.steps[${at}]`));
  }
}

/** Checks the known part of a step's input against the inputs that the nested workflow declares. */
function* checkStepInput(
  { input = {} }: WorkflowStep,
  { inputs = {} }: WorkflowDefinition,
  place: string,
): Generator<void, void> {
  const known: Record<string, unknown> = {};
  const open: string[] = [];
  for (const [name, member] of Object.entries(input)) {
    const binding = yield* compilingBinding(member, "");
    const constant = "fault" in binding ? undefined : constantOf(binding);
    if (constant && "value" in constant) known[name] = constant.value;
    else open.push(name);
  }
  const [fault] = apiErrorsOf(() => readKnownInput(inputs, known, open));
  if (!fault) return;
  const { param, message } = fault;
  if (param === null) throw refused(place, message);
  throw refused(`${place}.${param}`, renamed(message, param, `${place}.${param}`));
}

class Walk {
  private readonly target: Queryable;
  private readonly author: Author;
  private readonly kept: ReadonlySet<string>;
  /** Number of calls and runs of each nested workflow that was already read, by workflow, version and depth. */
  private readonly known = new Map<string, number>();
  /** Definitions by workflow and version. */
  private readonly loaded = new Map<string, WorkflowDefinition>();

  constructor(target: Queryable, author: Author, kept: ReadonlySet<string>) {
    this.target = target;
    this.author = author;
    this.kept = kept;
  }

  /** Returns the number of calls and runs that the step causes. */
  async workOf(step: WorkflowStep, param: string, depth: number): Promise<number> {
    const items = Array.isArray(step.for_each) ? step.for_each.length : 1;
    const workflowId = idOf(step);
    if (workflowId === undefined) return items;
    return items * (1 + (await this.nestedWork({ workflowId, version: step.version, param }, depth)));
  }

  /** Returns the definition of the workflow that the step runs. Available after `workOf` was called for the step. */
  loadedFor(step: WorkflowStep): WorkflowDefinition | undefined {
    const workflowId = idOf(step);
    return workflowId === undefined ? undefined : this.loaded.get(keyOf({ workflowId, version: step.version }));
  }

  private async nestedWork(nested: Nested, depth: number): Promise<number> {
    const { workflowId, param } = nested;
    if (workflowId === this.author.id) throw refused(param, "A workflow must not run itself.");
    if (depth > WORKFLOW_DEPTH_MAX) {
      throw refused(param, `Expected workflows nested at most ${WORKFLOW_DEPTH_MAX} deep.`);
    }
    const key = `${depth} ${keyOf(nested)}`;
    const found = this.known.get(key);
    if (found !== undefined) return found;
    if (this.known.size >= WORKFLOW_NESTED_MAX) {
      throw refused(param, `Expected at most ${WORKFLOW_NESTED_MAX} nested workflows in total.`);
    }
    this.known.set(key, 0);
    const definition = await this.load(nested, depth);
    let work = 0;
    for (const step of definition.steps) work += await this.workOf(step, param, depth + 1);
    this.known.set(key, work);
    return work;
  }

  /** Loads the definition of a nested workflow. A workflow that the author may not run is reported as missing. */
  private async load({ workflowId, version, param }: Nested, depth: number): Promise<WorkflowDefinition> {
    const { caller } = this.author;
    // Workflows used by a nested workflow were checked when its definition was written, for its author.
    const isJudged = depth > 1 || this.kept.has(workflowId);
    const reader = { ...readerOf(caller), ...(isJudged ? { seesAll: true } : {}) };
    const row = await findWorkflow(this.target, reader, workflowId);
    if (!row || !(isJudged || mayRun(row, caller))) {
      throw refused(param, "Expected a workflow of this workspace that this key may run.");
    }
    const found = await findDefinition(this.target, row.id, version ?? row.latest_version);
    if (found === undefined)
      throw refused(param, `Expected a version from 1 to ${row.latest_version}, got ${version}.`);
    this.loaded.set(keyOf({ workflowId, version }), found as WorkflowDefinition);
    return found as WorkflowDefinition;
  }
}

function keyOf({ workflowId, version }: Pick<Nested, "workflowId" | "version">): string {
  return `${workflowId} ${version ?? ""}`;
}

function idOf(step: WorkflowStep): string | undefined {
  return step.workflow_id?.toLowerCase();
}

function refused(param: string, message: string): ApiError {
  return new ApiError("invalid_workflow_definition", message, { param });
}
