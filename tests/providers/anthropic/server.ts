/** A local upstream that speaks Anthropic's Messages API, faults included. */
import { ok, type ReplyBehaviour } from "../engine/behaviour.ts";
import { TOOL_CALLS } from "../engine/named.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { type Dialect, startUpstream, type Upstream, type UpstreamOptions } from "../engine/upstream.ts";
import { checkMessages, type MessagesBody } from "./check-request.ts";
import { compose } from "./compose.ts";
import { anthropicError, ERRORS, invalid } from "./errors.ts";

export type AnthropicServer = Upstream;

export interface AnthropicServerOptions extends UpstreamOptions {
  /** Other keys get a 401. Unset: any key will do, but there must be one. */
  readonly apiKey?: string;
}

const dialect = (apiKey: string | undefined): Dialect => ({
  base: "/v1",
  errors: ERRORS,
  streamError: ERRORS.overloaded.body,
  eventName: (json) => (JSON.parse(json) as { type: string }).type,
  // Behind the beginnings of the message and of its block, and a ping.
  firstWord: 3,
  named: {
    "tool-use": { text: "I will look.", toolCalls: TOOL_CALLS.slice(0, 1) },
    redacted: { redacted: "EmwKAhgBEgy3va3pzix", text: "Four." },
    refusal: { isEmpty: true, finishReason: "refusal" },
    "refusal-late": { text: "This goes on until", finishReason: "refusal" },
    length: { text: "This is cut by the limit of", finishReason: "max_tokens" },
    "usage-cached": { usage: "cached" },
    "start-twice": { startAgain: { afterFrame: 0, as: "same" } },
    "start-twice-late": { startAgain: { afterFrame: 4, as: "same" } },
    spliced: { startAgain: { afterFrame: 4, as: "other" } },
  },
  headers: (sequence) => ({ "request-id": `req_mock${sequence}`, "anthropic-organization-id": "org_mock" }),
  modelOf: ({ body }) => (body as MessagesBody).model,
  refuse: (call) => refusal(call, apiKey),
  answer(behaviour, { body: given }, sequence) {
    const request = given as MessagesBody;
    const { body, events } = compose(behaviour, request, sequence);
    return request.stream === true ? events : ok(body);
  },
});

/** Starts a server on 127.0.0.1. */
export function startAnthropicServer({ apiKey, ...options }: AnthropicServerOptions = {}): AnthropicServer {
  return startUpstream(dialect(apiKey), options);
}

/** Returns the error for a request that Anthropic would not accept; null for others. */
function refusal({ method, path, headers, body }: RecordedCall, apiKey: string | undefined): ReplyBehaviour | null {
  if (path !== "/v1/messages") return anthropicError(404, "not_found_error", `Not found: ${path}`);
  if (method !== "POST") return anthropicError(405, "invalid_request_error", `Method ${method} not allowed`);
  const key = headers["x-api-key"];
  if (key === undefined || (apiKey !== undefined && key !== apiKey)) return ERRORS.unauthorized;
  if (headers["anthropic-version"] !== "2023-06-01") return invalid("anthropic-version: header is required");
  const fault = checkMessages(headers["content-type"], body);
  return fault === null ? null : invalid(fault);
}
