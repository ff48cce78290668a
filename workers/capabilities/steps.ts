/** Handles the steps of pipelines: published schemas, validation, assets, and error messages that name the step. */
import type { Rule, Schema } from "#shared/calls/capabilities/entry.ts";
import { brokenRule } from "#shared/calls/capabilities/rules.ts";
import { MediaError } from "#shared/children/media-error.ts";

import type { InputFile } from "./define.ts";
import { custom, objectSchema, type Param, type Params, type ParamsOf, text, withDefaults } from "./params.ts";

/** Files that steps use as their second input, by name. */
export type Assets = Readonly<Record<string, InputFile | undefined>>;

/** Members of an operation that pipelines use. */
export interface StepOperation {
  readonly params: Params;
  readonly rules?: readonly Rule[];
  readonly valueSources?: readonly string[];
  /** Second input file of the operation: a member of `input` if the operation is a capability of its own, or an asset in a pipeline. */
  readonly second?: { readonly member: string; readonly isOptional?: true };
}

interface Step {
  readonly operation: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Validated step of a pipeline. */
export interface ReadyStep<O extends StepOperation> {
  readonly operation: O;
  /** Parameters of the step with their defaults, without `asset`. */
  readonly params: Readonly<Record<string, unknown>>;
  /** File that the step's parameter `asset` names; undefined if there is none. */
  readonly second: InputFile | undefined;
  /** Index of the step, from 0. */
  readonly at: number;
}

const STEPS_MAX = 20;

/**
 * Returns the parameters of a pipeline capability.
 * @param output parameters for the format and encoding of the result
 */
export function pipelineParams<const P extends Params>(
  operations: Readonly<Record<string, StepOperation>>,
  output: P,
): { readonly operations: Param<readonly Step[]>; readonly output: Param<ParamsOf<P>> } {
  const items = { anyOf: Object.entries(operations).map(([name, operation]) => stepSchema(name, operation)) };
  return {
    operations: custom<readonly Step[], { readonly required: true }>(
      { description: "Operations to apply, in this order.", type: "array", items, minItems: 1, maxItems: STEPS_MAX },
      { required: true },
    ),
    output: custom(
      { ...objectSchema(output), description: "Format and encoding of the result.", default: {} },
      {},
    ) as Param<ParamsOf<P>>,
  };
}

function stepSchema(name: string, { params, valueSources, second }: StepOperation): Schema {
  const asset = second === undefined ? {} : { asset: assetParam(second) };
  const schema = objectSchema(
    { ...params, ...asset },
    valueSources === undefined ? {} : { "x-svc-value-sources": valueSources },
  );
  return {
    title: name,
    type: "object",
    properties: { operation: { const: name }, params: schema },
    required: schema["required"] === undefined ? ["operation"] : ["operation", "params"],
    additionalProperties: false,
  };
}

function assetParam({ member, isOptional }: NonNullable<StepOperation["second"]>): Param<unknown> {
  const description = `Name of the member of \`input.assets\` to use as the ${member}.`;
  return isOptional ? text(description, { max: 40 }) : text(description, { max: 40, required: true });
}

/**
 * Validates and runs the steps in order.
 * @throws MediaError that names the failed step by its index
 */
export async function inSteps<O extends StepOperation>(
  operations: Readonly<Record<string, O>>,
  steps: readonly Step[],
  assets: Assets | undefined,
  apply: (step: ReadyStep<O>) => Promise<void>,
): Promise<void> {
  for (const [at, { operation: name, params = {} }] of steps.entries()) {
    const operation = operations[name];
    if (!operation)
      throw new MediaError("invalid", `Expected params.operations[${at}].operation to be a known operation.`);
    try {
      await apply(readyStep(operation, params, assets ?? {}, at));
    } catch (error) {
      throw error instanceof MediaError ? inPlace(error, at, operation) : error;
    }
  }
}

function readyStep<O extends StepOperation>(
  operation: O,
  stepParams: Readonly<Record<string, unknown>>,
  assets: Assets,
  at: number,
): ReadyStep<O> {
  const { rules = [], valueSources = [], second } = operation;
  const oneOf: Rule = { rule: "one", of: valueSources.map((name) => `params.${name}`) };
  const broken = brokenRule([...rules, oneOf], { params: stepParams });
  if (broken) throw new MediaError("invalid", broken.message);
  const { asset, ...own } = stepParams;
  const file = second && typeof asset === "string" ? assetOf(assets, asset, "params.asset") : undefined;
  return { operation, params: withDefaults(operation.params, own), second: file, at };
}

/**
 * Returns the error of a step with another message. Parameter names in the message become locations in the pipeline, such as
 * `params.operations[2].params.width`.
 */
function inPlace(fault: MediaError, at: number, { second }: StepOperation): MediaError {
  const place = `params.operations[${at}].params.`;
  const said = fault.message.replaceAll("params.", place);
  const message = second === undefined ? said : said.replaceAll(`input.${second.member}`, `${place}asset`);
  return new MediaError(fault.fault, message, { cause: fault });
}

/** Returns an asset by its name. @throws MediaError invalid if `input.assets` has no such name */
export function assetOf(assets: Assets, name: string, param: string): InputFile {
  const file = Object.hasOwn(assets, name) ? assets[name] : undefined;
  if (file) return file;
  throw new MediaError("invalid", `Expected ${param} to name a member of input.assets, got ${name.slice(0, 40)}.`);
}
