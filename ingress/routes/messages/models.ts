/** Lists models in the format of Anthropic's API. Only models that clients of that API can call are listed. Pure. */
import { mayCallModel } from "#shared/access/access-lists.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { findCallable } from "#shared/calls/present-model.ts";
import { ApiError } from "#shared/base/errors.ts";

interface ModelInfo {
  readonly id: string;
  readonly type: "model";
  readonly display_name: string;
  readonly created_at: string;
  readonly max_input_tokens: number;
  readonly max_tokens: number;
}

interface InfoList {
  readonly data: readonly ModelInfo[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

const LIMIT = { default: 20, max: 1_000 } as const;

/** Query parameters for pages of the model list. They apply only to requests with the header `anthropic-version`. */
export const PAGE_QUERY = [
  {
    name: "limit",
    description: "Number of models per page; only with `anthropic-version`.",
    schema: { type: "integer", minimum: 1, maximum: LIMIT.max, default: LIMIT.default },
  },
  {
    name: "after_id",
    description: "Slug of the model after which the page starts; only with `anthropic-version`.",
    schema: { type: "string" },
  },
  {
    name: "before_id",
    description: "Slug of the model before which the page ends; only with `anthropic-version`.",
    schema: { type: "string" },
  },
] as const;

export function isTextModel({ supports_chat: chats }: Model): boolean {
  return chats;
}

export function modelInfo({ slug, created, max_context_tokens, max_output_tokens }: Model): ModelInfo {
  return {
    id: slug,
    type: "model",
    display_name: slug,
    created_at: new Date(created * 1_000).toISOString(),
    max_input_tokens: max_context_tokens,
    max_tokens: max_output_tokens,
  };
}

/** Returns a page of the models that the caller may call, newest first. @throws ApiError `unsupported_value` that names the invalid parameter */
export function listInfos(
  catalogue: Catalogue,
  { caller, request }: { readonly caller: Pick<Caller, "accessLists">; readonly request: Pick<Request, "url"> },
): InfoList {
  const query = new URL(request.url).searchParams;
  const limit = limitIn(query.get("limit"));
  const all = [...catalogue.models.values()]
    .filter((model) => isTextModel(model) && findCallable(catalogue, model.slug) && mayCallModel(caller, model.slug))
    .toSorted((a, b) => b.created - a.created)
    .map(modelInfo);
  const [after, before] = ["after_id", "before_id"].map((name) => placeOf(all, query, name));
  const candidates = all.slice(after === undefined ? 0 : after + 1, before);
  const isBackwards = before !== undefined && after === undefined;
  const data = isBackwards ? candidates.slice(-limit) : candidates.slice(0, limit);
  return {
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: candidates.length > data.length,
  };
}

function limitIn(text: string | null): number {
  if (text === null) return LIMIT.default;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT.max) return limit;
  throw new ApiError("unsupported_value", `Expected limit to be a whole number from 1 to ${LIMIT.max}.`, {
    param: "limit",
  });
}

function placeOf(all: readonly ModelInfo[], query: URLSearchParams, name: string): number | undefined {
  const id = query.get(name);
  if (id === null) return undefined;
  const at = all.findIndex((info) => info.id === id);
  if (at >= 0) return at;
  throw new ApiError("unsupported_value", `Expected ${name} to be the id of a listed model.`, { param: name });
}
