/** /v1/responses: OpenAI's Responses API for every chat model, and access to stored responses. */
import type { ModelResponse, ResponsesItem } from "#schemas/generated/types.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { findStoredFiles } from "#shared/calls/kinds/chat/files.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";
import { lowerMax, takeMaxCredits } from "#shared/calls/max-credits.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { exactIntegersOf } from "#shared/json/serialize.ts";
import { insistOn } from "#shared/storage/outage.ts";
import type { KeptConversation } from "#shared/responses/conversations.ts";
import { callOfResponse, responseId } from "#shared/responses/ids.ts";
import type { KeptResponse } from "#shared/responses/store.ts";
import { runWhole } from "#shared/base/time-slices.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import { json } from "../../core/answers.ts";
import { readBody, type ReadBody } from "../../core/body.ts";
import { headerMax, MAX_CREDITS_REQUEST } from "../../core/max-credits.ts";
import { planCache } from "../calls/response-cache.ts";
import { runTranslatedCall } from "../calls/translated-call.ts";
import type { IngressContext } from "../../context.ts";
import { countingInput } from "../messages/count.ts";
import { cancelJob } from "../media/jobs.ts";
import { cancelBackground, resumeBackground, runInBackground } from "./background.ts";
import { findConversation, releaseConversation, takeConversation } from "./conversations.ts";
import { ITEMS_QUERY, itemsPageOf, pageOfItems } from "./items-page.ts";
import { type Asked, readAsked } from "./read-request.ts";
import { COMPACT_INSTRUCTIONS, compactionOf, transcriptOf } from "./compact.ts";
import { findResponse, readConversation, responseNotFound } from "./history.ts";
import { CACHE_REQUEST, SERVED_HEADERS } from "../../core/response-headers.ts";
import { checkRepeated, responseOf } from "../../core/response-object.ts";
import { renamedTools } from "./declared-tools.ts";
import { checkFreeStorage } from "./free-storage.ts";
import { answerInTurns, servedType } from "./tool-turns.ts";
import { storedItems } from "./stored-items.ts";
import { translatingRequest } from "./translate.ts";
import { warmUpAnswer } from "./warm-up.ts";
import { readLabels, TAGS_REQUEST } from "../../core/labels.ts";
import { type Act, errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";
import { BOOLEAN_QUERY, booleanIn, queryOf } from "../../core/page.ts";
import { TOOLS_BODY_BYTES_MAX, tooLarge } from "../../tools/chat.ts";
import { withParam } from "../../core/with-param.ts";

const READS = ["reads_json", "resolves_model", "continues_conversation"] as const satisfies readonly Act[];
const STORED = ["response_not_found", "service_unavailable"] as const;

export const RESPONSES_PATH = "/v1/responses";

export function responses(context: IngressContext): KeyRoute[] {
  return [...callRoutes(context), ...storedRoutes(context)];
}

function callRoutes(context: IngressContext): KeyRoute[] {
  return [
    {
      method: "POST",
      path: RESPONSES_PATH,
      operationId: "createResponse",
      summary: "Create response",
      description:
        "Creates a model response in the format of OpenAI's Responses API, for every chat model. With `stream: " +
        "true` the response is an event stream. A failed stream ends with `error` and `response.failed`. The " +
        "response is stored unless `store` is false. Later calls continue from it with `previous_response_id`, or " +
        "reference its items with `item_reference`. As a WebSocket, the path accepts messages of type " +
        "`response.create` with the same members, except `stream_options`, `background`, and `stream: false`. With " +
        "`background: true` a job creates the response, which is returned as `queued`. Runs of a `sluice` tool are " +
        "`sluice_call` items of the output. Images of an `image_generation` tool are `image_generation_call` " +
        "items.",
      tags: ["Chat"],
      auth: "key",
      countsItself: true,
      canLoadStoredContent: true,
      request: { schema: "ResponsesRequest", example: { model: "sandbox-chat", input: "Say exactly: it works" } },
      requestHeaders: [MAX_CREDITS_REQUEST, CACHE_REQUEST, TAGS_REQUEST],
      responses: {
        200: {
          description: "The response, or a stream of events",
          schema: "ModelResponse",
          stream: "ResponseStreamEvent",
          headers: [...SERVED_HEADERS, "x-cache", "x-tools-omitted", "x-max-tokens-lowered"],
        },
      },
      errors: errorsOf(
        [...READS, "reads_files", "reads_conversation", "fetches_addresses", "holds", "asks_provider"],
        "conversation_not_found",
        "conversation_locked",
        "storage_limit_exceeded",
      ),
      handle: async (call) => answerResponse(context, call, await readBody(context, call)),
    },
    {
      method: "POST",
      path: "/v1/responses/input_tokens",
      operationId: "countResponseTokens",
      summary: "Count response tokens",
      description:
        "Counts the input tokens of a response call, free of charge. Images count at the model's maximum, documents " +
        "and stored files by size.",
      tags: ["Chat"],
      auth: "key",
      canLoadStoredContent: true,
      request: { schema: "ResponsesRequest" },
      responses: { 200: { description: "The number of tokens", schema: "ResponseInputTokens" } },
      errors: errorsOf([...READS, "names_files"], "conversation_not_found"),
      handle: (call) => count(context, call),
    },
    {
      method: "POST",
      path: `${RESPONSES_PATH}/compact`,
      operationId: "compactResponse",
      summary: "Compact conversation",
      description:
        "The model writes a summary, which is billed like any answer. Use the summary item as the start of `input` " +
        "in place of the earlier conversation. Images and files are only mentioned in the summary.",
      tags: ["Chat"],
      auth: "key",
      countsItself: true,
      canLoadStoredContent: true,
      requestHeaders: [MAX_CREDITS_REQUEST],
      request: {
        schema: "ResponsesCompactRequest",
        example: { model: "sandbox-chat", input: [{ role: "user", content: "Say exactly: it works" }] },
      },
      responses: {
        200: {
          description: "The compaction",
          schema: "ResponseCompaction",
          headers: SERVED_HEADERS,
        },
      },
      errors: errorsOf([...READS, "reads_conversation", "holds", "asks_provider"]),
      handle: (call) => compact(context, call),
    },
  ];
}

function storedRoutes(context: IngressContext): KeyRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/responses/{response_id}",
      operationId: "getResponse",
      summary: "Retrieve response",
      description: "Returns a stored response to the member who created it, and to owners and admins.",
      query: [
        {
          name: "stream",
          description:
            "True to receive the events of a background response created with `stream: true`. They are available " +
            "until an hour after its end.",
          schema: { ...BOOLEAN_QUERY, default: false },
        },
        {
          name: "starting_after",
          description: "`sequence_number` of the last received event. The stream starts after it.",
          schema: { type: "integer", minimum: 0 },
        },
      ],
      tags: ["Chat"],
      auth: "key",
      responses: {
        200: {
          description: "The response, or a stream of its events",
          schema: "ModelResponse",
          stream: "ResponseStreamEvent",
        },
      },
      errors: errorsOf([], ...STORED, "unsupported_value", "invalid_request", "overloaded"),
      handle: async (call) => {
        const isStream = booleanIn(call, "stream") === true;
        const after = numberOf(call, "starting_after");
        if (!isStream) return json((await storedIn(context, call)).response);
        return resumeBackground(context, call.caller, await keptIn(context, call), after ?? -1);
      },
    },
    {
      method: "POST",
      path: "/v1/responses/{response_id}/cancel",
      operationId: "cancelResponse",
      summary: "Cancel response",
      description:
        "Cancels a background response. A response that has ended does not change. Output streamed before the " +
        "cancellation is billed.",
      tags: ["Chat"],
      auth: "key",
      responses: { 200: { description: "The response after the cancellation", schema: "ModelResponse" } },
      errors: errorsOf([], ...STORED, "unsupported_value"),
      handle: async (call) => json(await cancelBackground(context, call.caller, await keptIn(context, call))),
    },
    {
      method: "DELETE",
      path: "/v1/responses/{response_id}",
      operationId: "deleteResponse",
      summary: "Delete response",
      description: "Deletes a stored response. Calls can no longer continue from it or from its successors.",
      tags: ["Chat"],
      auth: "key",
      responses: { 200: { description: "The confirmation", schema: "ModelResponseDeleted" } },
      errors: errorsOf([], ...STORED),
      handle: (call) => remove(context, call),
    },
    {
      method: "GET",
      path: "/v1/responses/{response_id}/input_items",
      operationId: "listResponseInput",
      summary: "List response input items",
      description: "Lists the input items of the response's own call, without those of earlier responses.",
      tags: ["Chat"],
      auth: "key",
      query: ITEMS_QUERY,
      responses: { 200: { description: "A page of items", schema: "ResponseInputList" } },
      errors: errorsOf([], ...STORED, "unsupported_value"),
      handle: (call) => listInput(context, call),
    },
  ];
}

/**
 * Runs a Responses call and returns its response.
 * @param onAsked called before the call runs, with the items of its body and its incomplete response object, which the result completes
 * later
 */
export async function answerResponse(
  context: IngressContext,
  call: RouteCall,
  body: ReadBody,
  onAsked?: OnAsked,
): Promise<Response> {
  let taken: string | undefined;
  const open = async (id: string): Promise<KeptConversation> => {
    const found = await takeConversation(context, call, id);
    taken = found.id;
    return found;
  };
  try {
    const asked = await readAsked(context, call, body, open);
    const answer = await answerAsked(context, call, asked, onAsked);
    if (asked.omittedToolTypes.length > 0) answer.headers.set("x-tools-omitted", asked.omittedToolTypes.join(", "));
    return answer;
  } catch (error) {
    if (taken !== undefined) await releaseConversation(context, call, taken);
    throw error;
  }
}

type OnAsked = (asked: { readonly own: readonly ResponsesItem[]; readonly response: ModelResponse }) => void;

async function answerAsked(
  context: IngressContext,
  call: RouteCall,
  { body, asked, maxNano, items, toolSet, own, root, request, tools, paramOf }: Asked,
  onAsked: OnAsked | undefined,
): Promise<Response> {
  await body.pause();
  const response = responseOf(asked, call.requestId, Math.floor(Date.now() / 1_000));
  checkRepeated(response);
  const stored = storedItems(own, call.requestId);
  onAsked?.({ own: stored, response });
  if (response.background && !response.store) {
    throw new ApiError("unsupported_value", "A background response is always stored; remove store or set it to true.", {
      param: "store",
    });
  }
  // All turns of one response share the affinity of the first.
  const affinity = call.affinity ?? root ?? response.id;
  if (asked.generate === false) {
    const answer = warmUpAnswer(response, onAsked !== undefined);
    const { workspaceId, preset } = call.caller;
    modelOf(CHAT, context.catalogue.current(), call.caller, asked.model);
    call.meter.markCounted();
    await context.calls.count(workspaceId, preset.requests_per_minute);
    return answer;
  }
  if (response.store || response.conversation) {
    await checkFreeStorage(context, call.caller.workspaceId, () => body.text.length);
  }
  if (toolSet) {
    if (Buffer.byteLength(JSON.stringify(items)) > TOOLS_BODY_BYTES_MAX)
      throw tooLarge("conversation", servedType(asked));
    const keep = keeperOf(context, call.caller, call.requestId, stored);
    const turns = {
      asked,
      items: items.map(({ item }) => item),
      toolSet,
      maxNano: lowerMax(maxNano, headerMax(call.request)),
      integers: exactIntegersOf(body.text),
      response,
    };
    const labels = readLabels(call, body.value);
    const turnsCall = { ...call, affinity, drawId: call.requestId, ...(labels === undefined ? {} : { labels }) };
    return answerInTurns({ context, call: turnsCall }, { ...turns, ...(response.store ? { keep } : {}) });
  }
  const header = call.request.headers.get("x-cache");
  // A cached copy could be deleted by then, or name what is stored for another call.
  const isCached = !response.store && response.previous_response_id === null && !response.conversation;
  const background = { response, input: stored, isStreamed: request.stream === true, affinity };
  return runTranslatedCall(context, call, body, {
    api: "responses",
    request,
    paramOf,
    maxNano,
    planCache: async (model, scope) => {
      const plan = await planCache(header, model, `responses${scope}`, body, { ...asked, input: own });
      return isCached ? plan : undefined;
    },
    response,
    affinity,
    renamed: renamedTools(tools),
    ...(response.store || response.conversation ? { input: stored } : {}),
    ...(response.background ? { run: (paid) => runInBackground(context, call, paid, background) } : {}),
  });
}

/**
 * Returns a function that stores the combined response of several model turns. A worker does the same for the response of a single call.
 */
function keeperOf(
  { responses: store, config, log, closing }: IngressContext,
  { workspaceId, keyId }: Caller,
  id: string,
  input: readonly ResponsesItem[],
): (response: ModelResponse) => Promise<void> {
  return async (response) => {
    try {
      const hours = config.responseRetentionHours;
      const insist = insistOn({ log, about: { request_id: id }, signal: closing });
      await store.keep({ call: { id, workspaceId, keyId }, response, input, hours }, insist);
    } catch (error) {
      const message = "The response cannot be stored right now; try again shortly, or set store to false.";
      throw new ApiError("service_unavailable", message, { shouldRetry: false, cause: error });
    }
  };
}

async function compact(context: IngressContext, call: RouteCall): Promise<Response> {
  const body = await readBody(context, call);
  await body.pause();
  const { request, maxNano } = takeMaxCredits(parse("ResponsesCompactRequest", body.value));
  const { input, instructions, ...asked } = request;
  const conversationRequest = { ...asked, input: input ?? [] };
  const { reserveMemory } = call.meter;
  const { items } = await readConversation(context.responses, call.caller, conversationRequest, { reserveMemory });
  await body.pause();
  const transcript = transcriptOf(items, instructions);
  const { model, prompt_cache_key = null } = asked;
  const summing = { model, input: [], instructions: COMPACT_INSTRUCTIONS, prompt_cache_key, store: false };
  const answer = await runTranslatedCall(context, call, body, {
    api: "responses",
    ...runWhole(translatingRequest(summing, [transcript])),
    maxNano,
    planCache: () => Promise.resolve(undefined),
    response: responseOf(summing, call.requestId, Math.floor(Date.now() / 1_000)),
    needsText: true,
  });
  const compaction = compactionOf(parse("ModelResponse", await answer.json()));
  return new Response(JSON.stringify(compaction), { headers: answer.headers });
}

async function count(context: IngressContext, call: RouteCall): Promise<Response> {
  const { body, request, paramOf } = await readAsked(context, call, await readBody(context, call), (id) =>
    findConversation(context, call, id),
  );
  const model = modelOf(CHAT, context.catalogue.current(), call.caller, request.model);
  try {
    const files = await findStoredFiles(context.database, call.caller, request);
    const counting = countingInput(await loadTokenizer(), request, model, files);
    const tokens = await body.work((slices) => slices.run(counting));
    return json({ object: "response.input_tokens", input_tokens: tokens });
  } catch (error) {
    throw withParam(error, paramOf);
  }
}

function storedIn({ responses: store }: IngressContext, call: RouteCall) {
  return findResponse(store, call.caller, call.params["response_id"] ?? "");
}

/** Returns a stored response with the members that background responses have in addition. */
async function keptIn(context: IngressContext, call: RouteCall): Promise<KeptResponse> {
  const { response } = await storedIn(context, call);
  const kept = await context.responses.read(callOfResponse(response.id) ?? "");
  if (!kept) throw responseNotFound();
  return kept;
}

/** Reads a non-negative integer from the query string; undefined if absent. @throws ApiError for other values */
function numberOf(call: RouteCall, name: string): number | undefined {
  const text = queryOf(call).get(name);
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ApiError("invalid_request", `Expected ${name} to be a whole number from 0.`, { param: name });
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const callId = callOfResponse(call.params["response_id"] ?? "");
  const { caller } = call;
  const gone = callId === undefined ? undefined : await context.responses.delete(viewerOf(caller), callId);
  if (callId === undefined || !gone) throw responseNotFound();
  if (gone.isQueued) await cancelJob(context, caller.workspaceId, callId);
  return json({ id: responseId(callId), object: "response", deleted: true });
}

async function listInput(context: IngressContext, call: RouteCall): Promise<Response> {
  const page = itemsPageOf(call);
  const { input } = await storedIn(context, call);
  return json(pageOfItems(page, input));
}
