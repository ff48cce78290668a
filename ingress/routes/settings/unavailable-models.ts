/** GET /workspaces/{workspaceId}/unavailable-models: lists models of which every provider is temporarily disabled after errors. */
import type { UnavailableModelList } from "#schemas/generated/types.ts";
import { mayCallModel } from "#shared/access/access-lists.ts";
import { kindOfCall } from "#shared/calls/kinds/models.ts";
import { findCallable } from "#shared/calls/present-model.ts";
import { listDisabledSources } from "#shared/database/source-breaker.ts";

import { json } from "../../core/answers.ts";
import type { RouteCall } from "../../core/call.ts";
import { allow, ANY_ROLE } from "../../core/roles.ts";
import type { KeyRoute } from "../../core/route.ts";
import type { IngressContext } from "../../context.ts";

export function unavailableModels(context: IngressContext): KeyRoute {
  return {
    tags: ["Models"],
    auth: "key",
    method: "GET",
    path: "/workspaces/{workspaceId}/unavailable-models",
    operationId: "listUnavailableModels",
    summary: "List unavailable models",
    description:
      "Lists the models that the key may call and whose calls are refused for now, because every provider of the model is " +
      "temporarily disabled after errors. A model with one available provider is not listed.",
    responses: { 200: { description: "The models", schema: "UnavailableModelList" } },
    errors: ["not_found"],
    authorize: allow(...ANY_ROLE),
    handle: (call) => list(context, call),
  };
}

async function list({ database, catalogue: catalogues }: IngressContext, { caller }: RouteCall): Promise<Response> {
  const catalogue = catalogues.current();
  const disabled = await listDisabledSources(database);
  const waits = new Map(disabled.map(({ pool, source, remaining_ms: ms }) => [`${pool} ${source}`, Math.max(0, ms)]));
  const now = Date.now();
  const data = [...catalogue.models.values()].flatMap((model): UnavailableModelList["data"] => {
    const pool = kindOfCall(model)?.pool;
    const sourceWaits = model.sources.map((source) => waits.get(`${pool} ${source.provider}/${source.model}`));
    const known = sourceWaits.filter((ms) => ms !== undefined);
    if (known.length < sourceWaits.length || !findCallable(catalogue, model.slug) || !mayCallModel(caller, model.slug))
      return [];
    const nextAttempt = new Date(now + Math.min(...known));
    return [{ object: "unavailable_model", model: model.slug, next_attempt_at: nextAttempt.toISOString() }];
  });
  return json({
    object: "list",
    data: data.toSorted((a, b) => (a.model < b.model ? -1 : 1)),
  } satisfies UnavailableModelList);
}
