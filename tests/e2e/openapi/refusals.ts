/** Every error code that the service answers over HTTP, provoked once: where its route declares it, in the envelope, and kept. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { freePort } from "#deploy/embedded/probe.mjs";
import { type Code, ERROR_CODES } from "#shared/base/errors.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { beginUpload, part, type RawUpload } from "#tests/support/raw-form.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import type { Document } from "./checked-api.ts";
import { keepAnswer, keptNames } from "./records.ts";
import { sharedStack } from "./shared-stack.ts";

/** Codes that a service in health does not answer, and which test holds them. */
const UNPROVOKED: Readonly<Partial<Record<Code, string>>> = {
  artifact_unreadable:
    "the object store must fail between speech and its caller: tests/faults/media-storage.nightly.test.ts",
  internal_error: "a fault of ours, or a worker that dies: tests/faults/worker-death.test.ts",
  run_failed: "of a job of a run alone, which is shown with 200: tests/e2e/workflows/batch-runs.ts",
  run_timeout: "a run is waited for during five minutes",
  worker_lost: "a worker must die: tests/faults/batch-worker-death.test.ts",
};

const BODY_BYTES_MAX = 2_048;
const ADDRESS_CALLS_MAX = 8;

let tenant: Tenant;
let document: Document;
/** An ingress of the same service that has less room and patience. */
let narrow: ManagedProcess;
/** An upload of which nothing comes; begun early, since the service waits for it. */
let unfinished: RawUpload;
beforeAll(async () => {
  tenant = await asNewWorkspace(await sharedStack());
  const [baseUrl = ""] = tenant.baseUrls;
  document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Document;
  unfinished = beginUpload(baseUrl, tenant.key);
  narrow = await startRole(["ingress"], {
    ...tenant.env,
    PORT: String(await freePort()),
    SLUICE_BODY_BYTES_MAX: String(BODY_BYTES_MAX),
    SLUICE_CALL_TOTAL_MS: "1000",
    SLUICE_CALL_QUEUE_MS: "1000",
    SLUICE_MEDIA_WAIT_MS: "0",
    SLUICE_IP_LIMIT: String(ADDRESS_CALLS_MAX),
  });
}, 240_000);
afterAll(() => narrow?.stop());

interface Refused {
  readonly path?: Readonly<Record<string, string>>;
  /** Text is sent as it is. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Key of the shared workspace's owner unless set. */
  readonly key?: string;
  readonly baseUrl?: string;
}

async function send(
  route: string,
  { path = {}, body, headers, key = tenant.key, baseUrl }: Refused,
): Promise<Response> {
  const [method = "", template = ""] = route.split(" ");
  const isRaw = body === undefined || typeof body === "string" || body instanceof FormData;
  return fetch(
    (baseUrl ?? tenant.baseUrls[0]) + template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => path[name] ?? ""),
    {
      method,
      headers: {
        ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
        ...(body instanceof FormData ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    },
  );
}

/** The answer is the code's, as the route's description has it. */
async function keepRefusal(code: Code, route: string, sent: Refused, answer: Response): Promise<void> {
  const [method = "", path = ""] = route.split(" ");
  const { error } = (await answer.clone().json()) as { error?: { code?: string } };
  expect([answer.status, error?.code]).toEqual([ERROR_CODES[code].status, code]);
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (operation) expect(operation.responses[answer.status]?.description).toContain(`\`${code}\``);
  await keepAnswer({ operationId: operation?.operationId ?? "", method, path, body: sent.body, answer }, code);
}

async function refuse(code: Code, route: string, sent: Refused = {}): Promise<void> {
  await keepRefusal(code, route, sent, await send(route, sent));
}

const CHAT = "POST /v1/chat/completions";
const chat = (model: string, content: unknown = "Say exactly: yes"): { readonly body: object } => ({
  body: { model, max_tokens: 16, messages: [{ role: "user", content }] },
});
const UNKNOWN = "00000000-0000-7000-8000-000000000000";

function formOfFile(): FormData {
  const form = new FormData();
  form.append("purpose", "user_data");
  form.append("file", new File(["hello"], "a.txt", { type: "text/plain" }));
  return form;
}

test.each<[Code, string, Refused?]>([
  ["invalid_json", CHAT, { body: '{"model":' }],
  ["invalid_request", CHAT, { body: [] }],
  ["missing_required_parameter", CHAT, { body: { model: "sandbox-chat" } }],
  ["unsupported_value", CHAT, { body: { ...chat("sandbox-chat").body, temperature: 9 } }],
  ["model_not_found", CHAT, chat("no-such-model")],
  ["model_not_supported", CHAT, chat("sandbox-image")],
  [
    "audio_not_supported_by_model",
    CHAT,
    chat("sandbox-documents", [{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }]),
  ],
  [
    "image_not_supported_by_model",
    CHAT,
    chat("sandbox-documents", [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }]),
  ],
  ["unsafe_url", CHAT, chat("sandbox-vision", [{ type: "image_url", image_url: { url: "http://10.0.0.1/a.png" } }])],
  ["context_length_exceeded", CHAT, chat("sandbox-small-context", "word ".repeat(200))],
  [
    "edit_not_supported",
    "POST /v1/images/edits",
    { body: { model: "sandbox-image-megapixels", prompt: "rain", image_base64: "iVBORw0KGgo=" } },
  ],
  ["invalid_workflow_definition", "POST /v1/workflows", { body: { name: "none", definition: { steps: [] } } }],
  ["missing_api_key", "GET /v1/key", { key: "" }],
  ["invalid_api_key", "GET /v1/key", { key: `slk_${"0".repeat(38)}` }],
  ["not_found", "GET /v1/no-such-path"],
  ["file_not_found", "GET /v1/files/{file_id}", { path: { file_id: `file-${UNKNOWN.replaceAll("-", "")}` } }],
  ["batch_not_found", "GET /v1/batches/{batch_id}", { path: { batch_id: `batch_${UNKNOWN.replaceAll("-", "")}` } }],
  ["capability_not_found", "POST /v1/capabilities/{id}/run", { path: { id: "no.such" }, body: { input: {} } }],
  [
    "channel_not_found",
    "GET /workspaces/{workspaceId}/notification-channels/{channelId}",
    { path: { channelId: UNKNOWN } },
  ],
  ["job_not_found", "GET /v1/images/jobs/{job_id}", { path: { job_id: UNKNOWN } }],
  ["response_not_found", "GET /v1/responses/{response_id}", { path: { response_id: "resp_unknown" } }],
  [
    "previous_response_not_found",
    "POST /v1/responses",
    { body: { model: "sandbox-chat", input: "x", previous_response_id: "resp_unknown" } },
  ],
  ["conversation_not_found", "GET /v1/conversations/{conversation_id}", { path: { conversation_id: "conv_unknown" } }],
  ["run_not_found", "GET /v1/workflows/runs/{id}", { path: { id: UNKNOWN } }],
  ["workflow_not_found", "GET /v1/workflows/{id}", { path: { id: UNKNOWN } }],
  ["method_not_allowed", "DELETE /v1/models"],
  ["unsupported_media_type", CHAT, { body: "yes", headers: { "content-type": "text/plain" } }],
  [
    "range_not_satisfiable",
    "GET /v1/files/{file_id}/content",
    { path: { file_id: "file-sample-photo" }, headers: { range: "bytes=99999999-" } },
  ],
  [
    "unprocessable_input",
    "POST /v1/capabilities/{id}/run",
    { path: { id: "image.resize" }, body: { input: { image: { base64: "bm8gaW1hZ2U=" } }, params: { width: 8 } } },
  ],
  [
    "input_unavailable",
    "POST /v1/capabilities/{id}/run",
    { path: { id: "web.fetch" }, body: { input: { url: "http://nothing.invalid/" } } },
  ],
  ["model_unavailable", CHAT, chat("gpt-5.5")],
  ["upstream_error", CHAT, chat("sandbox-error")],
  ["upstream_refused", CHAT, chat("sandbox-refuse")],
  ["overloaded", CHAT, chat("sandbox-busy-long")],
])("a call is refused with %s", async (code, route, sent = {}) => {
  await refuse(code, route, { ...sent, path: { workspaceId: tenant.workspace.id, ...sent.path } });
});

test("service_unavailable, after many failures of a source", async () => {
  const call = chat("sandbox-guarded");
  const refused = await eventually("its circuit is open", async () => {
    const answer = await send(CHAT, call);
    return answer.status === 503 && answer;
  });
  await keepRefusal("service_unavailable", CHAT, call, refused);
});

describe("in its own workspace", () => {
  const make = (creditsNano: bigint, preset = "unlimited"): Promise<Workspace> =>
    createWorkspace(tenant, { creditsNano, preset });

  test("permission_denied, insufficient_credits", async () => {
    const { id, key } = await make(0n);
    await refuse("permission_denied", "GET /workspaces/{workspaceId}/audit-log", { key, path: { workspaceId: id } });
    await refuse("insufficient_credits", CHAT, { ...chat("sandbox-chat"), key });
  });

  test("daily_tokens_exceeded, rate_limit_exceeded", async () => {
    const { id, key } = await make(10n ** 12n, "free");
    const spent =
      "update balance set day = (now() at time zone 'utc')::date, day_tokens = 1000000 where workspace_id = $1";
    await tenant.query(spent, [id]);
    await refuse("daily_tokens_exceeded", CHAT, { ...chat("sandbox-chat"), key });
    await Promise.all(Array.from({ length: 29 }, () => send(CHAT, { ...chat("sandbox-chat"), key })));
    await refuse("rate_limit_exceeded", CHAT, { ...chat("sandbox-chat"), key });
  });

  test("storage_limit_exceeded", async () => {
    const { id, key } = await make(10n ** 12n);
    await tenant.query("insert into file_storage (workspace_id, used) values ($1, 10 * 1024 ^ 3)", [id]);
    await refuse("storage_limit_exceeded", "POST /v1/files", { body: formOfFile(), key });
  });
});

test("max_credits_exceeded", async () => {
  const { body } = chat("sandbox-chat");
  await refuse("max_credits_exceeded", CHAT, { body: { ...body, max_credits: 0.000001 } });
});

test("budget_reached", async () => {
  const owner = await asNewWorkspace(tenant);
  const { key, workspace } = owner;
  expect((await send(CHAT, { ...chat("sandbox-chat"), key })).status).toBe(200);
  await owner.settled();
  const path = { workspaceId: workspace.id };
  const alert = { name: "a day", threshold_credits: 0.00001, period: "daily", stops_calls: true };
  expect((await send("POST /workspaces/{workspaceId}/budget-alerts", { path, body: alert, key })).status).toBe(201);
  await keepRefusal("budget_reached", CHAT, chat("sandbox-chat"), await send(CHAT, { ...chat("sandbox-chat"), key }));
});

test("conflict", async () => {
  const members = "POST /workspaces/{workspaceId}/members";
  const sent = { path: { workspaceId: tenant.workspace.id }, body: { name: "ada", role: "developer" } };
  expect((await send(members, sent)).status).toBe(201);
  await refuse("conflict", members, sent);
});

test("conversation_locked", async () => {
  const made = await send("POST /v1/conversations", { body: {} });
  const { id } = (await made.json()) as { id: string };
  const sent = { body: { model: "sandbox-slow", input: "Say exactly: a b c", conversation: id } };
  const first = send("POST /v1/responses", sent);
  await eventually("the first call has it", async () => {
    const rows = await tenant.query("select 1 from conversation where held_by is not null");
    return rows.length === 1;
  });
  await refuse("conversation_locked", "POST /v1/responses", sent);
  expect((await first).status).toBe(200);
});

test("idempotency_in_progress and idempotency_key_reused", async () => {
  const route = "POST /v1/pipelines/runs";
  const params = { messages: [{ role: "user", content: "Say exactly: yes" }] };
  const step = { id: "say", type: "model", model: "sandbox-slow", params };
  const headers = { "idempotency-key": "one" };
  const sent = { headers, body: { definition: { steps: [step] } } };
  const first = send(route, sent);
  await eventually("the run has begun", async () => {
    const begun = "select 1 from run where workspace_id = $1 and idempotency_key = 'one'";
    return (await tenant.query(begun, [tenant.workspace.id])).length === 1;
  });
  await refuse("idempotency_in_progress", route, sent);
  await refuse("idempotency_key_reused", route, {
    headers,
    body: { definition: { steps: [{ ...step, id: "other" }] } },
  });
  expect((await first).status).toBe(200);
});

test("upload_in_progress", async () => {
  const headers = { "idempotency-key": "slow" };
  const upload = beginUpload(tenant.baseUrls[0] ?? "", tenant.key, headers);
  await upload.send(part('name="purpose"', "user_data"));
  await upload.send(part('name="file"; filename="a.txt"', "hello").subarray(0, -3));
  await eventually("the upload has begun", async () => (await tenant.query("select 1 from idempotency_key where key like '% slow'")).length === 1); // prettier-ignore
  await refuse("upload_in_progress", "POST /v1/files", { headers, body: formOfFile() });
  upload.socket.destroy();
  await upload.closed;
});

test("request_too_large, upstream_timeout, job_timeout and ip_rate_limit_exceeded, with small limits", async () => {
  const { baseUrl } = narrow;
  await refuse("request_too_large", CHAT, { ...chat("sandbox-chat", "word ".repeat(BODY_BYTES_MAX / 5)), baseUrl });
  await refuse("upstream_timeout", CHAT, { ...chat("sandbox-hang"), baseUrl });
  const image = { model: "sandbox-image-slow", prompt: "a boat", size: "256x256" };
  await refuse("job_timeout", "POST /v1/images/generations", { body: image, baseUrl });
  const refused = await eventually("the address has had its share", async () => {
    // The service takes calls from its own machine uncounted, but for those that a proxy brings.
    const answer = await send("GET /v1/models", { baseUrl, headers: { "x-forwarded-for": "192.0.2.1" } });
    return answer.status === 429 && answer;
  });
  await keepRefusal("ip_rate_limit_exceeded", "GET /v1/models", {}, refused);
});

test("request_timeout", async () => {
  const [head = "", body = ""] = (await unfinished.answered).split("\r\n\r\n");
  const [status = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => line.split(": ", 2) as [string, string]);
  const answer = new Response(body, { status: Number(status.split(" ")[1]), headers });
  await keepRefusal("request_timeout", "POST /v1/files", {}, answer);
  unfinished.socket.destroy();
});

test("no other code exists", () => {
  const kept = Object.keys(ERROR_CODES).filter((code) => keptNames().includes(code));
  expect([...kept, ...Object.keys(UNPROVOKED)].toSorted()).toEqual(Object.keys(ERROR_CODES).toSorted());
});
