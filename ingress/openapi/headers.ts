/** Response headers of our own, as the OpenAPI document describes them (spec "General rules" 6). */

export const HEADERS = {
  "x-request-id": {
    description: "Id of the request; its usage record carries the same.",
    schema: { type: "string", format: "uuid" },
  },
  "x-credits-used": {
    description:
      "Credits the call cost; 1 credit is 0.01 USD. Absent on streamed answers, which settle after their end, and where a result is " +
      "read or asked for again, which costs nothing.",
    schema: { type: "number", minimum: 0 },
  },
  "x-model-used": {
    description: "The model that served the call; of a stream that another one went on with, the model that began it.",
    schema: { type: "string" },
  },
  "x-fallback-from": {
    description: "The model asked for, when a fallback served, or when fallbacks were tried and all failed.",
    schema: { type: "string" },
  },
  "x-fallback-depth": {
    description: "Number of fallbacks tried, including the fallback that served.",
    schema: { type: "integer", minimum: 1 },
  },
  "x-voice-used": {
    description: "The voice that speaks; absent where the model declares none, and its source chooses.",
    schema: { type: "string" },
  },
  "x-storage-used-bytes": { description: "Bytes the workspace stores.", schema: { type: "integer", minimum: 0 } },
  "x-storage-limit-bytes": { description: "Bytes the workspace may store.", schema: { type: "integer", minimum: 0 } },
  "x-cache": {
    description: "`hit`: an exact repeat, answered from the response cache, free. `miss`: this answer is kept there.",
    schema: { type: "string", enum: ["hit", "miss"] },
  },
  "x-tools-omitted": {
    description:
      "Types of the request's tools that were left out, separated by commas: they run at another service, and not here.",
    schema: { type: "string" },
  },
  "x-max-tokens-lowered": {
    description:
      "Output limit that the call was given, in tokens: the request asked for more than the model that served can write.",
    schema: { type: "integer", minimum: 1 },
  },
  "x-run-id": {
    description: "The run of the call, also on errors after which it goes on.",
    schema: { type: "string", format: "uuid" },
  },
  "x-should-retry": {
    description: "`false` when sending the call again could pay twice, or would fail again; stock clients then do not.",
    schema: { type: "string", enum: ["false"] },
  },
} as const;

export type HeaderName = keyof typeof HEADERS;

/** Headers of an answer that was waited for: its price, and the model that served. */
export const SERVED_HEADERS = ["x-credits-used", "x-model-used", "x-fallback-from", "x-fallback-depth"] as const;
