/**
 * Provides chat through Anthropic's Messages API. Supported traits: no_sampling, temperature_or_top_p, json_by_tool, no_reasoning,
 * reasoning_by_budget, reasoning_always, no_xhigh_effort, system_first. A source without traits is treated as one of the newest models.
 * Source: platform.claude.com/docs/en/api/messages.
 */
import { chatOverHttp, type ChatWire } from "../chat-wire.ts";
import type { Endpoint } from "../http.ts";
import type { ProviderAdapters } from "../provider.ts";
import { messageResult } from "./answer.ts";
import { classifyAnswer } from "./errors.ts";
import { messagesRequest } from "./request.ts";
import { createReader } from "./stream.ts";

/** Creates the adapter. @param endpoint base URL that ends in `/v1`, and headers with the key and `anthropic-version` */
export function createAnthropic(endpoint: Endpoint): ProviderAdapters {
  return { chat: chatOverHttp(endpoint, ANTHROPIC_WIRE) };
}

const ANTHROPIC_WIRE: ChatWire = {
  needsBytes: ["image", "file"],
  request: messagesRequest,
  result: messageResult,
  reader: createReader,
  classify: classifyAnswer,
};
