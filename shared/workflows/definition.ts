/** Checks and compiles a workflow definition once. Errors are reported with their location; valid definitions are compiled for runs. */
import type { WorkflowDefinition, WorkflowStep } from "#schemas/generated/types.ts";
import type { Fault } from "#shared/json/contract-fault.ts";
import { tryParse } from "#shared/json/contracts.ts";
import { ApiError, apiErrorsOf } from "#shared/base/errors.ts";
import { readMaxCredits } from "#shared/calls/max-credits.ts";
import { runWhole } from "#shared/base/time-slices.ts";

import { type Binding, compilingBinding, constantOf, type DefinitionFault, type Placed } from "./bindings.ts";
import { typeOf, Work } from "./expressions/work.ts";
import { checkInputs } from "./inputs.ts";
import { CHAT_OUTPUT, checkStepWork, kindOf, renamed, type Surroundings } from "./step-work.ts";

export const DEFINITION_BYTES_MAX = 262_144;

/** Maximum work of reading a definition, in units (some 50 ms). A character of a CEL expression costs 40 units. */
export const DEFINITION_WORK_MAX = 5_000_000;

export interface CompiledStep {
  readonly step: WorkflowStep;
  readonly condition: Binding;
  readonly list: Binding | undefined;
  readonly params: Binding;
  readonly input: Binding;
  /** Ids of the steps on which this step depends. */
  readonly waitsFor: ReadonlySet<string>;
}

export interface CompiledDefinition {
  readonly definition: WorkflowDefinition;
  readonly steps: readonly CompiledStep[];
  readonly output: Binding;
}

/** Names that inputs and steps must not have, because they have another meaning in expressions. */
const RESERVED: ReadonlySet<string> = new Set(
  "inputs steps item index run in true false null constructor prototype".split(" "),
);
const PLACE = "definition";

/**
 * Compiles a stored definition, which was checked when it was written. A missing model or capability causes an error later, when its step
 * runs.
 * @throws Error if its expressions can no longer be parsed
 */
export function compileDefinition(definition: WorkflowDefinition): CompiledDefinition {
  return runWhole(compilingDefinition(definition));
}

/**
 * Compiles a definition, and yields between parts so that other calls on the thread can run.
 * @param reading work limit for compiling, shared with other definitions that are compiled for the same request; default: no limit
 */
export function* compilingDefinition(
  definition: WorkflowDefinition,
  reading?: Work,
): Generator<void, CompiledDefinition> {
  const bind = function* (one: unknown, at: string): Generator<void, Binding> {
    const binding = yield* compilingBinding(one, at, reading);
    if (!("fault" in binding)) return binding;
    throw new Error(`${at}: ${binding.fault.message}`);
  };
  const steps: CompiledStep[] = [];
  for (const [at, step] of definition.steps.entries()) {
    steps.push(yield* compilingStep(step, `${PLACE}.steps[${at}]`, bind));
  }
  return { definition, steps, output: yield* bind(definition.output ?? {}, `${PLACE}.output`) };
}

/** Checks and compiles a definition from a request. @throws ApiError `invalid_workflow_definition` with the location of the first error */
export function readDefinition(value: unknown, surroundings: Surroundings): CompiledDefinition {
  return runWhole(readingDefinition(value, surroundings));
}

/**
 * Checks and compiles like `readDefinition`, but yields between parts so that other calls on the thread can run.
 * @param reading work limit for compiling, shared with other definitions of the same request; default: DEFINITION_WORK_MAX for this
 * definition
 */
export function* readingDefinition(
  value: unknown,
  surroundings: Surroundings,
  reading = new Work(DEFINITION_WORK_MAX),
): Generator<void, CompiledDefinition> {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > DEFINITION_BYTES_MAX) {
    throw refused(PLACE, `Expected a definition of at most ${DEFINITION_BYTES_MAX} bytes, got ${bytes}.`);
  }
  const read = tryParse("WorkflowDefinition", value);
  if ("fault" in read) throw misplaced(read.fault);
  const definition = read.value;
  checkMax(definition);
  yield* refuseFirst(checkInputs(definition.inputs ?? {}, `${PLACE}.inputs`));
  const bind = function* (one: unknown, at: string): Generator<void, Binding> {
    const binding = yield* compilingBinding(one, at, reading);
    if (!("fault" in binding)) return binding;
    throw refused(binding.fault.param, binding.fault.message);
  };
  const steps: CompiledStep[] = [];
  for (const [at, step] of definition.steps.entries()) {
    const place = `${PLACE}.steps[${at}]`;
    const compiled = yield* compilingStep(step, place, bind);
    yield* refuseFirst(checkControl(step, place, compiled));
    yield* refuseFirst(checkStepWork(step, place, compiled, surroundings));
    steps.push(compiled);
  }
  const output = yield* bind(definition.output ?? {}, `${PLACE}.output`);
  yield* refuseFirst(checkIds(definition));
  yield* refuseFirst(checkReferences(definition, steps, output, surroundings));
  const cycle = findCycle(new Map(steps.map(({ step, waitsFor }) => [step.id, waitsFor])));
  if (cycle) {
    const at = definition.steps.findIndex(({ id }) => id === cycle[0]);
    const message = `A step must not wait for itself, got ${cycle.join(" → ")}.`;
    throw refused(`${PLACE}.steps[${at}]`, message);
  }
  return { definition, steps, output };
}

/** Checks the decimal places of `max_credits`. @throws ApiError */
function checkMax({ max_credits: credits }: WorkflowDefinition): void {
  if (credits === undefined) return;
  const [fault] = apiErrorsOf(() => readMaxCredits(credits));
  if (fault) throw refused(`${PLACE}.max_credits`, fault.message);
}

/** Throws the first error as ApiError; does nothing if there is none. Further errors are not computed. */
function* refuseFirst(faults: Iterable<DefinitionFault>): Generator<void, void> {
  yield;
  for (const { param, message } of faults) throw refused(param, message);
}

function misplaced({ param, message }: Fault): ApiError {
  if (param === null) return refused(PLACE, message);
  const place = `${PLACE}.${param}`;
  return refused(place, renamed(message, param, place));
}

function* compilingStep(
  step: WorkflowStep,
  place: string,
  bind: (one: unknown, at: string) => Generator<void, Binding>,
): Generator<void, CompiledStep> {
  const condition = yield* bind(step.if ?? true, `${place}.if`);
  const list = step.for_each === undefined ? undefined : yield* bind(step.for_each, `${place}.for_each`);
  const params = yield* bind(step.params ?? {}, `${place}.params`);
  const input = yield* bind(step.input ?? {}, `${place}.input`);
  const named = [condition, ...(list ? [list] : []), params, input].flatMap(({ references }) => references);
  const waitsFor = new Set([...(step.depends_on ?? []), ...named.flatMap(stepOf)]);
  return { step, condition, list, params, input, waitsFor };
}

function stepOf({ reference: { root, name } }: Placed): readonly string[] {
  return root === "steps" && name !== undefined ? [name] : [];
}

/** Checks that `if` and `for_each` are single expressions without text, and that `concurrency` has a list. */
function* checkControl(
  step: WorkflowStep,
  place: string,
  { condition, list }: CompiledStep,
): Generator<DefinitionFault> {
  if (typeof step.if === "string" && condition.open.length === 0) {
    yield { param: `${place}.if`, message: "Expected true, false or one expression in ${{ and }}, got text." };
  }
  if (typeof step.for_each === "string" && list?.open.length === 0) {
    yield { param: `${place}.for_each`, message: "Expected a list or one expression in ${{ and }}, got text." };
  }
  const [met, items] = [condition, list].map((one) => (one && one.open.length > 0 ? constantOf(one) : undefined));
  if (met && "value" in met && typeof met.value !== "boolean") {
    yield { param: `${place}.if`, message: `Expected if to be true or false, got ${typeOf(met.value)}.` };
  }
  if (items && "value" in items && items.value !== null && !Array.isArray(items.value)) {
    yield { param: `${place}.for_each`, message: `Expected for_each to be a list, got ${typeOf(items.value)}.` };
  }
  if (step.concurrency !== undefined && step.for_each === undefined) {
    yield { param: `${place}.concurrency`, message: "Expected concurrency only on a step with for_each." };
  }
}

function* checkIds({ steps }: WorkflowDefinition): Generator<DefinitionFault> {
  const seen = new Set<string>();
  for (const [at, { id }] of steps.entries()) {
    const param = `${PLACE}.steps[${at}].id`;
    if (RESERVED.has(id)) yield { param, message: `Expected an id other than ${[...RESERVED].join(", ")}, got ${id}.` };
    if (seen.has(id)) yield { param, message: `Expected unique ids, got ${id} twice.` };
    seen.add(id);
  }
}

function* checkReferences(
  definition: WorkflowDefinition,
  steps: readonly CompiledStep[],
  output: Binding,
  surroundings: Surroundings,
): Generator<DefinitionFault> {
  const ids = new Map(definition.steps.map((step) => [step.id, step]));
  const inputs = new Set(Object.keys(definition.inputs ?? {}));
  const check = function* (placed: readonly Placed[], hasItem: boolean): Generator<DefinitionFault> {
    for (const { reference, param } of placed) {
      const { root, name = "", members } = reference;
      const step = root === "steps" ? ids.get(name) : undefined;
      if (root === "steps" && !step) yield { param, message: `Expected a step of this definition, got steps.${name}.` };
      if (root === "inputs" && !inputs.has(name)) {
        yield { param, message: `Expected an input that the definition declares, got inputs.${name}.` };
      }
      if ((root === "item" || root === "index") && !hasItem) {
        yield { param, message: `Expected ${root} only in params and input of a step with for_each.` };
      }
      if (step) yield* checkMembers(`steps.${name}`, ["output", "status"], members, param);
      if (step && members[0] === "output") yield* checkOutput(step, members.slice(1), param, surroundings);
      if (root === "run") yield* checkMembers("run", ["id", "attempt"], members, param);
    }
  };
  for (const [at, { step, condition, list, params, input }] of steps.entries()) {
    yield* check(condition.references, false);
    yield* check(list?.references ?? [], false);
    yield* check([...params.references, ...input.references], list !== undefined);
    for (const [index, id] of (step.depends_on ?? []).entries()) {
      if (ids.has(id)) continue;
      const param = `${PLACE}.steps[${at}].depends_on[${index}]`;
      yield { param, message: `Expected the id of a step of this definition, got ${id}.` };
    }
  }
  yield* check(output.references, false);
}

/** Checks that the first name of `members`, if there is one, is one of the members that the value has in every run. */
function* checkMembers(
  value: string,
  known: readonly string[],
  [asked]: readonly string[],
  param: string,
): Generator<DefinitionFault> {
  if (asked === undefined || known.includes(asked)) return;
  const expected = `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`;
  yield { param, message: `Expected ${expected} after ${value}, got ${asked}.` };
}

/** Checks the first name that an expression reads of a step's output, for steps whose output always has the same members. */
function* checkOutput(
  step: WorkflowStep,
  members: readonly string[],
  param: string,
  { catalogue }: Surroundings,
): Generator<DefinitionFault> {
  const output = `steps.${step.id}.output`;
  if (step.for_each !== undefined) {
    if (members.length === 0) return;
    const message = `Expected an index, as in ${output}[0], because a step with for_each returns a list; got ${output}.${members[0]}.`;
    yield { param, message };
    return;
  }
  const model = step.type === "model" ? catalogue.models.get(step.model ?? "") : undefined;
  if (model && kindOf(model, step.params ?? {}).name === "chat")
    yield* checkMembers(output, CHAT_OUTPUT, members, param);
}

function refused(param: string, message: string): ApiError {
  return new ApiError("invalid_workflow_definition", message, { param });
}

// Graph of dependencies between steps.

/**
 * Finds a cycle of dependencies.
 * @param waits step id → ids of its dependencies
 * @returns the cycle, with the first id repeated at the end; undefined if there is none
 */
function findCycle(waits: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined {
  const done = new Set<string>();
  // Iterative: a definition may chain all its steps.
  for (const start of waits.keys()) {
    const path: { readonly id: string; readonly unvisited: string[] }[] = [];
    const enter = (id: string): void => void path.push({ id, unvisited: [...(waits.get(id) ?? [])] });
    if (!done.has(start)) enter(start);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const next = last.unvisited.pop();
      if (next === undefined) {
        done.add(last.id);
        path.pop();
        continue;
      }
      const from = path.findIndex(({ id }) => id === next);
      if (from !== -1) return [...path.slice(from).map(({ id }) => id), next];
      if (!done.has(next)) enter(next);
    }
  }
  return undefined;
}
