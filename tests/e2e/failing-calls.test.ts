/** A provider that refuses the service's key: what callers, owners and operators learn of it, and how its sources come back. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { UsageRequest } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";
import { eventually } from "#tests/faults/wait.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";

const FIRST_KEY = "sk-first-0123456789abcdef";
const SECOND_KEY = "sk-second-0123456789abcdef";
const OPERATOR_TOKEN = "an_operator_of_the_test";
const CHAT = "/v1/chat/completions";
const PROMPT = "a prompt that is nobody's concern";

/** Key that the provider accepts. */
let accepted = SECOND_KEY;
const provider = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
const { directory, remove } = temporaryDirectory();
let stack: Stack;
let workspace = "";
let developer = "";

beforeAll(async () => {
  const catalogue = join(directory, "catalogue.yaml");
  const local = { family: "openai-compatible", base_url: `http://127.0.0.1:${provider.port}/v1` };
  const own = { created: 1_767_225_600, owned_by: "test", price_source: { source: "made up", date: "2026-01-01" } };
  const chat = {
    ...own,
    modality: "text",
    supports_chat: true,
    supports_streaming: true,
    max_context_tokens: 8_000,
    max_output_tokens: 1_000,
    pricing: { unit: "per_token", input_per_million: "300", output_per_million: "1500" },
    allowed_params: { supported_inputs: ["text"] },
  };
  const image = { ...own, modality: "image", pricing: { unit: "per_image", image_price: "1" } };
  const files = {
    providers: [
      { id: "local", ...local, api_key_env: "LOCAL_API_KEY" },
      { id: "unset", ...local, api_key_env: "UNSET_API_KEY" },
      { id: "open", ...local, breaker: "off" },
      { id: "queue", ...local, family: "fal" },
    ],
    models: [
      { ...chat, slug: "local-chat", sources: [{ provider: "local", model: "large" }] },
      { ...chat, slug: "local-breaks", sources: [{ provider: "open", model: "breaks" }] },
      { ...chat, slug: "unset-chat", sources: [{ provider: "unset", model: "large" }] },
      { ...image, slug: "local-image", sources: [{ provider: "local", model: "picture" }] },
      { ...image, slug: "queued-image", sources: [{ provider: "queue", model: "picture" }] },
      {
        ...own,
        slug: "local-voice",
        modality: "audio",
        pricing: { unit: "per_character", character_price: "0.1" },
        sources: [{ provider: "local", model: "voice" }],
      },
      {
        ...own,
        slug: "local-ears",
        modality: "stt",
        pricing: { unit: "per_minute", minute_price: "1" },
        sources: [{ provider: "local", model: "ears" }],
      },
      {
        ...own,
        slug: "local-film",
        modality: "video",
        pricing: { unit: "per_second", second_price: "1" },
        sources: [{ provider: "local", model: "film" }],
      },
    ],
  };
  writeFileSync(catalogue, JSON.stringify(files));
  stack = await startStack({
    apart: true,
    workers: 2,
    pools: ["chat", "image", "audio"],
    env: {
      SLUICE_CATALOGUE: catalogue,
      LOCAL_API_KEY: FIRST_KEY,
      SLUICE_WORKER_SLOTS: "16",
      SLUICE_OPERATOR_TOKEN: OPERATOR_TOKEN,
    },
  });
  [{ id: workspace } = { id: "" }] = await stack.query<{ id: string }>("select id from workspace");
  developer = mintKey();
  const member = newId();
  await stack.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'dev', 'developer')", [
    member,
    workspace,
  ]);
  await stack.query(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset) values ($1, $2, $3, 'dev', $4, $5, 'unlimited')`,
    [newId(), workspace, member, Buffer.from(hashKey(developer)), keyHint(developer)],
  );
}, 60_000);
afterAll(async () => {
  await stack?.stop();
  await provider.stop(true);
  remove();
});

/** Media requests of tests of sources that the provider has received. */
const tested: { readonly path: string; readonly body: unknown }[] = [];

async function answerMedia(request: Request, path: string): Promise<Response> {
  const isForm = request.headers.get("content-type")?.startsWith("multipart/form-data") === true;
  const body: unknown = isForm ? Object.fromEntries((await request.formData()).entries()) : await request.json();
  tested.push({ path, body });
  if (path === "/v1/images/generations") return Response.json({ created: 1, data: [{ b64_json: PNG }] });
  if (path === "/v1/audio/transcriptions") return Response.json({ text: "" });
  return new Response(Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0]), Buffer.alloc(1_000)]), {
    headers: { "content-type": "audio/mpeg" },
  });
}

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function answer(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname;
  const isAccepted = request.headers.get("authorization") === `Bearer ${accepted}`;
  if (isAccepted && /\/(?:images|audio)\//.test(path)) return answerMedia(request, path);
  const { model, stream, messages } = (await request.json()) as Record<string, unknown>;
  const key = request.headers.get("authorization")?.slice("Bearer ".length);
  if (model !== "breaks" && key !== accepted) {
    const message = `Incorrect API key provided: ${key}. Asked: ${JSON.stringify(messages)}`;
    return Response.json({ error: { message, code: "invalid_api_key", type: "auth" } }, { status: 401 });
  }
  const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
  const common = { id: "1", created: 1, model, object: "chat.completion" };
  if (stream !== true) {
    const choices = [
      {
        index: 0,
        message: { role: "assistant", content: "yes", refusal: null },
        finish_reason: "stop",
        logprobs: null,
      },
    ];
    return Response.json({ ...common, choices, usage });
  }
  const piece = { ...common, object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "so far" } }] };
  const events = [piece, { error: { message: "the engine has crashed", code: 500 } }];
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

interface Answered {
  readonly status: number;
  readonly id: string;
  readonly headers: Headers;
  readonly text: string;
  readonly error: { code: string; message: string } | undefined;
}

async function send(path: string, body: object, key = developer): Promise<Answered> {
  const response = await fetch(`${stack.baseUrls[0]}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { status, headers } = response;
  const text = await response.text();
  const id = headers.get("x-request-id") ?? "";
  const isJson = headers.get("content-type")?.startsWith("application/json") === true;
  return { status, id, headers, text, error: isJson ? (JSON.parse(text) as Partial<Answered>).error : undefined };
}

const ask = (model = "local-chat", more: object = {}): Promise<Answered> =>
  send(CHAT, { model, max_tokens: 16, messages: [{ role: "user", content: PROMPT }], ...more });

async function usageOf(id: string, key = stack.key): Promise<UsageRequest> {
  const path = `${stack.baseUrls[0]}/workspaces/${workspace}/usage/requests/${id}`;
  return eventually("the call is in the usage records", async () => {
    const response = await fetch(path, { headers: { authorization: `Bearer ${key}` } });
    return response.ok && ((await response.json()) as UsageRequest);
  });
}

interface Source {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly is_working: boolean;
}

async function operator<Told = Source>(method: "GET" | "POST", path: string): Promise<Told> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const response = await fetch(`${stack.baseUrls[0]}/operator/${path}`, { method, headers });
  const value: unknown = await response.json();
  expect([path, response.status, value]).toEqual([path, 200, expect.anything()]);
  return value as Told;
}

const sourcePath = (source: string, act = ""): string => `sources/${encodeURIComponent(source)}${act}`;

/** Waits until a call was refused by the provider's own answer, and returns it. */
async function refused(model: string, path = CHAT, body: object = {}): Promise<Answered> {
  const answered = await (path === CHAT ? ask(model) : send(path, body));
  expect([answered.status, answered.error?.code]).toEqual([502, "model_unavailable"]);
  return answered;
}

test("a caller receives model_unavailable without details of the key; the usage record has the cause", async () => {
  const { id, error, headers } = await refused("local-chat");
  expect(error?.message).toContain("ask the operator");
  expect(error?.message).not.toMatch(/key|local\b|401/i);
  expect(headers.get("x-should-retry")).toBe("false");
  const record = await usageOf(id);
  expect(record).toMatchObject({ status: "failed", credits: 0, error_code: "model_unavailable" });
  expect(record).toMatchObject({ endpoint: CHAT, http_status: 502, first_token_at: null });
  const { duration_ms: durationMs = -1, started_at: startedAt = "" } = record.failure?.attempts[0] ?? {};
  expect(record.provider_attempts).toEqual(record.failure?.attempts ?? []);
  expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(Date.parse(record.started_at) - 50);
  expect(Date.parse(startedAt) + durationMs).toBeLessThanOrEqual(Date.parse(record.ended_at) + 50);
  expect(durationMs).toBeGreaterThanOrEqual(0);
  expect(record.failure).toEqual({
    provider_status: 401,
    provider_error: "misconfigured",
    attempts: [
      { source: "local/large", error: "misconfigured", status: 401, started_at: startedAt, duration_ms: durationMs },
    ],
    provider_text: expect.stringContaining("Incorrect API key provided"),
  });
  expect(record.failure?.provider_text).not.toContain(FIRST_KEY);
  // A developer reads why, and not what the provider said; an operator neither.
  const { provider_text: _text, ...rest } = record.failure ?? {};
  expect((await usageOf(id, developer)).failure).toEqual(rest as NonNullable<UsageRequest["failure"]>);
  const forOperators = await operator<UsageRequest>("GET", `workspaces/${workspace}/usage/requests/${id}`);
  expect([forOperators.error_code, forOperators.failure]).toEqual(["model_unavailable", rest as typeof record.failure]);
  const kept = await stack.query<{ text: string }>("select text from usage_failure where text is not null");
  for (const { text } of kept) expect(text).toMatch(/^v1\./);
});

test("the code stays while the source is disabled, with the time of the next attempt", async () => {
  const { id, headers } = await refused("local-chat");
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  const { failure, error_code: code } = await usageOf(id);
  expect(code).toBe("model_unavailable");
  expect(failure).toMatchObject({ provider_status: null, provider_error: null, attempts: [], provider_text: null });
});

test("operators see the rejected or missing setting, and a log line names it", async () => {
  const { data } = await operator<{ data: Source[] }>("GET", "sources");
  const byId = new Map(data.map((row) => [row.id, row]));
  expect(byId.get("local/large")).toMatchObject({ state: "disabled", setting: "LOCAL_API_KEY", provider_status: 401 });
  expect(byId.get("local/large")?.reason).toContain("refuses the key in LOCAL_API_KEY");
  expect(byId.get("unset/large")).toMatchObject({ state: "not_configured", reason: "UNSET_API_KEY is not set" });
  expect(byId.get("open/breaks")).toMatchObject({ state: "available", reason: null, disabled_in: [] });
  const logs = (): readonly string[] => stack.workers.flatMap((worker) => worker.logs());
  // Roles write their log a moment later.
  const line = await eventually("the log line", () =>
    logs().find((one) => one.includes("a provider rejects our API key")),
  );
  expect(JSON.parse(line)).toMatchObject({ source: "local/large", status: 401, setting: "LOCAL_API_KEY" });
  expect(logs().join("\n")).not.toContain(FIRST_KEY);
});

test("a model without its provider's key is unavailable, and an unknown model gets similar names", async () => {
  const { id, status, error } = await ask("unset-chat");
  expect([status, error?.code]).toEqual([502, "model_unavailable"]);
  expect(error?.message).not.toContain("UNSET_API_KEY");
  const unknown = await ask("acme/local-chatt");
  expect([unknown.status, unknown.error?.code]).toEqual([400, "model_not_found"]);
  expect(unknown.error?.message).toContain("Did you mean local-chat?");
  // The model is known to the service, the other name is a text of the caller.
  const { model, refusal } = await usageOf(id);
  expect([model, refusal?.message]).toEqual(["unset-chat", error?.message]);
  const other = await usageOf(unknown.id);
  expect([other.model, other.http_status]).toEqual([null, 400]);
  expect(JSON.stringify(other)).not.toContain("chatt");
});

test("a test of a source reports the provider's answer, and a reset enables it in every worker immediately", async () => {
  expect(await operator("POST", sourcePath("local/large", "/test"))).toMatchObject({
    is_working: false,
    error: "misconfigured",
    provider_status: 401,
    provider_text: expect.stringContaining("Incorrect API key"),
  });
  accepted = FIRST_KEY;
  expect(await operator("POST", sourcePath("local/large", "/test"))).toMatchObject({ is_working: true, error: null });
  // The test put nothing back.
  await refused("local-chat");
  expect(await operator("POST", sourcePath("local/large", "/reset"))).toMatchObject({ state: "available" });
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask()));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const log = await stack.query<{ action: string; subject: string }>(
    "select action, subject from audit_log where action like 'source.%' order by id",
  );
  expect(log.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
    "source.test local/large",
    "source.test local/large",
    "source.reset local/large",
  ]);
});

test("a test of a source of media sends its smallest call, and refuses a source whose test would start a paid job", async () => {
  expect(accepted).toBe(FIRST_KEY);
  for (const source of ["local/picture", "local/voice", "local/ears"]) {
    expect(await operator("POST", sourcePath(source, "/test"))).toMatchObject({
      source,
      is_working: true,
      error: null,
    });
  }
  expect(tested.map(({ path }) => path)).toEqual([
    "/v1/images/generations",
    "/v1/audio/speech",
    "/v1/audio/transcriptions",
  ]);
  expect(tested[0]?.body).toMatchObject({ model: "picture", prompt: "A dot" });
  expect(tested[1]?.body).toMatchObject({ model: "voice", input: "Hi" });
  accepted = "sk-none";
  expect(await operator("POST", sourcePath("local/voice", "/test"))).toMatchObject({
    is_working: false,
    error: "misconfigured",
    provider_status: 401,
  });
  accepted = FIRST_KEY;
  for (const source of ["local/film", "queue/picture"]) {
    const path = `${stack.baseUrls[0]}/operator/${sourcePath(source, "/test")}`;
    const refusal = await fetch(path, { method: "POST", headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
    const { error } = (await refusal.json()) as { error: { code: string; message: string } };
    expect([source, refusal.status, error.code]).toEqual([source, 409, "conflict"]);
    expect(error.message).toBe(
      "A test of this source would start a paid job. The source cannot be tested; call the model instead.",
    );
  }
  expect(tested).toHaveLength(3);
});

test("an interrupted stream has its cause in the usage record, beside its cost", async () => {
  const { id, text } = await ask("local-breaks", { stream: true });
  expect(text).toContain("so far");
  const record = await usageOf(id);
  expect(record).toMatchObject({ status: "failed", error_code: "upstream_error", endpoint: CHAT, http_status: 200 });
  const firstAt = Date.parse(record.first_token_at ?? "");
  expect(firstAt).toBeGreaterThanOrEqual(Date.parse(record.started_at));
  expect(firstAt).toBeLessThanOrEqual(Date.parse(record.ended_at) + 50);
  expect(record.credits).toBeGreaterThan(0);
  expect(record.failure).toMatchObject({
    provider_error: "failed",
    attempts: [{ source: "open/breaks", error: "failed" }],
    provider_text: "the engine has crashed",
  });
});

test("a call that succeeds has neither code nor failure", async () => {
  const record = await usageOf((await ask()).id);
  expect(record).toMatchObject({
    status: "succeeded",
    error_code: null,
    endpoint: CHAT,
    http_status: 200,
    first_token_at: null,
    provider_attempts: [{ source: "local/large", error: null, status: null }],
  });
  expect(record).not.toHaveProperty("failure");
  expect(await stack.query("select from usage_failure f join usage_record u using (job_id) where u.status = 'succeeded'")).toEqual([]); // prettier-ignore
});

test("a job of media and a line of a batch have their reason in the usage record", async () => {
  accepted = SECOND_KEY;
  const image = await refused("", "/v1/images/generations", { model: "local-image", prompt: PROMPT });
  const made = await usageOf(image.id);
  const attempts = [{ source: "local/picture", error: "misconfigured", status: 401 }];
  expect(made).toMatchObject({ error_code: "model_unavailable", failure: { provider_status: 401, attempts } });
  expect(made.failure?.provider_text).toContain("Incorrect API key");

  const line = { custom_id: "one", method: "POST", url: CHAT, body: { model: "local-chat", messages: [{ role: "user", content: "Hi" }] } }; // prettier-ignore
  const form = new FormData();
  form.append("purpose", "batch");
  form.append("file", new File([`${JSON.stringify(line)}\n`], "lines.jsonl"));
  const headers = { authorization: `Bearer ${developer}` };
  const { id: file } = (await (
    await fetch(`${stack.baseUrls[0]}/v1/files`, { method: "POST", headers, body: form })
  ).json()) as { id: string };
  const created = await send("/v1/batches", { input_file_id: file, endpoint: CHAT, completion_window: "24h" });
  expect([created.status, created.text]).toEqual([200, expect.stringContaining("batch_")]);
  const record = await eventually(
    "the line has failed",
    async () => {
      const [row] = await stack.query<{ id: string }>(
        "select j.id from job j join usage_record u on u.job_id = j.id where j.state = 'failed' and j.work ? 'batch_line'",
      );
      return row && (await usageOf(row.id));
    },
    60_000,
  );
  expect(record).toMatchObject({
    status: "failed",
    error_code: "model_unavailable",
    failure: { provider_status: 401 },
  });
}, 120_000);

test("a worker that starts with the right key serves immediately, regardless of the failures of others", async () => {
  await refused("local-chat");
  expect(await operator("GET", sourcePath("local/large"))).toMatchObject({ state: "disabled" });
  await Promise.all(stack.workers.map((worker) => worker.stop()));
  Object.assign(stack.env, { LOCAL_API_KEY: SECOND_KEY });
  await stack.addRole("worker", "chat", "image");
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask()));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  await eventually(
    "the note is gone",
    async () => (await operator("GET", sourcePath("local/large"))).state === "available",
  );
}, 60_000);
