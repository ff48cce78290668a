/** POST /v1/responses: OpenAI's Responses API for every chat model. */
import { parse } from "#shared/contracts.ts";
import { ApiError } from "#shared/errors.ts";

import { readBody } from "../body.ts";
import { planCache } from "../calls/response-cache.ts";
import { runTranslatedCall } from "../calls/translated-call.ts";
import type { IngressContext } from "../context.ts";
import { responseOf } from "../responses/object.ts";
import { chatRequestOf } from "../responses/translate.ts";
import { errorsOf } from "../route-errors.ts";
import type { Route, RouteCall } from "../serve.ts";

export function responses(context: IngressContext): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/responses",
      operationId: "createResponse",
      summary: "Answer a conversation, in the form of OpenAI's Responses",
      description:
        "OpenAI's Responses API, for any chat model. With `stream: true` the answer is its event stream; a stream that " +
        "fails ends with `error` and `response.failed`.",
      tags: ["Chat"],
      auth: "key",
      countsItself: true,
      request: { schema: "ResponsesRequest", example: { model: "sandbox-chat", input: "Say exactly: it works" } },
      responses: {
        200: {
          description: "The answer",
          schema: "ModelResponse",
          stream: "ResponseStreamEvent",
          headers: ["x-credits-used", "x-model-used", "x-fallback-from", "x-fallback-depth", "x-cache"],
        },
      },
      errors: errorsOf([
        "reads_json",
        "resolves_model",
        "reads_files",
        "reads_conversation",
        "fetches_addresses",
        "holds",
        "asks_provider",
      ]),
      handle: (call) => answer(context, call),
    },
  ];
}

/** The settings that an answer repeats travel with every call's message, beside its request. */
const REPEATED_BYTES_MAX = 262_144;

async function answer(context: IngressContext, call: RouteCall): Promise<Response> {
  const body = await readBody(context, call);
  await body.pause();
  const asked = parse("ResponsesRequest", body.value);
  const { request, paramOf } = chatRequestOf(asked);
  await body.pause();
  const response = responseOf(asked, call.requestId, Math.floor(Date.now() / 1_000));
  if (Buffer.byteLength(JSON.stringify(response)) > REPEATED_BYTES_MAX) {
    throw new ApiError(
      "invalid_request",
      `Expected instructions, tools and what else the answer repeats to have at most ${REPEATED_BYTES_MAX} bytes, got more.`,
    );
  }
  const header = call.request.headers.get("x-cache");
  return runTranslatedCall(context, call, body, {
    api: "responses",
    request,
    paramOf,
    planCache: (model) => planCache(header, model, "responses", body),
    response,
  });
}
