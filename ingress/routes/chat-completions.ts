/** POST /v1/chat/completions. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { checkChat } from "#shared/admission/chat-constraints.ts";
import { resolveChatModel } from "#shared/admission/resolve-model.ts";
import { parse } from "#shared/contracts.ts";
import { ApiError } from "#shared/errors.ts";
import { readJson } from "#shared/json.ts";
import { LIMITS } from "#shared/limits.ts";
import { serializePrice } from "#shared/pricing/price.ts";
import { storeClaim } from "#shared/storage/claim-check.ts";

import { readJsonBody } from "../body.ts";
import type { IngressContext } from "../context.ts";
import { CountedError, presetOf, type Route, type RouteCall } from "../serve.ts";

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
    request: { schema: "ChatCompletionRequest" },
    responses: {
      200: {
        description: "The answer",
        schema: "ChatCompletion",
        stream: "ChatCompletionChunk",
        headers: ["x-credits-used", "x-model-used"],
      },
    },
    errors: [
      "invalid_json",
      "invalid_request",
      "missing_required_parameter",
      "unsupported_value",
      "model_not_found",
      "model_not_supported",
      "audio_not_supported_by_model",
      "image_not_supported_by_model",
      "context_length_exceeded",
      "unsafe_url",
      "insufficient_credits",
      "daily_tokens_exceeded",
      "request_timeout",
      "request_too_large",
      "unsupported_media_type",
      "internal_error",
      "upstream_error",
      "upstream_refused",
      "overloaded",
      "service_unavailable",
      "upstream_timeout",
    ],
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RouteCall): Promise<Response> {
  const { config, metrics } = context;
  const caller = call.caller;
  if (!caller) throw new Error("the route needs a caller");
  const bytes = await readJsonBody(call.request, config.bodyBytesMax);
  const { text, value } = readJson(bytes);
  const request: ChatCompletionRequest = parse("ChatCompletionRequest", value);
  const model = resolveChatModel(context.catalogue.current(), request.model);
  const bound = checkChat(request, model, bytes.length);
  const preset = presetOf(context, caller);
  const jobId = call.requestId;
  const waitMs = config.chat.totalMs;

  const admissionAt = performance.now();
  try {
    await context.calls.place(caller.workspaceId, preset.requests_per_minute, {
      jobId,
      keyId: caller.keyId,
      model: model.slug,
      amountNano: bound.holdNano,
      mayExceed: bound.mayExceed,
      tokensMax: bound.tokensMax,
      dailyTokens: preset.daily_tokens,
      lifeMs: waitMs + LIMITS.holdSlackMs,
    });
    metrics.admissions.inc("admitted");
  } catch (error) {
    metrics.admissions.inc(error instanceof ApiError ? error.code : "failed");
    throw new CountedError(error);
  } finally {
    metrics.admissionSeconds.observe((performance.now() - admissionAt) / 1_000);
  }

  const deadlineMs = Date.now() + waitMs;
  const facts = {
    jobId,
    workspaceId: caller.workspaceId,
    requestId: call.requestId,
    startedAt: call.startedAt,
    // The worker ends the call at its deadline and says so; we wait a little longer for that word.
    waitMs: waitMs + DEADLINE_SLACK_MS,
    queueMs: config.chat.queueMs,
  };
  const message = {
    job_id: jobId,
    attempt: 1,
    dispatch: 1,
    kind: "chat",
    request_id: call.requestId,
    workspace_id: caller.workspaceId,
    key_id: caller.keyId,
    model: model.slug,
    hold_nano: bound.holdNano.toString(),
    may_exceed: bound.mayExceed,
    output_tokens_max: bound.outputTokensMax,
    price: serializePrice(model.price),
    deadline_ms: deadlineMs,
  };
  try {
    return await context.relay.run(facts, call.request.signal, async (isWanted) => {
      const body = await messageBody(context, message, text, bytes.length);
      return context.publisher.dispatch(
        {
          pool: "chat",
          lane: "live",
          workspaceId: caller.workspaceId,
          jobId,
          attempt: 1,
          dispatch: 1,
          reply: context.relay.address(jobId),
          deadlineMs,
          body,
        },
        isWanted,
      );
    });
  } catch (error) {
    throw new CountedError(error);
  }
}

const DEADLINE_SLACK_MS = 5_000;

/** The validated text travels as it came: parsing it a second time here would buy nothing. A large one waits in S3. */
async function messageBody(
  context: IngressContext,
  message: { job_id: string },
  text: string,
  textBytes: number,
): Promise<string> {
  const head = JSON.stringify(message).slice(0, -1);
  if (textBytes <= LIMITS.messageBytesMax) return `${head},"request":${text}}`;
  try {
    const reference = await storeClaim(context.storage, message.job_id, text);
    return `${head},"request_ref":${JSON.stringify(reference)}}`;
  } catch (error) {
    throw new ApiError("service_unavailable", "Large requests cannot be stored right now; try again shortly.", {
      cause: error,
    });
  }
}
