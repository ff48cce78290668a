/** Reads the tools of a call that the service runs, mainly the tool of type `sluice`. The model sees these tools as functions. */
import type { SluiceTool } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { parseCredits } from "#shared/base/money.ts";
import { refuseMisspelt } from "#shared/json/misspelt-members.ts";

import type { IngressContext } from "../context.ts";
import type { RouteCall } from "../core/call.ts";
import { noWorkflow } from "../routes/workflows/access.ts";
import { type ApiClient, openApiClient } from "./api-client.ts";
import { functionName, declareCapability, type FunctionDeclaration, declareWorkflows } from "./catalogue.ts";
import type { LoopLimits, LoopTool } from "./loop.ts";
import { runTool } from "./run-tool.ts";

const ROUNDS_DEFAULT = 8;
/** Maximum number of tool runs per response. With 16 KiB per result, the runs add a limited amount of memory to a request. */
const RUNS_MAX = 64;

interface AnyTool {
  readonly type: string;
}

type Other<T extends AnyTool> = Exclude<T, { readonly type: "sluice" }>;

export interface ToolSet<T extends AnyTool> {
  /** Tools that the caller runs, in the order of the request. */
  readonly others: readonly Other<T>[];
  readonly tools: ReadonlyMap<string, LoopTool>;
  readonly limits: LoopLimits;
  /**
   * Converts the path of a parameter in the model's call into its path in the caller's body. In the model's call, the service's functions
   * follow the caller's tools.
   */
  readonly paramOf: (param: string) => string;
}

function isSluice<T extends AnyTool>(tool: T): tool is Extract<T, { readonly type: "sluice" }> {
  return tool.type === "sluice";
}

export interface ToolSetReader<T extends AnyTool> {
  /** Returns the name under which the model calls a tool of the caller; undefined if the tool has none. */
  readonly nameOf: (tool: Other<T>) => string | undefined;
  /**
   * Returns a tool of another type that the service runs; undefined for a tool that the caller runs. @param from JSON path of the tool.
   * @throws ApiError
   */
  readonly serve?: (tool: Other<T>, from: string) => LoopTool | undefined;
}

/**
 * Returns the tools that the service runs; undefined if there are none.
 * @throws ApiError `unsupported_value` or `missing_required_parameter` that names the invalid parameter
 */
export async function readToolSet<T extends AnyTool>(
  context: IngressContext,
  call: RouteCall,
  requestTools: readonly T[],
  { nameOf, serve }: ToolSetReader<T>,
): Promise<ToolSet<T> | undefined> {
  const place = requestTools.findIndex(isSluice);
  // The schema has checked its format by `type`.
  const spec = requestTools[place] as SluiceTool | undefined;
  if (spec) refuseMisspelt<"max_credits" | "max_rounds">(spec, ["max_credits", "max_rounds"], `tools[${place}].`);
  const last = requestTools.findLastIndex(isSluice);
  if (last !== place) throw refuse(`tools[${last}].type`, "Expected one tool of type sluice, got several.");
  const tools = new Map(spec && (await readTools(openApiClient(context, call, true), spec, `tools[${place}]`)));
  const own = new Map<number, Other<T>>();
  for (const [at, tool] of requestTools.entries()) {
    if (isSluice(tool)) continue;
    const other = tool as Other<T>;
    const served = serve?.(other, `tools[${at}]`);
    if (!served) own.set(at, other);
    else if (tools.has(served.name)) {
      throw refuse(`tools[${at}].type`, `Expected one tool of type ${tool.type}, got several.`);
    } else tools.set(served.name, served);
  }
  if (tools.size === 0) return undefined;
  for (const [at, tool] of own) {
    const name = nameOf(tool);
    if (name === undefined || !tools.has(name)) continue;
    throw refuse(`tools[${at}]`, `The name ${name} is reserved for a tool of the service; use another name.`);
  }
  const places = [...own.keys()];
  const first = [...requestTools.keys()].find((at) => !own.has(at));
  const { max_rounds: rounds = ROUNDS_DEFAULT, max_credits: credits } = spec ?? {};
  const nano = credits === undefined ? undefined : parseCredits(credits.toFixed(9));
  return {
    others: [...own.values()],
    tools,
    limits: { rounds, runs: RUNS_MAX, nano },
    paramOf: (param) =>
      param.replace(/^tools\[(\d+)\]/, (_whole, index: string) => `tools[${places[Number(index)] ?? first}]`),
  };
}

async function readTools(
  api: ApiClient,
  { capabilities = [], workflows = [] }: SluiceTool,
  from: string,
): Promise<ReadonlyMap<string, LoopTool>> {
  if (capabilities.length + workflows.length === 0) {
    throw new ApiError("missing_required_parameter", "Missing required parameter: capabilities or workflows.", {
      param: `${from}.capabilities`,
    });
  }
  const asked = [
    ...capabilities.map((id, at) => ({ id, param: `${from}.capabilities[${at}]`, isWorkflow: false })),
    ...workflows.map((id, at) => ({ id, param: `${from}.workflows[${at}]`, isWorkflow: true })),
  ];
  const found = await declareWorkflows(
    api,
    workflows.map((id) => id.toLowerCase()),
  );
  const tools = new Map<string, LoopTool>();
  for (const { id, param, isWorkflow } of asked) {
    if (isUuid(id) !== isWorkflow)
      throw refuse(param, `Expected the id of a ${isWorkflow ? "workflow" : "capability"}.`);
    const { title, description, parameters } = isWorkflow ? workflowIn(found, id, param) : capabilityIn(api, id, param);
    const name = isWorkflow ? freeName(title, tools) : functionName(id);
    if (tools.has(name)) throw refuse(param, "Expected each id once.");
    tools.set(name, {
      id,
      name,
      description,
      parameters,
      run: (own, args, bounds) => runTool(own, id, args, bounds),
    });
  }
  return tools;
}

/** Describes a capability as a function. A capability that the caller may not use is rejected like a missing one. */
function capabilityIn(api: ApiClient, id: string, param: string): FunctionDeclaration {
  try {
    return declareCapability(api, id);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    throw refuse(param, error.message);
  }
}

function workflowIn(found: ReadonlyMap<string, FunctionDeclaration>, id: string, param: string): FunctionDeclaration {
  const workflow = found.get(id.toLowerCase());
  if (!workflow) throw refuse(param, noWorkflow().message);
  return workflow;
}

const NAME_MAX = 48;

/** Returns a unique function name for a workflow, because titles of workflows can contain any characters and need not be unique. */
function freeName(title: string, taken: ReadonlyMap<string, unknown>): string {
  const titleWords = title.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const name = ["workflow", ...titleWords].join("_").slice(0, NAME_MAX);
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}_${number}`;
    if (!taken.has(free)) return free;
  }
}

function refuse(param: string, message: string): ApiError {
  return new ApiError("unsupported_value", message, { param });
}
