/** /workspaces/{workspaceId}/fallback-chains: which models serve when another's provider fails. */
import type {
  FallbackChain,
  FallbackChainDeleted,
  FallbackChainList,
  FallbackChainRequest,
} from "#schemas/generated/types.ts";
import { storeFallbackChain } from "#shared/calls/fallback-chains.ts";
import { parse } from "#shared/contracts.ts";
import {
  deleteFallbackChain,
  type FallbackChainRow,
  findFallbackChain,
  listFallbackChains,
} from "#shared/database/fallback-chains.ts";
import { ApiError } from "#shared/errors.ts";

import { json } from "../../answers.ts";
import { readBody } from "../../body.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../route-errors.ts";
import { allow } from "../../roles.ts";
import { actorOf, callerOf, type Route, type RouteCall } from "../../serve.ts";

const LIST = "/workspaces/{workspaceId}/fallback-chains";
const ONE = `${LIST}/{model}`;
const READERS = allow("owner", "admin", "developer");
const WRITERS = allow("owner", "admin");
/** Pattern of slugs. Anything else has no chain, and some of it Postgres does not take as text. */
const SLUG = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

export function fallbackChains(context: IngressContext): readonly Route[] {
  const common = { tags: ["Workspace settings"], auth: "key" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: LIST,
      operationId: "listFallbackChains",
      summary: "List the fallback chains of the workspace",
      responses: { 200: { description: "All chains, by model", schema: "FallbackChainList" } },
      errors: ["not_found"],
      authorize: READERS,
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getFallbackChain",
      summary: "Read the fallback chain of a model",
      responses: { 200: { description: "The chain", schema: "FallbackChain" } },
      errors: ["not_found"],
      authorize: READERS,
      handle: (call) => get(context, call),
    },
    {
      ...common,
      method: "PUT",
      path: ONE,
      operationId: "putFallbackChain",
      summary: "Set the fallback chain of a model",
      description:
        "When every provider of the model refuses, fails or is silent, the fallbacks are tried in order; the call then " +
        "costs what the one that served costs. A chat call that is too long for the model goes to those that read more. " +
        "Embeddings go only to models that make vectors of the same length. With `continue_streams` a text stream that " +
        "breaks off after its first words is continued by the next model that can, and each part costs what its model " +
        "costs. In force within a second.",
      request: { schema: "FallbackChainRequest" },
      responses: { 200: { description: "The chain as stored", schema: "FallbackChain" } },
      errors: errorsOf(["reads_json", "resolves_model"], "not_found"),
      authorize: WRITERS,
      handle: (call) => put(context, call),
    },
    {
      ...common,
      method: "DELETE",
      path: ONE,
      operationId: "deleteFallbackChain",
      summary: "Delete the fallback chain of a model",
      responses: { 200: { description: "It is deleted", schema: "FallbackChainDeleted" } },
      errors: ["not_found"],
      authorize: WRITERS,
      handle: (call) => remove(context, call),
    },
  ];
}

async function list(context: IngressContext, call: RouteCall): Promise<Response> {
  const rows = await listFallbackChains(context.database, callerOf(call).workspaceId);
  return json({ object: "list", data: rows.map(present) } satisfies FallbackChainList);
}

async function get(context: IngressContext, call: RouteCall): Promise<Response> {
  const model = modelOf(call);
  const row = SLUG.test(model)
    ? await findFallbackChain(context.database, callerOf(call).workspaceId, model)
    : undefined;
  if (row === undefined) throw noChain();
  return json(present(row));
}

async function put(context: IngressContext, call: RouteCall): Promise<Response> {
  const { value } = await readBody(context, call);
  const { fallbacks, continue_streams: continueStreams = false }: FallbackChainRequest = parse(
    "FallbackChainRequest",
    value,
  );
  const { workspaceId } = callerOf(call);
  const change = { model: modelOf(call), fallbacks, continueStreams, actor: actorOf(call) };
  return json(present(await storeFallbackChain(context.database, context.catalogue.current(), workspaceId, change)));
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const model = modelOf(call);
  const { workspaceId } = callerOf(call);
  const row = SLUG.test(model)
    ? await deleteFallbackChain(context.database, workspaceId, { model, actor: actorOf(call) })
    : undefined;
  if (row === undefined) throw noChain();
  return json({ model, deleted: true } satisfies FallbackChainDeleted);
}

function present({ model, fallbacks, continue_streams, updated_at }: FallbackChainRow): FallbackChain {
  return { model, fallbacks: [...fallbacks], continue_streams, updated_at: updated_at.toISOString() };
}

function modelOf(call: RouteCall): string {
  return call.params["model"] ?? "";
}

function noChain(): ApiError {
  return new ApiError("not_found", "This model has no fallback chain in the workspace.");
}
