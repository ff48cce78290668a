/**
 * Cache of responses for identical calls. It is off unless the model's catalogue entry or the request header `x-cache` enables it. A cache
 * hit is free and needs no hold, but the rate window counts it like any call.
 */
import { createHash } from "node:crypto";

import { canonicalJson, exactIntegersOf } from "#shared/json/serialize.ts";
import type { Model } from "#shared/calls/model.ts";
import { findAnswer } from "#shared/database/response-cache.ts";
import { ApiError } from "#shared/base/errors.ts";

import { JSON_TYPE } from "../../core/answers.ts";
import type { ReadBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { SSE_HEADERS } from "../../core/sse.ts";

/**
 * Lifetime of a cached response, in seconds. CACHE_TTL_S is the default if neither model nor request sets one; CACHE_TTL_MAX_S is the
 * maximum.
 */
export const CACHE_TTL_S = 3_600;
export const CACHE_TTL_MAX_S = 86_400;

/** Maximum size of a cached request, in bytes. */
export const CACHED_REQUEST_BYTES_MAX = 1_048_576;

/** Settings with which a call uses the response cache. */
export interface CachePlan {
  /** Cache key of 64 hex digits, equal for equal requests to the same model and endpoint. */
  readonly key: string;
  readonly ttlS: number;
  /** False for the header `x-cache: refresh`: the call always runs, and its response replaces the cached response. */
  readonly mayHit: boolean;
}

const HEADER = /^(on|off|refresh)(?:\s*;\s*ttl=([1-9]\d{0,8}))?$/;

/**
 * Returns the settings with which a call uses the response cache; undefined if the call is not cached. A body is not cached if it exceeds
 * CACHED_REQUEST_BYTES_MAX or contains integers that a double cannot represent.
 * @param header value of `x-cache`: `on`, `off` or `refresh`; `on` and `refresh` may have `; ttl=<seconds>`. Null if absent
 * @param request request that the cache key is made of. Default: the body. The order of members does not matter
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
  // Sorting the members of a large body would block the thread longer than a hit saves.
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

/** Returns the cached response. Returns undefined if there is none or the database is down; the call then runs. */
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
    context.log.warn({ err: error }, "the response cache is unavailable");
    return undefined;
  }
}
