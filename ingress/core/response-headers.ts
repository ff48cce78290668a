/** Response headers as described in the OpenAPI document (spec "General rules" 6). */

export const HEADERS = {
  "x-request-id": {
    description:
      "Id of the request. The usage record of an admitted call has the same id. Cache hits, reads and refused requests have no usage record.",
    schema: { type: "string", format: "uuid" },
  },
  "x-credits-used": {
    description:
      "Credits charged for the call; 1 credit is 0.01 US dollars. Equal to `usage.credits` of the body. Absent on streams, whose last " +
      "event with `usage` contains the number, and on responses that read an existing result.",
    schema: { type: "number", minimum: 0 },
  },
  "x-model-used": {
    description: "Slug of the model that served the call. For a stream that another model continued: the first model.",
    schema: { type: "string" },
  },
  "x-fallback-from": {
    description:
      "Slug of the model that was tried first, when a fallback served the call or all fallbacks failed. A chain with weights draws this model.",
    schema: { type: "string" },
  },
  "x-fallback-depth": {
    description: "Number of fallbacks tried, including the one that served the call.",
    schema: { type: "integer", minimum: 1 },
  },
  "x-voice-used": {
    description: "Name of the voice used. Absent when the model declares no voices and its provider chooses.",
    schema: { type: "string" },
  },
  "x-storage-used-bytes": {
    description: "Number of bytes that the workspace stores.",
    schema: { type: "integer", minimum: 0 },
  },
  "x-storage-limit-bytes": {
    description: "Maximum number of bytes that the workspace may store.",
    schema: { type: "integer", minimum: 0 },
  },
  "x-cache": {
    description: "`hit`: answered free of charge from the response cache. `miss`: the response was added to the cache.",
    schema: { type: "string", enum: ["hit", "miss"] },
  },
  "x-tools-omitted": {
    description:
      "Types of the request's tools that were omitted because they run at another service, separated by commas.",
    schema: { type: "string" },
  },
  "x-max-tokens-lowered": {
    description:
      "Applied output limit in tokens. Present when the request exceeded the limit of the model that served it, or when " +
      "`max_credits` requires a limit.",
    schema: { type: "integer", minimum: 1 },
  },
  "x-run-id": {
    description: "Id of the run, also on errors after which the run continues.",
    schema: { type: "string", format: "uuid" },
  },
  "x-should-retry": {
    description:
      "`false` when a repeated request could be charged twice or would fail again. Official SDKs then do not retry.",
    schema: { type: "string", enum: ["false"] },
  },
} as const;

export type HeaderName = keyof typeof HEADERS;

/** Request header with which a media call returns its job instead of its result (RFC 7240). */
export const PREFER_REQUEST = {
  name: "Prefer",
  description:
    "`respond-async`: the response is the job, with status 202. Not for streams. Other preferences are ignored.",
  schema: { type: "string" },
} as const;

/** Returns true if a request has the preference `respond-async`. */
export function prefersJob({ headers }: Request): boolean {
  return (headers.get("prefer") ?? "").split(",").some((one) => /^\s*respond-async\s*(?:;|$)/i.test(one));
}

/** Request header `x-cache`, accepted by calls whose responses can be cached. */
export const CACHE_REQUEST = {
  name: "x-cache",
  description:
    "`on`: answer an exact repeat from the response cache, and store the response. `refresh`: only store it. `off`: neither. `on` and " +
    "`refresh` accept a lifetime in seconds, such as `on; ttl=600`. Default: the setting of the model.",
  schema: { type: "string" },
} as const;

/** Headers of a synchronous response that report the price and the serving model. */
export const SERVED_HEADERS = ["x-credits-used", "x-model-used", "x-fallback-from", "x-fallback-depth"] as const;
