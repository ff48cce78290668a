/** /v1/responses: OpenAI's Responses API for every chat model, and the responses that it stores. */
import type { ModelResponse, ResponsesItem } from "#schemas/generated/types.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { findStoredFiles } from "#shared/calls/kinds/chat/files.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";
import { parse } from "#shared/contracts.ts";
import { ApiError } from "#shared/errors.ts";
import { exactIntegersOf } from "#shared/exact-integers.ts";
import { insistOn } from "#shared/outage.ts";
import type { KeptConversation } from "#shared/responses/conversations.ts";
import { callOfResponse, responseId } from "#shared/responses/ids.ts";
import type { KeptResponse } from "#shared/responses/store.ts";
import { runWhole } from "#shared/time-slices.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import { json } from "../answers.ts";
import { readBody, type ReadBody } from "../body.ts";
import { planCache } from "../calls/response-cache.ts";
import { runTranslatedCall } from "../calls/translated-call.ts";
import type { IngressContext } from "../context.ts";
import { countingInput } from "../messages/count.ts";
import { cancelJob } from "../media/jobs.ts";
import { cancelBackground, resumeBackground, runInBackground } from "../background/responses.ts";
import { findConversation, leaveConversation, takeConversation } from "../conversations/conversations.ts";
import { ITEMS_QUERY, itemsPageOf, pageOfItems } from "../conversations/items-page.ts";
import { type Asked, readAsked } from "../responses/asked.ts";
import { COMPACT_INSTRUCTIONS, compactionOf, transcriptOf } from "../responses/compact.ts";
import { findResponse, readConversation, responseNotFound } from "../responses/history.ts";
import { SERVED_HEADERS } from "../openapi/headers.ts";
import { checkRepeated, responseOf } from "../responses/object.ts";
import { renamedTools } from "../responses/offered-tools.ts";
import { checkStorageLeft } from "../responses/storage-left.ts";
import { answerInTurns, servedType } from "../responses/tool-turns.ts";
import { storedItems } from "../responses/stored-items.ts";
import { translatingRequest } from "../responses/translate.ts";
import { warmUpAnswer } from "../responses/warm-up.ts";
import { type Act, errorsOf } from "../route-errors.ts";
import { callerOf, type Route, type RouteCall } from "../serve.ts";
import { BOOLEAN_QUERY, booleanIn, queryOf } from "../settings/page.ts";
import { TOOLS_BODY_BYTES_MAX, tooLarge } from "../tools/chat.ts";
import { withParam } from "../with-param.ts";

const READS = ["reads_json", "resolves_model", "goes_on"] as const satisfies readonly Act[];
const STORED = ["response_not_found", "service_unavailable"] as const;

export const RESPONSES_PATH = "/v1/responses";

export function responses(context: IngressContext): Route[] {
  return [...callRoutes(context), ...storedRoutes(context)];
}

function callRoutes(context: IngressContext): Route[] {
  return [
    {
      method: "POST",
      path: RESPONSES_PATH,
      operationId: "createResponse",
      summary: "Answer a conversation, in the form of OpenAI's Responses",
      description:
        "OpenAI's Responses API, for any chat model. With `stream: true` the answer is its event stream; a stream that " +
        "fails ends with `error` and `response.failed`. The response is stored unless `store` is false, and later calls " +
        "go on from it by `previous_response_id`, or name its items by `item_reference`. As a WebSocket the path takes " +
        "messages of type `response.create` with the same members, without `stream_options`, `background` and a `stream` that is not true. With " +
        "`background: true` the answer is the response as `queued`, and a job does the work. " +
        "A tool of type `sluice` is served as in chat; what was run for the model stands among the items of the output, as `sluice_call`. " +
        "With one of type `image_generation` the service makes images for the model, as items `image_generation_call`.",
      tags: ["Chat"],
      auth: "key",
      countsItself: true,
      goesOn: true,
      request: { schema: "ResponsesRequest", example: { model: "sandbox-chat", input: "Say exactly: it works" } },
      responses: {
        200: {
          description: "The answer",
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
      summary: "Count the input tokens of a Responses call",
      description: "Never billed. Images count at the model's upper bound, documents and stored files by their size.",
      tags: ["Chat"],
      auth: "key",
      goesOn: true,
      request: { schema: "ResponsesRequest" },
      responses: { 200: { description: "The count", schema: "ResponseInputTokens" } },
      errors: errorsOf([...READS, "names_files"], "conversation_not_found"),
      handle: (call) => count(context, call),
    },
    {
      method: "POST",
      path: `${RESPONSES_PATH}/compact`,
      operationId: "compactResponse",
      summary: "Sum up a conversation",
      description:
        "The model writes a summary, which is billed like any answer. It is one item, which begins the `input` of a new " +
        "conversation in place of all that came before; pictures and files are only named in it.",
      tags: ["Chat"],
      auth: "key",
      countsItself: true,
      goesOn: true,
      request: {
        schema: "ResponsesCompactRequest",
        example: { model: "sandbox-chat", input: [{ role: "user", content: "Say exactly: it works" }] },
      },
      responses: {
        200: {
          description: "The summary",
          schema: "ResponseCompaction",
          headers: SERVED_HEADERS,
        },
      },
      errors: errorsOf([...READS, "reads_conversation", "holds", "asks_provider"]),
      handle: (call) => compact(context, call),
    },
  ];
}

function storedRoutes(context: IngressContext): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/responses/{response_id}",
      operationId: "getResponse",
      summary: "A stored response",
      description: "For the member whose key made it, and for owners and admins.",
      query: [
        {
          name: "stream",
          description:
            "`true` reads the events of a background response that was made with `stream: true`, until an hour after its end.",
          schema: { ...BOOLEAN_QUERY, default: false },
        },
        {
          name: "starting_after",
          description: "`sequence_number` of the last event that the reader has; those behind it follow.",
          schema: { type: "integer", minimum: 0 },
        },
      ],
      tags: ["Chat"],
      auth: "key",
      responses: { 200: { description: "The response", schema: "ModelResponse", stream: "ResponseStreamEvent" } },
      errors: errorsOf([], ...STORED, "unsupported_value", "invalid_request", "overloaded"),
      handle: async (call) => {
        const isStream = booleanIn(call, "stream") === true;
        const after = numberOf(call, "starting_after");
        if (!isStream) return json((await storedIn(context, call)).response);
        return resumeBackground(context, callerOf(call), await keptIn(context, call), after ?? -1);
      },
    },
    {
      method: "POST",
      path: "/v1/responses/{response_id}/cancel",
      operationId: "cancelResponse",
      summary: "End a background response",
      description: "One that has ended stays as it is. What was streamed by then is billed.",
      tags: ["Chat"],
      auth: "key",
      responses: { 200: { description: "The response as it is now", schema: "ModelResponse" } },
      errors: errorsOf([], ...STORED, "unsupported_value"),
      handle: async (call) => json(await cancelBackground(context, callerOf(call), await keptIn(context, call))),
    },
    {
      method: "DELETE",
      path: "/v1/responses/{response_id}",
      operationId: "deleteResponse",
      summary: "Delete a stored response",
      description: "Calls that would go on from it, or from one that does, find it no more.",
      tags: ["Chat"],
      auth: "key",
      responses: { 200: { description: "It is gone", schema: "ModelResponseDeleted" } },
      errors: errorsOf([], ...STORED),
      handle: (call) => remove(context, call),
    },
    {
      method: "GET",
      path: "/v1/responses/{response_id}/input_items",
      operationId: "listResponseInput",
      summary: "Items that a stored response was asked with",
      description: "Those of its own call, without those of earlier responses.",
      tags: ["Chat"],
      auth: "key",
      query: ITEMS_QUERY,
      responses: { 200: { description: "A page of them", schema: "ResponseInputList" } },
      errors: errorsOf([], ...STORED, "unsupported_value"),
      handle: (call) => listInput(context, call),
    },
  ];
}

/** @param onAsked told of the call before it runs: the items that it brings, and the object that its answer completes */
export async function answerResponse(
  context: IngressContext,
  call: RouteCall,
  given: ReadBody,
  onAsked?: OnAsked,
): Promise<Response> {
  let taken: string | undefined;
  const open = async (id: string): Promise<KeptConversation> => {
    const found = await takeConversation(context, call, id);
    taken = found.id;
    return found;
  };
  try {
    const asked = await readAsked(context, call, given, open);
    const answer = await answerAsked(context, call, asked, onAsked);
    if (asked.leftOut.length > 0) answer.headers.set("x-tools-omitted", asked.leftOut.join(", "));
    return answer;
  } catch (error) {
    if (taken !== undefined) await leaveConversation(context, call, taken);
    throw error;
  }
}

type OnAsked = (asked: { readonly own: readonly ResponsesItem[]; readonly response: ModelResponse }) => void;

async function answerAsked(
  context: IngressContext,
  call: RouteCall,
  { body, asked, items, offer, own, root, request, tools, paramOf }: Asked,
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
  // A turn among those that lead to one answer belongs where the others were.
  const affinity = call.affinity ?? root ?? response.id;
  if (asked.generate === false) {
    const answer = warmUpAnswer(response, onAsked !== undefined);
    const { workspaceId, preset } = callerOf(call);
    modelOf(CHAT, context.catalogue.current(), asked.model);
    call.markCounted?.();
    await context.calls.count(workspaceId, preset.requests_per_minute);
    return answer;
  }
  if (response.store || response.conversation) {
    await checkStorageLeft(context, callerOf(call).workspaceId, () => body.text.length);
  }
  if (offer) {
    if (Buffer.byteLength(JSON.stringify(items)) > TOOLS_BODY_BYTES_MAX)
      throw tooLarge("conversation", servedType(asked));
    const keep = keeperOf(context, callerOf(call), call.requestId, stored);
    const turns = {
      asked,
      items: items.map(({ item }) => item),
      offer,
      integers: exactIntegersOf(body.text),
      response,
    };
    return answerInTurns({ context, call: { ...call, affinity } }, { ...turns, ...(response.store ? { keep } : {}) });
  }
  const header = call.request.headers.get("x-cache");
  // A repeat would answer with a response that is gone by then, or name what is stored for another call.
  const isCached = !response.store && response.previous_response_id === null && !response.conversation;
  const background = { response, input: stored, isStreamed: request.stream === true, affinity };
  return runTranslatedCall(context, call, body, {
    api: "responses",
    request,
    paramOf,
    planCache: async (model) => {
      const plan = await planCache(header, model, "responses", body, { ...asked, input: own });
      return isCached ? plan : undefined;
    },
    response,
    affinity,
    renamed: renamedTools(tools),
    ...(response.store || response.conversation ? { input: stored } : {}),
    ...(response.background ? { run: (paid) => runInBackground(context, call, paid, background) } : {}),
  });
}

/** Returns a function that stores a response of several calls, as a worker stores that of one. */
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
  const { input, instructions, ...asked } = parse("ResponsesCompactRequest", body.value);
  const given = { ...asked, input: input ?? [] };
  const { makeRoom } = call;
  const { items } = await readConversation(context.responses, callerOf(call), given, { makeRoom });
  await body.pause();
  const transcript = transcriptOf(items, instructions);
  const { model, prompt_cache_key = null } = asked;
  const summing = { model, input: [], instructions: COMPACT_INSTRUCTIONS, prompt_cache_key, store: false };
  const answer = await runTranslatedCall(context, call, body, {
    api: "responses",
    ...runWhole(translatingRequest(summing, [transcript])),
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
  const model = modelOf(CHAT, context.catalogue.current(), request.model);
  try {
    const files = await findStoredFiles(context.database, callerOf(call), request);
    const counting = countingInput(await loadTokenizer(), request, model, files);
    const tokens = await body.work((slices) => slices.run(counting));
    return json({ object: "response.input_tokens", input_tokens: tokens });
  } catch (error) {
    throw withParam(error, paramOf);
  }
}

function storedIn({ responses: store }: IngressContext, call: RouteCall) {
  return findResponse(store, callerOf(call), call.params["response_id"] ?? "");
}

/** The same with what only background responses have. */
async function keptIn(context: IngressContext, call: RouteCall): Promise<KeptResponse> {
  const { response } = await storedIn(context, call);
  const kept = await context.responses.read(callOfResponse(response.id) ?? "");
  if (!kept) throw responseNotFound();
  return kept;
}

/** @throws ApiError for another text than a whole number from 0 */
function numberOf(call: RouteCall, name: string): number | undefined {
  const text = queryOf(call).get(name);
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ApiError("invalid_request", `Expected ${name} to be a whole number from 0.`, { param: name });
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const callId = callOfResponse(call.params["response_id"] ?? "");
  const caller = callerOf(call);
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
