/** POST /v1/chat/completions. */
import { CHAT } from "#shared/calls/kinds/chat.ts";

import { readBody } from "../body.ts";
import { preparePaidCall, runPaidCall } from "../calls/paid-call.ts";
import { planCache } from "../calls/response-cache.ts";
import type { IngressContext } from "../context.ts";
import { errorsOf } from "../route-errors.ts";
import type { Route, RouteCall } from "../serve.ts";

export function chatCompletions(context: IngressContext): Route {
  return {
    method: "POST",
    path: "/v1/chat/completions",
    operationId: "createChatCompletion",
    summary: "Answer a conversation",
    description:
      "OpenAI's chat completions. With `stream: true` the answer is an event stream of chunks that ends with `[DONE]`; " +
      "a stream that fails ends with an `error` event and without `[DONE]`.",
    tags: ["Chat"],
    auth: "key",
    countsItself: true,
    request: {
      schema: "ChatCompletionRequest",
      example: { model: "sandbox-chat", messages: [{ role: "user", content: "Say exactly: it works" }] },
    },
    responses: {
      200: {
        description: "The answer",
        schema: "ChatCompletion",
        stream: ["ChatCompletionChunk", "ErrorEnvelope"],
        headers: ["x-credits-used", "x-model-used", "x-fallback-from", "x-fallback-depth", "x-cache"],
      },
    },
    errors: errorsOf([
      "reads_json",
      "resolves_model",
      "reads_conversation",
      "reads_files",
      "fetches_addresses",
      "holds",
      "asks_provider",
    ]),
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RouteCall): Promise<Response> {
  const body = await readBody(context, call);
  const paid = await preparePaidCall(context, call, CHAT, body);
  const cache = await planCache(call.request.headers.get("x-cache"), paid.model, "chat", body);
  return runPaidCall(context, call, { ...paid, cache });
}
