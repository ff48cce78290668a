/**
 * …/fallback-chains of a workspace: manages the models that serve a call when another model's provider fails. Members and operators set
 * them.
 */
import type {
  FallbackChain,
  FallbackChainDeleted,
  FallbackChainList,
  FallbackChainRequest,
} from "#schemas/generated/types.ts";
import { storeFallbackChain } from "#shared/calls/fallback-chains.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { parse } from "#shared/json/contracts.ts";
import {
  deleteFallbackChain,
  type FallbackChainRow,
  findFallbackChain,
  listFallbackChains,
} from "#shared/database/fallback-chains.ts";
import { ApiError } from "#shared/base/errors.ts";

import { json } from "../../core/answers.ts";
import { readBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import { allow } from "../../core/roles.ts";
import type { RequestFacts, SettingsCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { Route } from "../../core/route.ts";
import { type Within, workspaceIdOf } from "./within.ts";

const SETTINGS = { tags: ["Workspace settings"], auth: "key" } as const;
const OWN: Within = {
  path: "/workspaces/{workspaceId}",
  readers: { ...SETTINGS, authorize: allow("owner", "admin", "developer") },
  writers: { ...SETTINGS, authorize: allow("owner", "admin") },
  operationInfix: "",
};
/** Pattern of model slugs. Texts that do not match have no chain, and Postgres would reject some of them. */
const SLUG = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

export function fallbackChains(context: IngressContext, within: Within = OWN): readonly Route[] {
  const { readers, writers, operationInfix } = within;
  const all = `${within.path}/fallback-chains`;
  const one = `${all}/{model}`;
  return [
    {
      ...readers,
      method: "GET",
      path: all,
      operationId: `list${operationInfix}FallbackChains`,
      summary: "List fallback chains",
      responses: { 200: { description: "The chains, ordered by model", schema: "FallbackChainList" } },
      errors: ["not_found"],
      handle: (call: SettingsCall) => list(context, call),
    },
    {
      ...readers,
      method: "GET",
      path: one,
      operationId: `get${operationInfix}FallbackChain`,
      summary: "Retrieve fallback chain",
      responses: { 200: { description: "The chain", schema: "FallbackChain" } },
      errors: ["not_found"],
      handle: (call: SettingsCall) => get(context, call),
    },
    {
      ...writers,
      method: "PUT",
      path: one,
      operationId: `put${operationInfix}FallbackChain`,
      summary: "Set fallback chain",
      description:
        "The fallbacks are tried in order when every provider of the model refuses, fails or times out. The call " +
        "costs the price of the model that serves it. Chat calls that exceed the model's context go to models with " +
        "a larger one. Embeddings go only to models with the same vector length. With `continue_streams` the next " +
        "model that supports it continues an interrupted text stream; each part costs its model's price. With " +
        "weights, each call draws the model that is tried first; the other models follow in order. The change takes " +
        "effect within a second.",
      request: { schema: "FallbackChainRequest" },
      responses: { 200: { description: "The stored chain", schema: "FallbackChain" } },
      errors: errorsOf(["reads_json", "resolves_model"], "not_found"),
      handle: (call: SettingsCall) => put(context, call),
    },
    {
      ...writers,
      method: "DELETE",
      path: one,
      operationId: `delete${operationInfix}FallbackChain`,
      summary: "Delete fallback chain",
      responses: { 200: { description: "The confirmation", schema: "FallbackChainDeleted" } },
      errors: ["not_found"],
      handle: (call: SettingsCall) => remove(context, call),
    },
  ];
}

async function list(context: IngressContext, call: SettingsCall): Promise<Response> {
  const rows = await listFallbackChains(context.database, await workspaceIdOf(context.database, call));
  return json({ object: "list", data: rows.map(present) } satisfies FallbackChainList);
}

async function get(context: IngressContext, call: SettingsCall): Promise<Response> {
  const model = modelOf(call);
  const workspaceId = await workspaceIdOf(context.database, call);
  const row = SLUG.test(model) ? await findFallbackChain(context.database, workspaceId, model) : undefined;
  if (row === undefined) throw noChain();
  return json(present(row));
}

async function put(context: IngressContext, call: SettingsCall): Promise<Response> {
  const { value } = await readBody(context, call);
  const asked: FallbackChainRequest = parse("FallbackChainRequest", value);
  const { continue_streams: continueStreams = false, sticky } = asked;
  const model = modelOf(call);
  const fallbacks = asked.fallbacks.map(slugOf);
  const weights = weightsOf(model, asked);
  const workspaceId = await workspaceIdOf(context.database, call);
  const actor = actorOf(call);
  const change = { model, fallbacks, weights, sticky: sticky ?? undefined, continueStreams, actor };
  const catalogue = context.catalogue.current();
  if ("operator" in call) explainMissing(catalogue, [change.model, ...fallbacks]);
  return json(present(await storeFallbackChain(context.database, catalogue, workspaceId, change)));
}

type Fallback = FallbackChainRequest["fallbacks"][number];

function slugOf(fallback: Fallback): string {
  return typeof fallback === "string" ? fallback : fallback.model;
}

/**
 * Returns the weight of every model of the chain, by slug; undefined for a chain without weights.
 * @throws ApiError `missing_required_parameter` if only fallbacks have weights; `unsupported_value` for a weight of the requested model alone
 */
function weightsOf(model: string, { fallbacks, weight }: FallbackChainRequest): Record<string, number> | undefined {
  const isWeighted = fallbacks.some((fallback) => typeof fallback !== "string");
  if (weight === undefined) {
    if (!isWeighted) return undefined;
    const message = `Missing required parameter: weight. It is the share of calls that ${model} itself serves first; 0 sends all calls to the fallbacks with weights.`;
    throw new ApiError("missing_required_parameter", message, { param: "weight" });
  }
  const weightOf = (fallback: Fallback): number => (typeof fallback === "string" ? 0 : fallback.weight);
  return Object.fromEntries([[model, weight], ...fallbacks.map((one) => [slugOf(one), weightOf(one)] as const)]);
}

/**
 * Checks that each model of a fallback chain can be served. The error gives the operator the reason why a model of the catalogue cannot.
 * @throws ApiError `model_not_found` that contains the reason
 */
function explainMissing({ models, unroutable }: Catalogue, slugs: readonly string[]): void {
  for (const [index, slug] of slugs.entries()) {
    const reason = models.has(slug) ? undefined : unroutable.get(slug);
    if (reason === undefined) continue;
    const param = index === 0 ? "model" : `fallbacks[${index - 1}]`;
    throw new ApiError("model_not_found", `The model ${slug} cannot be served: ${reason}.`, { param });
  }
}

async function remove(context: IngressContext, call: SettingsCall): Promise<Response> {
  const model = modelOf(call);
  const workspaceId = await workspaceIdOf(context.database, call);
  const row = SLUG.test(model)
    ? await deleteFallbackChain(context.database, workspaceId, { model, actor: actorOf(call) })
    : undefined;
  if (row === undefined) throw noChain();
  return json({ model, deleted: true } satisfies FallbackChainDeleted);
}

function present(row: FallbackChainRow): FallbackChain {
  const { model, fallbacks, weights, sticky, continue_streams, updated_at } = row;
  const stored = { continue_streams, updated_at: updated_at.toISOString() };
  if (weights === null) return { model, fallbacks: [...fallbacks], ...stored };
  const weighted = fallbacks.map((slug) => ({ model: slug, weight: weights[slug] ?? 0 }));
  return { model, fallbacks: weighted, weight: weights[model] ?? 0, sticky, ...stored };
}

function modelOf(call: RequestFacts): string {
  return call.params["model"] ?? "";
}

function noChain(): ApiError {
  return new ApiError("not_found", "This model has no fallback chain in the workspace.");
}
