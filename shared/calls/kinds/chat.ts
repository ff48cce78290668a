/** Chat completions. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { parse } from "#shared/contracts.ts";

import { checkChat } from "./chat/constraints.ts";
import { typicalChatUsage } from "./chat/usage.ts";
import type { Kind } from "./kind.ts";

export const CHAT: Kind<ChatCompletionRequest> = {
  name: "chat",
  endpoint: "/v1/chat/completions",
  pool: "chat",
  afterCrash: "report_lost",
  keepsFiles: false,
  keepsRecord: false,
  namesFiles: true,
  read: (body) => parse("ChatCompletionRequest", body),
  nouns: { one: "a chat model", all: "chat models" },
  isOfKind: (model) => model.supports_chat,
  check: (request, model, { bodyBytes, files }) => ({ bound: checkChat(request, model, bodyBytes, files) }),
  foresee: (request, model, { bound }, { files, tokenizer, slices }) =>
    slices.run(typicalChatUsage(request, model, bound, tokenizer, files)),
  route: {
    operationId: "createChatCompletion",
    summary: "Answer a conversation",
    description:
      "OpenAI's chat completions. With `stream: true` the answer is an event stream of chunks that ends with `[DONE]`; " +
      "a stream that fails ends with an `error` event and without `[DONE]`. With a tool of type `sluice` the capabilities and " +
      "workflows that the model calls are run, and it is asked again, until it answers, calls a function of the caller or reaches a " +
      "limit; `sluice` tells of it, and `usage` and `x-credits-used` sum all of it up.",
    tag: "Chat",
    request: {
      schema: "ChatCompletionRequest",
      example: { model: "sandbox-chat", messages: [{ role: "user", content: "Say exactly: it works" }] },
    },
    answers: "live",
    answer: {
      description: "The answer",
      schema: "ChatCompletion",
      stream: ["ChatCompletionChunk", "ErrorEnvelope"],
      headers: ["x-cache", "x-max-tokens-lowered"],
    },
    does: ["reads_conversation", "reads_files", "fetches_addresses"],
  },
};
