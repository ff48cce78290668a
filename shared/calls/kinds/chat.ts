/** Kind of call: chat completions. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";

import { checkChat } from "./chat/constraints.ts";
import { typicalChatUsage } from "./chat/usage.ts";
import { withFirstModel } from "./first-model.ts";
import type { Kind } from "./kind.ts";

export const CHAT: Kind<ChatCompletionRequest> = {
  name: "chat",
  endpoint: "/v1/chat/completions",
  pool: "chat",
  afterCrash: "report_lost",
  keepsFiles: false,
  keepsRecord: false,
  namesFiles: true,
  read: (body) => parse("ChatCompletionRequest", withFirstModel(body)),
  nouns: { one: "a chat model", all: "chat models" },
  isOfKind: (model) => model.supports_chat,
  check: (request, model, { bodyBytes, files, max }) => ({
    bound: checkChat(request, model, bodyBytes, files, max),
  }),
  foresee: (request, model, { bound }, { files, tokenizer, slices }) =>
    slices.run(typicalChatUsage(request, model, bound, tokenizer, files)),
  route: {
    operationId: "createChatCompletion",
    summary: "Create chat completion",
    description:
      "Creates a model response for a conversation, compatible with OpenAI's chat completions. With `stream: true` " +
      "the response is an event stream of chunks that ends with `[DONE]`. A failed stream ends with an `error` " +
      "event and without `[DONE]`. With a tool of type `sluice` the service runs the capabilities and workflows " +
      "that the model calls, and calls the model again. The loop ends when the model answers, calls a function of " +
      "the caller, or reaches a limit. `sluice` summarizes the loop; `usage` and `x-credits-used` are sums.",
    tag: "Chat",
    request: {
      schema: "ChatCompletionRequest",
      example: { model: "sandbox-chat", messages: [{ role: "user", content: "Say exactly: it works" }] },
    },
    answers: "live",
    answer: {
      description: "The chat completion, or a stream of chunks",
      schema: "ChatCompletion",
      stream: ["ChatCompletionChunk", "ErrorEnvelope"],
      headers: ["x-cache", "x-max-tokens-lowered"],
    },
    does: ["reads_conversation", "reads_files", "fetches_addresses"],
  },
};
