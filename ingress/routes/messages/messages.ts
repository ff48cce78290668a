/** POST /v1/messages and POST /v1/messages/count_tokens: Anthropic's Messages API for every chat model. */
import { findStoredFiles } from "#shared/calls/kinds/chat/files.ts";
import { withFirstModel } from "#shared/calls/kinds/first-model.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";
import { takeMaxCredits } from "#shared/calls/max-credits.ts";
import { parse } from "#shared/json/contracts.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import { json } from "../../core/answers.ts";
import { readBody } from "../../core/body.ts";
import { MAX_CREDITS_REQUEST } from "../../core/max-credits.ts";
import { planCache } from "../calls/response-cache.ts";
import { runTranslatedCall } from "../calls/translated-call.ts";
import type { IngressContext } from "../../context.ts";
import { countingInput } from "./count.ts";
import { chatRequestOf, readPartOf } from "./translate.ts";
import { CACHE_REQUEST, SERVED_HEADERS } from "../../core/response-headers.ts";
import { TAGS_REQUEST } from "../../core/labels.ts";
import { type Act, errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";
import { withParam } from "../../core/with-param.ts";

const READS = ["reads_json", "resolves_model"] as const satisfies readonly Act[];

export function messages(context: IngressContext): KeyRoute[] {
  return [
    {
      method: "POST",
      path: "/v1/messages",
      operationId: "createMessage",
      summary: "Create message",
      description:
        "Creates a model response in the format of Anthropic's Messages API, for every chat model. With `stream: " +
        "true` the response is Anthropic's event stream. A failed stream ends with an `error` event and without " +
        '`message_stop`. Other errors have the envelope of this service with `"type": "error"` and `request_id` in ' +
        "addition.",
      tags: ["Chat"],
      auth: "key",
      isAnthropic: true,
      countsItself: true,
      request: {
        schema: "MessagesRequest",
        example: {
          model: "sandbox-chat",
          max_tokens: 100,
          messages: [{ role: "user", content: "Say exactly: it works" }],
        },
      },
      requestHeaders: [MAX_CREDITS_REQUEST, CACHE_REQUEST, TAGS_REQUEST],
      responses: {
        200: {
          description: "The message, or a stream of events",
          schema: "Message",
          stream: "MessageStreamEvent",
          headers: [...SERVED_HEADERS, "x-cache", "x-tools-omitted", "x-max-tokens-lowered"],
        },
      },
      errors: errorsOf([...READS, "reads_files", "reads_conversation", "fetches_addresses", "holds", "asks_provider"]),
      handle: (call) => answer(context, call),
    },
    {
      method: "POST",
      path: "/v1/messages/count_tokens",
      operationId: "countMessageTokens",
      summary: "Count message tokens",
      description:
        "Counts the input tokens of a message call, free of charge. Images count at the model's maximum, documents " +
        "and stored files by size.",
      tags: ["Chat"],
      auth: "key",
      isAnthropic: true,
      request: { schema: "CountTokensRequest" },
      responses: { 200: { description: "The number of tokens", schema: "TokenCount" } },
      errors: errorsOf([...READS, "names_files"]),
      handle: (call) => count(context, call),
    },
  ];
}

async function answer(context: IngressContext, call: RouteCall): Promise<Response> {
  const body = await readBody(context, call);
  await body.pause();
  const { request: asked, maxNano } = takeMaxCredits(parse("MessagesRequest", withFirstModel(body.value)));
  const { request, paramOf, omittedToolTypes } = chatRequestOf(asked);
  await body.pause();
  const header = call.request.headers.get("x-cache");
  const response = await runTranslatedCall(context, call, body, {
    api: "anthropic",
    request,
    paramOf,
    maxNano,
    planCache: (model, scope) => planCache(header, model, `messages${scope}`, body, request),
  });
  if (omittedToolTypes.length > 0) response.headers.set("x-tools-omitted", omittedToolTypes.join(", "));
  return response;
}

async function count(context: IngressContext, call: RouteCall): Promise<Response> {
  const { value, pause, work } = await readBody(context, call);
  await pause();
  const body = parse("CountTokensRequest", value);
  const { request, paramOf } = readPartOf(body);
  const model = modelOf(CHAT, context.catalogue.current(), call.caller, body.model);
  try {
    const files = await findStoredFiles(context.database, call.caller, request);
    const counting = countingInput(await loadTokenizer(), request, model, files);
    const tokens = await work((slices) => slices.run(counting));
    return json({ input_tokens: tokens });
  } catch (error) {
    throw withParam(error, paramOf);
  }
}
