/** POST /v1/embeddings. */
import { EMBEDDINGS, EMBEDDINGS_BOUNDS } from "#shared/calls/kinds/embeddings.ts";

import { readBody } from "../body.ts";
import { preparePaidCall, runPaidCall } from "../calls/paid-call.ts";
import { planCache } from "../calls/response-cache.ts";
import type { IngressContext } from "../context.ts";
import { errorsOf } from "../route-errors.ts";
import type { Route, RouteCall } from "../serve.ts";

export function embeddings(context: IngressContext): Route {
  return {
    method: "POST",
    path: "/v1/embeddings",
    operationId: "createEmbeddings",
    summary: "Turn texts into vectors",
    description:
      "OpenAI's embeddings. A call with more inputs than a source takes at once is split for it: the answer is one.",
    tags: ["Embeddings"],
    auth: "key",
    countsItself: true,
    request: { schema: "EmbeddingsRequest", example: { model: "sandbox-embed", input: "a cup of tea" } },
    responses: {
      200: {
        description: "The vectors",
        schema: "Embeddings",
        headers: ["x-credits-used", "x-model-used", "x-fallback-from", "x-fallback-depth", "x-cache"],
      },
    },
    errors: errorsOf(["reads_json", "resolves_model", "holds", "asks_provider"], "context_length_exceeded"),
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RouteCall): Promise<Response> {
  const body = await readBody(context, call, EMBEDDINGS_BOUNDS);
  const prepared = await preparePaidCall(context, call, EMBEDDINGS, body);
  const cache = await planCache(call.request.headers.get("x-cache"), prepared.model, "embeddings", body);
  return runPaidCall(context, call, { ...prepared, cache });
}
