/** Searches and describes the tools that can be run by id. */
import type { Workflow, WorkflowDefinition } from "#schemas/generated/types.ts";
import { checkTool, mayUseTool, usableTools } from "#shared/access/tools.ts";
import { CATEGORIES, type Capability } from "#shared/calls/capabilities/entry.ts";
import { capabilityPrice } from "#shared/calls/capabilities/price.ts";
import { pricingNumbers } from "#shared/calls/present-model.ts";
import { arrived } from "#shared/json/contract-fault.ts";
import { findWorkflowInputs, listWorkflows, WORKFLOWS_PER_WORKSPACE_MAX } from "#shared/database/workflows.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { mayRun, readerOf } from "#shared/workflows/access.ts";

import { listCapabilities } from "../routes/media/present-capability.ts";
import { type Arguments, textOf, wholeNumberOf } from "./arguments.ts";
import type { ApiClient } from "./api-client.ts";

const WORKFLOW = "workflow";
/** Maximum length of a search query, in characters. Each word of the query is searched in every tool. */
export const QUERY_CHARACTERS_MAX = 500;
const FOUND = { default: 10, max: 100 } as const;

interface Found {
  readonly tool: string;
  readonly category: string;
  readonly name: string;
  readonly description: string;
  readonly pricing?: object;
}

/**
 * Searches tools. Tools that match the most words come first; equal matches keep the order of the list.
 * @throws ApiError that names the invalid argument
 */
export async function searchTools(
  api: ApiClient,
  args: Arguments,
): Promise<{ readonly tools: readonly Found[]; readonly total: number }> {
  const query = textOf(args, "query", "");
  if (query.length > QUERY_CHARACTERS_MAX) {
    const message = `Expected query to have at most ${QUERY_CHARACTERS_MAX} characters, got ${query.length}.`;
    throw new ApiError("unsupported_value", message, { param: "query" });
  }
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  const category = textOf(args, "category", "");
  const limit = wholeNumberOf(args, "limit", FOUND.default, FOUND.max);
  if (category !== "" && ![...CATEGORIES, WORKFLOW].includes(category)) {
    const message = `Expected category to be one of ${[...CATEGORIES, WORKFLOW].join(", ")}, got ${arrived("enum", category)}.`;
    throw new ApiError("unsupported_value", message, { param: "category" });
  }
  const all = [...capabilitiesOf(api), ...(await workflowsOf(api, category))];
  const ranked = all
    .filter((one) => category === "" || one.category === category)
    .map((one) => ({ one, rank: rankOf(one, words) }))
    .filter(({ rank }) => words.length === 0 || rank > 0)
    .toSorted((a, b) => b.rank - a.rank);
  return { tools: ranked.slice(0, limit).map(({ one }) => one), total: ranked.length };
}

/** Returns the score of a tool: 3 for each word found in the name, 1 for each word found in the description. */
function rankOf({ tool, category, name, description }: Found, words: readonly string[]): number {
  const [title, text] = [`${category === WORKFLOW ? "" : tool} ${name}`.toLowerCase(), description.toLowerCase()];
  return words.reduce((sum, word) => sum + (title.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0), 0);
}

function capabilitiesOf({ context: { catalogue, availableCapabilities }, caller }: ApiClient): readonly Found[] {
  return usableTools(caller, availableCapabilities.current()).map((one) => ({
    tool: one.id,
    category: one.category,
    name: one.display_name,
    description: one.description,
    pricing: pricingNumbers(capabilityPrice(catalogue.current(), one)),
  }));
}

/** Returns the workflows that the caller may run. */
async function workflowsOf(api: ApiClient, category: string): Promise<readonly Found[]> {
  if ((category !== "" && category !== WORKFLOW) || !api.may("runWorkflow")) return [];
  const page = { limit: WORKFLOWS_PER_WORKSPACE_MAX, offset: 0 };
  const { rows } = await listWorkflows(api.context.database, readerOf(api.caller), page);
  return rows
    .filter((row) => mayRun(row, api.caller) && mayUseTool(api.caller, row.id))
    .map(({ id, name, description }) => ({ tool: id, category: WORKFLOW, name, description }));
}

/** Describes a tool for the model, with the schema of its arguments. @throws ApiError `capability_not_found`, `workflow_not_found` */
export async function describeTool(api: ApiClient, id: string): Promise<object> {
  if (isUuid(id)) return describeWorkflow(api, id);
  const { catalogue, availableCapabilities } = api.context;
  checkTool(api.caller, id);
  const [entry] = listCapabilities(catalogue.current(), [availableCapabilities.find(id)]).data;
  return { tool: id, ...entry };
}

/** Tool described as a function that a model can call. */
export interface FunctionDeclaration {
  readonly title: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Describes a capability as a function. @throws ApiError `capability_not_found` */
export function declareCapability({ context, caller }: ApiClient, id: string): FunctionDeclaration {
  checkTool(caller, id);
  const capability = context.availableCapabilities.find(id);
  const { display_name: title, description, long_description: long = description } = capability;
  return { title, description: long, parameters: parametersOf(capability) };
}

/**
 * Describes workflows as functions. Workflows that the caller may not see are omitted.
 * @throws ApiError `rate_limit_exceeded`, before the look-up
 */
export async function declareWorkflows(
  api: ApiClient,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FunctionDeclaration>> {
  const { context, caller } = api;
  const usable = ids.filter((id) => isUuid(id) && mayUseTool(caller, id));
  if (usable.length === 0 || !api.may("getWorkflow")) return new Map();
  await context.calls.check(caller.workspaceId, caller.preset.requests_per_minute);
  const rows = await findWorkflowInputs(context.database, readerOf(caller), usable);
  return new Map(
    rows.map(({ id, name, description, inputs }) => [
      id,
      { title: name, description, parameters: schemaOfInputs(inputs as WorkflowDefinition["inputs"]) },
    ]),
  );
}

/** Returns the function name of a capability. Dots are replaced, because model providers do not accept them. */
export function functionName(id: string): string {
  return id.replace(".", "_");
}

/** Returns the schema of a capability function's arguments. */
export function parametersOf({ params_schema: params, input_schema: input }: Capability) {
  const required = "required" in params ? ["input", "params"] : ["input"];
  return { type: "object" as const, properties: { input, params }, required };
}

async function describeWorkflow(api: ApiClient, id: string): Promise<object> {
  const { name, description, version, definition } = (await (
    await api.ask("getWorkflow", { params: { id } })
  ).json()) as Workflow;
  const input_schema = schemaOfInputs(definition.inputs);
  return { tool: id, category: WORKFLOW, name, description, version, input_schema };
}

function schemaOfInputs(inputs: WorkflowDefinition["inputs"]) {
  const all = Object.entries(inputs ?? {});
  const properties = Object.fromEntries(all.map(([input, { required: _required, ...schema }]) => [input, schema]));
  const required = all.filter(([, one]) => one.required === true).map(([input]) => input);
  return { type: "object", properties, required, additionalProperties: false };
}
