/** Every operation of /openapi.json, called once with what it asks for: its answer is one that the document describes. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { startReceiver, type Receiver } from "#tests/e2e/notifications/bench.ts";
import { eventually } from "#tests/faults/wait.ts";
import type { Stack } from "#tests/support/stack.ts";

import { type CheckedApi, createCheckedApi, type Document, type Sent } from "./checked-api.ts";
import { OPERATOR_TOKEN, sharedStack } from "./shared-stack.ts";

let stack: Stack;
let receiver: Receiver;
let api: CheckedApi;
beforeAll(async () => {
  receiver = await startReceiver();
  stack = await sharedStack();
  const [baseUrl = ""] = stack.baseUrls;
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Document;
  api = createCheckedApi(baseUrl, document, (path) => (path.startsWith("/operator/") ? OPERATOR_TOKEN : stack.key));
}, 240_000);
afterAll(() => receiver.close());

/** A value of the answer that must be there. */
async function ask<T = Readonly<Record<string, unknown>>>(operationId: string, sent?: Sent): Promise<T> {
  return (await api.call(operationId, sent)).value as T;
}
const idOf = async (operationId: string, sent?: Sent): Promise<string> =>
  (await ask<{ id: string }>(operationId, sent)).id;

const CHAT = { model: "sandbox-chat", messages: [{ role: "user", content: "Say exactly: yes" }] };
const USING = 'Use code_regex on the text "abc" with the pattern "b".';
const TOOLS = [{ type: "sluice", capabilities: ["code.regex"] }];
const ASKED = { model: "sandbox-chat", input: CHAT.messages };
const PROMPT = { prompt: "a boat at sea" };

test("the service, its document and its models", async () => {
  for (const operation of ["getService", "getHealth", "getReadiness", "getOpenApi", "getDocs", "listPublicModels"]) {
    await api.call(operation);
  }
  await api.call("getApiExplorer");
  await api.call("searchDocs", { query: "?q=retry" });
  await api.call("getDocsPage", { path: { section: "api" } });
  const page = await api.call("getDocsSectionPage", { path: { section: "reference", page: "errors" } });
  const headers = { "if-none-match": page.headers.get("etag") ?? "" };
  await api.call("getDocsSectionPage", { path: { section: "reference", page: "errors" }, headers });
  await api.call("getDocsSectionPage", { path: { section: "reference", page: "errors.md" } });
  await api.call("listModels", { query: "?include_tools=true" });
  await api.call("getModel", { path: { slug: "sandbox-chat" } });
  await api.call("getSchema", { path: { file: "ChatCompletionRequest.json" } });
  await api.call("getDocsAsset", { path: { name: "start.js" } });
  await api.call("getKey");
  await api.call("getKeyUsage");
  await api.call("getKeyCredits");
  await api.call("estimateCall", { path: { slug: "sandbox-chat" }, body: CHAT });
});

test("chat, messages and embeddings", async () => {
  await api.call("createChatCompletion", { body: CHAT });
  await api.call("createChatCompletion", { body: { ...CHAT, stream: true, stream_options: { include_usage: true } } });
  // The last frame is an error.
  const broken = await ask<object[]>("createChatCompletion", { body: { ...CHAT, model: "sandbox-error-midway", stream: true } }); // prettier-ignore
  expect(broken.at(-1)).toMatchObject({ error: { code: "upstream_error" } });
  const used = { model: "sandbox-chat", messages: [{ role: "user", content: USING }], tools: TOOLS };
  await api.call("createChatCompletion", { body: used });
  await api.call("createChatCompletion", { body: { ...used, stream: true } });
  const message = { ...CHAT, max_tokens: 50 };
  await api.call("createMessage", { body: message });
  await api.call("createMessage", { body: { ...message, stream: true } });
  await api.call("countMessageTokens", { body: CHAT });
  await api.call("createEmbeddings", { body: { model: "sandbox-embed", input: ["tea", "coffee"] } });
});

test("responses", async () => {
  await api.call("createResponse", { body: { model: "sandbox-chat", input: USING, tools: TOOLS } });
  await api.call("createResponse", { body: { model: "sandbox-chat", input: USING, tools: TOOLS, stream: true } });
  const response_id = await idOf("createResponse", { body: ASKED });
  await api.call("countResponseTokens", { body: ASKED });
  await api.call("compactResponse", { body: ASKED });
  await api.call("getResponse", { path: { response_id } });
  await api.call("listResponseInput", { path: { response_id }, query: "?limit=1&order=asc" });
  await api.call("deleteResponse", { path: { response_id } });
  await api.call("createResponse", { body: { ...ASKED, stream: true } });
  const background = await idOf("createResponse", { body: { ...ASKED, background: true } });
  const isOver = async (): Promise<boolean> =>
    (await stack.query("select 1 from job where ended_at is null")).length === 0;
  await eventually("the background response has ended", isOver);
  await api.call("getResponse", { path: { response_id: background } });
  await api.call("cancelResponse", { path: { response_id: background } });
  const events = await ask<{ response: { id: string } }[]>("createResponse", { body: { ...ASKED, background: true, stream: true } }); // prettier-ignore
  await api.call("getResponse", { path: { response_id: events[0]?.response.id ?? "" }, query: "?stream=true&starting_after=2" }); // prettier-ignore
});

test("conversations", async () => {
  const conversation_id = await idOf("createConversation", { body: { items: CHAT.messages } });
  const path = { conversation_id };
  await api.call("updateConversation", { path, body: { metadata: { topic: "tea" } } });
  await api.call("getConversation", { path });
  await api.call("createResponse", { body: { ...ASKED, conversation: conversation_id } });
  const added = await ask<{ data: { id: string }[] }>("createConversationItems", {
    path,
    body: { items: CHAT.messages },
  });
  const item_id = added.data[0]?.id ?? "";
  await api.call("listConversationItems", { path, query: "?limit=2&order=asc" });
  await api.call("getConversationItem", { path: { ...path, item_id } });
  await api.call("deleteConversationItem", { path: { ...path, item_id } });
  await api.call("deleteConversation", { path });
});

test("an interrupted response", async () => {
  const failed = await ask<object[]>("createResponse", { body: { ...ASKED, model: "sandbox-error-midway", stream: true } }); // prettier-ignore
  expect(failed.at(-1)).toMatchObject({ type: "response.failed", response: { error: { code: "upstream_error" } } });
});

test("media", async () => {
  const image = { model: "sandbox-image", ...PROMPT, size: "256x256" };
  const made = await api.call("createImage", { body: image });
  await api.call("createImage", { body: { ...image, response_format: "b64_json" } });
  await api.call("createImage", { body: { ...image, stream: true } });
  const [{ url, file_id }] = (made.value as { data: [{ url: string; file_id: string }] }).data;
  await api.call("editImage", { body: { ...image, image_file_id: file_id } });
  await api.call("getMediaContent", { path: { token: url.split("/").at(-1) ?? "" } });
  await api.call("getMediaContent", {
    path: { token: url.split("/").at(-1) ?? "" },
    headers: { range: "bytes=0-9" },
  });
  const spoken = await ask<Uint8Array<ArrayBuffer>>("createSpeech", {
    body: { model: "sandbox-tts", input: "It works." },
  });
  for (const response_format of ["opus", "aac", "flac", "wav", "pcm"]) {
    await api.call("createSpeech", { body: { model: "sandbox-tts", input: "It works.", response_format } });
  }
  await api.call("createSpeech", { body: { model: "sandbox-tts", input: "It works.", stream_format: "sse" } });
  for (const format of ["json", "verbose_json", "text", "srt", "vtt"]) {
    const form = new FormData();
    form.append("model", "sandbox-stt");
    form.append("response_format", format);
    form.append("file", new File([spoken], "a.mp3", { type: "audio/mpeg" }));
    await api.call("createTranscription", { body: form });
  }
  const audio_base64 = Buffer.from(spoken).toString("base64");
  await api.call("createTranscription", { body: { model: "sandbox-stt", audio_base64, stream: true } });
  await api.call("createMusic", { body: { model: "sandbox-music", ...PROMPT, duration: 3 } });
  await api.call("createMusic", { query: "?stream=true", body: { model: "sandbox-music", ...PROMPT, duration: 3 } });
  // Before a mesh, whose cost differs, and jobs that end at any time.
  await stack.settled();
  await api.call("listJobs", { query: "?limit=1&status=completed" });
  await api.call("createMesh", { body: { model: "sandbox-3d", ...PROMPT } });
  for (const worker of stack.workers) worker.kill("SIGSTOP");
  try {
    const headers = { prefer: "respond-async" };
    await api.call("createImage", { body: image, headers });
    await api.call("editImage", { body: { ...image, image_file_id: file_id }, headers });
    await api.call("createMusic", { body: { model: "sandbox-music", ...PROMPT, duration: 3 }, headers });
    await api.call("createMesh", { body: { model: "sandbox-3d", ...PROMPT }, headers });
  } finally {
    for (const worker of stack.workers) worker.kill("SIGCONT");
  }
  await api.call("getJob", { path: { job_id: made.headers.get("x-request-id") ?? "" } });
  const id = await idOf("createVideo", { body: { model: "sandbox-video-hang", ...PROMPT, duration: 1 } });
  const isAt = async (state: string): Promise<boolean> =>
    (await stack.query(`select 1 from job where id = $1 and ${state}`, [id])).length === 1;
  await eventually("it is at its provider", () => isAt("provider_job ? 'job'"));
  await api.call("getVideo", { path: { id } });
  const headers = { authorization: `Bearer ${stack.key}` };
  await fetch(`${stack.baseUrls[0]}/v1/videos/generations/${id}/cancel`, { method: "POST", headers });
  await eventually("it has ended", () => isAt("ended_at is not null"));
  await api.call("cancelVideo", { path: { id } });
  await api.call("cancelJob", { path: { job_id: id } });
});

test("files and capabilities", async () => {
  const form = new FormData();
  form.append("purpose", "user_data");
  form.append("file", new File(["hello"], "a.txt", { type: "text/plain" }));
  const path = { file_id: await idOf("createFile", { body: form }) };
  await api.call("listFiles");
  await api.call("getFile", { path });
  const content = await api.call("getFileContent", { path });
  await api.call("getFileContent", { path, headers: { range: "bytes=0-1" } });
  await api.call("getFileContent", { path, headers: { "if-none-match": content.headers.get("etag") ?? "" } });
  await api.call("deleteFile", { path });

  const batchOf = async (model: string, state: string): Promise<{ batch_id: string }> => {
    const lines = new FormData();
    lines.append("purpose", "batch");
    const body = { ...CHAT, model, tools: null, user: null };
    const line = { custom_id: "a", method: "POST", url: "/v1/chat/completions", body };
    lines.append("file", new File([JSON.stringify(line)], "a.jsonl", { type: "application/jsonl" }));
    const input_file_id = await idOf("createFile", { body: lines });
    const asked = { input_file_id, endpoint: line.url, completion_window: "24h", metadata: { a: "b" } };
    const batch_id = await idOf("createBatch", { body: asked });
    await eventually(
      "it is there",
      async () => (await stack.query("select 1 from batch where state = $1", [state])).length > 0,
    );
    return { batch_id };
  };
  const batch = await batchOf("sandbox-chat", "completed");
  await api.call("getBatch", { path: batch });
  await api.call("listBatchLines", { path: batch });
  await api.call("listBatches");
  await api.call("cancelBatch", { path: await batchOf("sandbox-hang", "in_progress") });

  const tools = await api.call("listCapabilities");
  await api.call("listCapabilities", { headers: { "if-none-match": tools.headers.get("etag") ?? "" } });
  const body = { input: { text: { text: "abc" } }, params: { pattern: "b" } };
  await api.call("runCapability", { path: { id: "code.regex" }, body });
  // The run may end before its answer is written.
  for (const worker of stack.workers) worker.kill("SIGSTOP");
  try {
    await api.call("runCapability", { path: { id: "code.regex" }, body: { ...body, async: true } });
  } finally {
    for (const worker of stack.workers) worker.kill("SIGCONT");
  }
  await api.call("estimateCapability", { path: { id: "code.regex" }, body });

  const headers = { accept: "application/json, text/event-stream" };
  const call = { name: "run_tool", arguments: { tool: "no.such", ...body } };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call };
  await api.call("callMcp", { headers, body: message });
  await api.call("callMcp", { headers, body: { jsonrpc: "2.0", method: "notifications/initialized" } });
  await api.call("callMcpTools", {
    path: { tools: "archive" },
    headers,
    body: { ...message, method: "ping", params: {} },
  });
});

test("workflows", async () => {
  const say = (text: string) => ({
    id: "say",
    type: "model",
    model: "sandbox-chat",
    params: { messages: [{ role: "user", content: `Say exactly: ${text}` }] },
  });
  const definition = {
    inputs: { topic: { type: "string", default: "tea" } },
    steps: [say("${{ inputs.topic }}")],
    output: { text: "${{ steps.say.output.text }}" },
  };
  const path = { id: await idOf("createWorkflow", { body: { name: "About", definition } }) };
  await api.call("listWorkflows");
  await api.call("getWorkflow", { path });
  await api.call("updateWorkflow", { path, body: { description: "Says it" } });
  await api.call("listWorkflowVersions", { path });
  await api.call("listWorkflowTemplates");
  await api.call("estimateWorkflow", { body: { workflow_id: path.id } });
  const run = { id: await idOf("runWorkflow", { path }) };
  await api.call("runWorkflow", { path, body: { mode: "stream" } });
  const slow = { name: "Slow", definition: { steps: [{ ...say("x"), model: "sandbox-slow" }] } };
  const ofSlow = { path: { id: await idOf("createWorkflow", { body: slow }) } };
  const going = { id: await idOf("runWorkflow", { ...ofSlow, body: { mode: "async" } }) };
  await api.call("cancelRun", { path: going });
  const failed = await ask("runPipeline", {
    body: { definition: { steps: [{ ...say("x"), model: "sandbox-error" }] } },
  });
  expect(failed).toMatchObject({ status: "failed", error: { stepId: "say" } });
  await api.call("listRuns");
  await api.call("listWorkflowRuns", { path });
  expect(await ask("getRun", { path: run })).toMatchObject({ output: { text: "tea" } });
  await api.call("followRun", { path: run });
  await api.call("getStepOutput", { path: { ...run, stepId: "say" } });
  await api.call("deleteWorkflow", { path });
});

test("settings of a workspace", async () => {
  const workspaceId = "default";
  const ofWorkspace = (more: Readonly<Record<string, string>> = {}) => ({ path: { workspaceId, ...more } });
  await api.call("getWorkspace", ofWorkspace());
  await api.call("listPresets", ofWorkspace());

  const member = await idOf("createMember", { ...ofWorkspace(), body: { name: "ada", role: "developer" } });
  const ofMember = ofWorkspace({ memberId: member });
  await api.call("listMembers", ofWorkspace());
  await api.call("getMember", ofMember);
  await api.call("updateMember", { ...ofMember, body: { role: "admin" } });
  const key = await idOf("createApiKey", { ...ofWorkspace(), body: { name: "first", member_id: member } });
  const ofKey = ofWorkspace({ keyId: key });
  await api.call("listApiKeys", ofWorkspace());
  await api.call("getApiKey", ofKey);
  await api.call("updateApiKey", { ...ofKey, body: { name: "renamed" } });
  const rotated = await ask<{ id: string }>("rotateApiKey", ofKey);
  await api.call("revokeApiKey", ofWorkspace({ keyId: rotated.id }));
  await api.call("deleteMember", ofMember);

  const chain = ofWorkspace({ model: "sandbox-error" });
  await api.call("putFallbackChain", { ...chain, body: { fallbacks: ["sandbox-chat"] } });
  await api.call("listFallbackChains", ofWorkspace());
  await api.call("getFallbackChain", chain);
  const broken = { ...CHAT, model: "sandbox-error" };
  const headers = { authorization: `Bearer ${stack.key}`, "content-type": "application/json" };
  await eventually("the chain is in force", async () => {
    const init = { method: "POST", headers, body: JSON.stringify(broken) };
    return (await fetch(`${stack.baseUrls[0]}/v1/chat/completions`, init)).ok;
  });
  const served = await api.call("createChatCompletion", { body: broken });
  expect(served.headers.get("x-fallback-from")).toBe("sandbox-error");
  await api.call("deleteFallbackChain", chain);

  await eventually("nothing is held", async () => (await stack.query("select 1 from hold limit 1")).length === 0);
  await api.call("readUsage", ofWorkspace());
  const ofOneModel = { ...ofWorkspace(), query: "?model=sandbox-embed" };
  const { data } = await ask<{ data: { request_id: string }[] }>("listUsageRequests", ofOneModel);
  await api.call("getUsageRequest", ofWorkspace({ request_id: data[0]?.request_id ?? "" }));
  await api.call("updateWorkspace", { ...ofWorkspace(), body: { bodies: { keep: "all" } } });
  const request_id = await eventually("the bodies of a call are kept", async () => {
    // An error has no time that would differ from the recorded answer.
    const init = { method: "POST", headers, body: JSON.stringify({ ...CHAT, temperature: 9 }) };
    await fetch(`${stack.baseUrls[0]}/v1/chat/completions`, init);
    const [row] = await stack.query<{ id: string }>(
      "select request_id as id from kept_body where reference is not null limit 1",
    );
    return row?.id;
  });
  await api.call("updateWorkspace", { ...ofWorkspace(), body: { bodies: { keep: "none" } } });
  await api.call("getRequestBodies", ofWorkspace({ request_id }));
  await api.call("deleteRequestBodies", ofWorkspace({ request_id }));
  await api.call("getCredits", ofWorkspace());
  await api.call("listUnavailableModels", ofWorkspace());
  for (const list of ["readUsage", "listUsageRequests", "listLedger", "listAuditLog"]) {
    await api.call(list, ofOneModel);
    const { value } = await api.call(list, { ...ofOneModel, headers: { accept: "text/csv" } });
    expect([list, (value as Uint8Array).length]).toEqual([list, expect.any(Number)]);
  }

  await api.call("exportFocusUsage", ofWorkspace());
  for (const list of ["readUsage", "listUsageRequests"]) {
    await api.call(list, { ...ofOneModel, headers: { accept: "application/jsonl" } });
  }
  const ofUser = ofWorkspace({ user: "user-7" });
  await api.call("putEndUserLimits", { ...ofUser, body: { credits: { day: 50, month: 500 }, warn_at: [80] } });
  await api.call("listEndUserLimits", ofWorkspace());
  await api.call("getEndUserLimits", ofUser);
  await api.call("deleteEndUserLimits", ofUser);
  await api.call("updateWorkspace", { ...ofWorkspace(), body: { tags: ["project"] } });
  const ofTag = ofWorkspace({ tag: "project", value: "alpha" });
  await api.call("putTagLimits", { ...ofTag, body: { credits: { day: 50, month: 500 }, warn_at: [80] } });
  await api.call("listTagLimits", ofWorkspace());
  await api.call("getTagLimits", ofTag);
  await api.call("deleteTagLimits", ofTag);
  await api.call("updateWorkspace", { ...ofWorkspace(), body: { tags: [] } });

  const alert = { name: "a day", threshold_credits: 1_000_000, period: "daily", warn_at: [50] };
  const ofAlert = ofWorkspace({ alertId: await idOf("createBudgetAlert", { ...ofWorkspace(), body: alert }) });
  await api.call("listBudgetAlerts", ofWorkspace());
  await api.call("getBudgetAlert", ofAlert);
  await api.call("updateBudgetAlert", { ...ofAlert, body: { stops_calls: true } });
  await api.call("deleteBudgetAlert", ofAlert);
  const low = { name: "low", below_days: 7 };
  const ofLow = ofWorkspace({ alertId: await idOf("createBalanceAlert", { ...ofWorkspace(), body: low }) });
  await api.call("listBalanceAlerts", ofWorkspace());
  await api.call("getBalanceAlert", ofLow);
  await api.call("updateBalanceAlert", { ...ofLow, body: { below_credits: 1 } });
  await api.call("deleteBalanceAlert", ofLow);

  const hook = { type: "webhook", name: "hook", config: { url: `${receiver.url}/hook` } };
  const channelId = await idOf("createNotificationChannel", { ...ofWorkspace(), body: hook });
  const ofChannel = ofWorkspace({ channelId });
  await api.call("listNotificationChannels", ofWorkspace());
  await api.call("getNotificationChannel", ofChannel);
  await api.call("updateNotificationChannel", { ...ofChannel, body: { name: "renamed" } });
  await api.call("listEventTypes", ofWorkspace());
  await api.call("createSubscription", { ...ofChannel, body: { event: "run.succeeded" } });
  const { data: subscribed } = await ask<{ data: { id: string }[] }>("listSubscriptions", ofChannel);
  await api.call("deleteSubscription", ofWorkspace({ channelId, subscriptionId: subscribed[0]?.id ?? "" }));
  const { deliveryId } = await ask<{ deliveryId: string }>("testNotificationChannel", ofChannel);
  await eventually("it arrives", () => receiver.received.length > 0);
  await eventually("it is known to have arrived", async () => {
    const ended = "select 1 from delivery where id = $1 and ended_at is not null";
    return (await stack.query(ended, [deliveryId])).length === 1;
  });
  await api.call("listDeliveries", ofWorkspace());
  await api.call("getDelivery", ofWorkspace({ deliveryId }));
  await api.call("retryDelivery", ofWorkspace({ deliveryId }));
  await api.call("recoverDeliveries", { ...ofChannel, body: { since: new Date(Date.now() - 60_000).toISOString() } });
  await api.call("revealSigningSecret", ofChannel);
  await api.call("rotateSigningSecret", ofChannel);
  await api.call("deleteNotificationChannel", ofChannel);
  await api.call("updateWorkspace", { ...ofWorkspace(), body: { name: "default" } });
});

test("the sign-in of people", async () => {
  const headers = { authorization: "", "x-sluice-console": "1" };
  const made = await api.call("createConsoleSession", { headers, body: { api_key: stack.key } });
  const [cookie = ""] = made.headers.get("set-cookie")?.split(";") ?? [];
  await api.call("getConsoleSession", { headers: { ...headers, cookie } });
  await api.call("deleteConsoleSession", { headers: { ...headers, cookie } });
  const opened = await api.call("createOperatorSession", { headers, body: { token: OPERATOR_TOKEN } });
  const [own = ""] = opened.headers.get("set-cookie")?.split(";") ?? [];
  await api.call("getOperatorSession", { headers: { ...headers, cookie: own } });
  await api.call("deleteOperatorSession", { headers: { ...headers, cookie: own } });
});

test("operators", async () => {
  for (const operation of [
    "getOperatorStatus",
    "listOperatorPresets",
    "listOperatorPools",
    "getOperatorCatalogue",
    "listOperatorSources",
    "auditOperatorLedger",
    "listOperatorAuditLog",
    "listOperatorHolds",
  ]) {
    // prettier-ignore
    await api.call(operation);
  }
  await api.call("listOperatorAuditLog", { headers: { accept: "text/csv" } });
  await api.call("getOperatorPool", { path: { pool: "chat" } });
  const source = { path: { source: "sandbox%2Fsandbox-chat" } };
  await api.call("getOperatorSource", source);
  await api.call("testOperatorSource", source);
  await api.call("resetOperatorSource", source);
  await api.call("checkOperatorCatalogue", { body: { files: [{ name: "a.yaml", text: "models: []" }] } });
  const token = await idOf("createOperatorToken", { body: { name: "night shift", scope: "read" } });
  await api.call("listOperatorTokens");
  await api.call("deleteOperatorToken", { path: { id: token } });

  const made = await ask<{ workspace: { id: string }; api_key: { id: string } }>("createOperatorWorkspace", {
    body: { name: "team", owner: { name: "ada" } },
  });
  const path = { id: made.workspace.id };
  await api.call("listOperatorWorkspaces");
  await api.call("getOperatorWorkspace", { path });
  await api.call("updateOperatorWorkspace", { path, body: { name: "renamed team" } });
  await api.call("listOperatorMembers", { path });
  await api.call("listOperatorApiKeys", { path });
  const chain = { path: { ...path, model: "sandbox-error" } };
  await api.call("putOperatorFallbackChain", { ...chain, body: { fallbacks: ["sandbox-chat"] } });
  await api.call("listOperatorFallbackChains", { path });
  await api.call("getOperatorFallbackChain", chain);
  await api.call("deleteOperatorFallbackChain", chain);
  await api.call("listOperatorUsageRequests", { path });
  const [used] = await stack.query<{ workspace_id: string; job_id: string }>(
    "select workspace_id, job_id from usage_record where model = 'sandbox-embed'",
  );
  const request = { id: used?.workspace_id ?? "", request_id: used?.job_id ?? "" };
  await api.call("getOperatorUsageRequest", { path: request });
  await api.call("updateOperatorApiKey", { path: { id: made.api_key.id }, body: { preset: "standard" } });
  await api.call("moveOperatorCredits", { path, body: { id: newId(), kind: "top_up", credits: 5 } });
  await api.call("getOperatorCredits", { path });
  await api.call("listOperatorLedger", { path });
  const [job] = await stack.query<{ id: string }>(
    "select id from job where model = 'sandbox-music' order by created_at limit 1",
  );
  await api.call("getOperatorJob", { path: { id: job?.id ?? "" } });

  const hold = newId();
  // The janitor would close it first.
  for (const janitor of stack.janitors) janitor.kill("SIGSTOP");
  await stack.query(
    `with held as (update balance set held = held + 5 where workspace_id = $2)
     insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline, created_at)
     values ($1, 1, $2, $3, 'sandbox-chat', 5, false, current_date, 0, now() - interval '1 day', now() - interval '2 days')`,
    [hold, path.id, made.api_key.id],
  );
  await api.call("closeOperatorHold", { path: { id: `${hold}.1` } });
  for (const janitor of stack.janitors) janitor.kill("SIGCONT");
  const [fault] = await stack.query<{ id: bigint }>(
    `insert into settle_fault (workspace_id, job_id, attempt, fault, held, settled)
     values ($1, $2, 1, 'usage_record', 5, 0) returning id`,
    [path.id, hold],
  );
  await api.call("listOperatorSettleFaults");
  await api.call("resolveOperatorSettleFault", { path: { id: String(fault?.id) } });

  const letters = [newId(), newId()];
  for (const id of letters) {
    await stack.query(
      `insert into dead_letter (id, stream, stream_seq, subject, message_id, reason, deliveries, at)
       values ($1, 'POOL_chat', 1, $2, $1::uuid::text, 'claims used up', 6, clock_timestamp())`,
      [id, `work.chat.batch.${path.id}`],
    );
  }
  await api.call("listOperatorDeadLetters");
  await api.call("getOperatorDeadLetter", { path: { id: letters[0] ?? "" } });
  await api.call("redriveOperatorDeadLetters", { body: { ids: [letters[0]] } });
  await api.call("deleteOperatorDeadLetter", { path: { id: letters[1] ?? "" } });
});

test("covers the whole document", () => {
  const documented = Object.values(api.document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect([...api.called].toSorted()).toEqual(documented.toSorted());
});
