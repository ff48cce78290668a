/**
 * Exact repeats of a call, answered without a provider: off unless the model's catalogue entry or the request's header
 * `x-cache` turns it on. A hit costs nothing and holds nothing; it is counted in the window like any call.
 */
import { createHash } from "node:crypto";

import { canonicalJson } from "#shared/canonical-json.ts";
import type { Model } from "#shared/calls/model.ts";
import { findAnswer } from "#shared/database/response-cache.ts";
import { ApiError } from "#shared/errors.ts";
import { exactIntegersOf } from "#shared/exact-integers.ts";

import { JSON_TYPE } from "../answers.ts";
import type { ReadBody } from "../body.ts";
import type { IngressContext } from "../context.ts";
import { SSE_HEADERS } from "../sse.ts";

/** Life of an answer in the response cache: the default, where neither model nor request sets one, and the most. */
export const CACHE_TTL_S = 3_600;
export const CACHE_TTL_MAX_S = 86_400;

/** Larger requests are not cached. */
export const CACHED_REQUEST_BYTES_MAX = 1_048_576;

/** A call's use of the response cache. */
export interface CachePlan {
  /** 64 hex digits: equal for equal requests to the same model and endpoint. */
  readonly key: string;
  readonly ttlS: number;
  /** False: the answer is kept, but none is taken. */
  readonly mayHit: boolean;
}

const HEADER = /^(on|off|refresh)(?:\s*;\s*ttl=([1-9]\d{0,8}))?$/;

/**
 * @param header `on`, `off` or `refresh`, the first and last with `; ttl=<seconds>` if wanted
 * @param body members in another order are the same request; one beyond CACHED_REQUEST_BYTES_MAX is not cached, nor one with
 * integers that its value does not tell apart
 * @param request what the value asks for, where the body has another form
 * @throws ApiError `unsupported_value` for any other header
 */
export async function planCache(
  header: string | null,
  model: Model,
  endpoint: string,
  { text, textBytes, value, pause }: Pick<ReadBody, "pause" | "text" | "textBytes" | "value">,
  request: unknown = value,
): Promise<CachePlan | undefined> {
  const [mode, ttl] = readHeader(header);
  const isOn = mode === undefined ? model.cache_ttl_s !== undefined : mode !== "off";
  // Sorting the members of a large body would hold up everybody for longer than a repeat could save.
  if (!isOn || textBytes > CACHED_REQUEST_BYTES_MAX) return undefined;
  await pause();
  if (exactIntegersOf(text)) return undefined;
  const ttlS = Math.min(ttl ?? model.cache_ttl_s ?? CACHE_TTL_S, CACHE_TTL_MAX_S);
  const asked = `${endpoint}\n${model.slug}\n${canonicalJson(request)}`;
  return { key: createHash("sha256").update(asked).digest("hex"), ttlS, mayHit: mode !== "refresh" };
}

function readHeader(header: string | null): [mode: string | undefined, ttlS: number | undefined] {
  if (header === null) return [undefined, undefined];
  const match = HEADER.exec(header.trim().toLowerCase());
  const [, mode, ttl] = match ?? [];
  if (mode !== undefined) return [mode, ttl === undefined ? undefined : Number(ttl)];
  throw new ApiError(
    "unsupported_value",
    "Expected the header x-cache to be on, off or refresh, optionally with ; ttl=<seconds> of at least 1.",
    {
      param: "x-cache",
    },
  );
}

/** The kept answer as a response; undefined when there is none, or the store cannot be asked: the call then just runs. */
export async function fromCache(
  context: Pick<IngressContext, "database" | "log" | "metrics">,
  workspaceId: string,
  plan: CachePlan,
): Promise<Response | undefined> {
  if (!plan.mayHit) return undefined;
  try {
    const found = await findAnswer(context.database, workspaceId, plan.key);
    context.metrics.cacheLookups.inc(found ? "hit" : "miss");
    if (!found) return undefined;
    return new Response(found.body as Uint8Array<ArrayBuffer>, {
      headers: {
        ...(found.isStream ? SSE_HEADERS : { "content-type": JSON_TYPE, "x-credits-used": "0" }),
        "x-model-used": found.model,
        "x-cache": "hit",
        age: String(Math.max(0, found.ageS)),
      },
    });
  } catch (error) {
    context.metrics.cacheLookups.inc("failed");
    context.log.warn({ err: error }, "the response cache cannot be asked");
    return undefined;
  }
}
