/** Requests and responses that owners asked to keep: what is kept, who reads it, and that nothing else has the texts. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { RequestBodies, UsageRequest, UsageRequestList } from "#schemas/generated/types.ts";
import { listObjects } from "#shared/storage/objects.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { S3_ACCOUNT } from "#deploy/embedded/s3.mjs";
import { eventually } from "#tests/faults/wait.ts";
import { addPerson, type Person } from "#tests/ingress/routes/managed-bed.ts";
import { sharedS3Url } from "#tests/support/infrastructure.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";
import { startTcpProxy, type TcpProxy } from "#tests/support/tcp-proxy.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

const CHAT = "/v1/chat/completions";
const SECRET = "the heron sleeps at noon";
const MAIL = "ada@lovelace.example";

let proxy: TcpProxy;
let stack: Stack;
let tenant: Tenant;
let storage: Storage;
let workspaceId = "";
let developer: Person;
let other: Person;

beforeAll(async () => {
  proxy = startTcpProxy(new URL(await sharedS3Url()).host);
  stack = await startStack({ pools: ["chat", "image", "capability"], env: { S3_ENDPOINT: `http://${proxy.host}` } });
  storage = openStorage({
    endpoint: stack.env["S3_ENDPOINT"] ?? "",
    bucket: stack.env["SLUICE_S3_BUCKET"] ?? "",
    region: S3_ACCOUNT.region,
    accessKeyId: S3_ACCOUNT.accessKeyId,
    secretAccessKey: S3_ACCOUNT.secretAccessKey,
  });
  tenant = await asNewWorkspace(stack);
  [{ id: workspaceId } = { id: "" }] = await stack.query<{ id: string }>(
    "select workspace_id as id from api_key order by created_at desc limit 1",
  );
  const db = { query: stack.query } as unknown as Parameters<typeof addPerson>[0];
  developer = await addPerson(db, workspaceId, "developer");
  other = await addPerson(db, workspaceId, "developer");
}, 60_000);
afterAll(async () => {
  storage?.close();
  await stack?.stop();
  proxy?.close();
});

interface Answered {
  readonly status: number;
  readonly id: string;
  readonly text: string;
}

async function send(method: string, path: string, body?: unknown, key = tenant.key): Promise<Answered> {
  const response = await fetch(`${stack.baseUrls[0]}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json, text/event-stream" }, // prettier-ignore
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, id: response.headers.get("x-request-id") ?? "", text: await response.text() };
}

const chat = (model = "sandbox-chat", more: object = {}, key = developer.key): Promise<Answered> =>
  send("POST", CHAT, { model, messages: [{ role: "user", content: `Say exactly: ${SECRET}` }], ...more }, key);

const pathOf = (id: string): string => `/workspaces/${workspaceId}/usage/requests/${id}`;

/** Changes the workspace's setting. It takes effect within a second, which is told by a call that is kept or not. */
async function keep(bodies: object, key = tenant.key, path = `/workspaces/${workspaceId}`): Promise<void> {
  const { status, text } = await send("PATCH", path, { bodies }, key);
  expect([status, text]).toEqual([200, expect.stringContaining('"bodies"')]);
  await Bun.sleep(KEY_CACHE_MS);
}
const KEY_CACHE_MS = 1_100;

async function bodiesOf(id: string, key = tenant.key): Promise<RequestBodies> {
  return eventually("the bodies are kept", async () => {
    const { status, text } = await send("GET", `${pathOf(id)}/bodies`, undefined, key);
    return status === 200 && (JSON.parse(text) as RequestBodies);
  });
}

async function objects(): Promise<readonly string[]> {
  return (await listObjects(storage, "bodies/", undefined, 1_000)).objects.map(({ key }) => key);
}

const answerOf = ({ response }: RequestBodies): unknown => JSON.parse(response.text ?? "");

test("nothing is kept unless an owner asks for it", async () => {
  const { id, status } = await chat();
  expect(status).toBe(200);
  await stack.settled();
  expect((await send("GET", `${pathOf(id)}/bodies`)).status).toBe(404);
  const { text } = await send("GET", pathOf(id));
  expect((JSON.parse(text) as UsageRequest).has_bodies).toBe(false);
  expect(await objects()).toEqual([]);
  expect(await stack.query("select 1 from kept_body")).toEqual([]);
});

test("errors: calls that fail are kept, also those that the provider refuses, and others are not", async () => {
  await keep({ keep: "errors" });
  const fine = await chat();
  const fineStream = await chat("sandbox-chat", { stream: true });
  const refused = await chat("sandbox-refuse");
  const invalid = await chat("sandbox-chat", { temperature: 9 });
  const broken = await chat("sandbox-error-midway", { stream: true });
  expect([fine.status, fineStream.status, refused.status, invalid.status, broken.status]).toEqual([
    200, 200, 502, 400, 200,
  ]);
  expect(await bodiesOf(refused.id)).toMatchObject({
    endpoint: `POST ${CHAT}`,
    status: 502,
    key_id: developer.keyId,
    request: { media_type: "application/json", is_cut: false, text: expect.stringContaining(SECRET) },
    response: { text: refused.text },
  });
  expect((await bodiesOf(invalid.id)).response.text).toBe(invalid.text);
  expect(answerOf(await bodiesOf(broken.id))).toMatchObject({ error: { code: "upstream_error" } });
  expect((await objects()).toSorted()).toEqual(
    [refused.id, invalid.id, broken.id].map((id) => `bodies/${id}`).toSorted(),
  );
}, 30_000);

test("all: streams are kept as the assembled answer, of every API", async () => {
  await keep({ keep: "all", retention_hours: 5 });
  const plain = await chat();
  const kept = await bodiesOf(plain.id);
  expect(kept.response).toEqual({
    media_type: "application/json",
    bytes: Buffer.byteLength(plain.text),
    text: plain.text,
    is_cut: false,
  });
  const hours = (Date.parse(kept.expires_at) - Date.parse(kept.created_at)) / 3_600_000;
  expect(Math.round(hours)).toBe(5);
  const streamed = await chat("sandbox-chat", { stream: true });
  expect(answerOf(await bodiesOf(streamed.id))).toMatchObject({
    object: "chat.completion",
    choices: [{ message: { role: "assistant", content: SECRET }, finish_reason: "stop" }],
  });
  const messages = [{ role: "user", content: `Say exactly: ${SECRET}` }];
  const message = await send("POST", "/v1/messages", { model: "sandbox-chat", max_tokens: 50, messages, stream: true });
  expect(answerOf(await bodiesOf(message.id))).toMatchObject({
    type: "message",
    content: [{ type: "text", text: SECRET }],
  });
  const input = `Say exactly: ${SECRET}`;
  const response = await send("POST", "/v1/responses", { model: "sandbox-chat", input, stream: true });
  expect(answerOf(await bodiesOf(response.id))).toMatchObject({
    object: "response",
    status: "completed",
    output: [{ content: [{ text: SECRET }] }],
  });
  const embeddings = await send("POST", "/v1/embeddings", { model: "sandbox-embedding", input: SECRET });
  expect((await bodiesOf(embeddings.id)).response.text).toBe(embeddings.text);
}, 30_000);

test("tool calls of the Model Context Protocol and turns of a WebSocket are kept", async () => {
  const message = (method: string, params: object = {}): object => ({ jsonrpc: "2.0", id: 1, method, params });
  const called = await send("POST", "/mcp", message("tools/call", { name: "search_tools", arguments: { query: SECRET } })); // prettier-ignore
  expect(called.status).toBe(200);
  const listed = await send("POST", "/mcp", message("tools/list"));
  expect(listed.status).toBe(200);
  expect((await bodiesOf(called.id)).request.text).toContain(SECRET);

  const url = `${stack.baseUrls[0]?.replace(/^http/, "ws")}/v1/responses`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${tenant.key}` } } as unknown as string[]);
  const ended = new Promise<void>((resolve) => {
    socket.addEventListener("message", ({ data }) => {
      if (String(data).includes('"response.completed"')) resolve();
    });
  });
  await new Promise<void>((resolve) => {
    socket.addEventListener("open", () => resolve());
  });
  socket.send(JSON.stringify({ type: "response.create", model: "sandbox-chat", input: "Say exactly: from a socket" }));
  await ended;
  socket.close();
  const { id } = await eventually("the turn is in the usage records", async () => {
    const [row] = await stack.query<{ id: string }>(
      "select request_id as id from kept_body where reference is not null order by created_at desc, request_id desc limit 1",
    );
    return row !== undefined && row.id !== called.id && row;
  });
  const turn = await bodiesOf(id);
  expect(turn.request.text).toContain("from a socket");
  expect(turn.response.text).toContain("from a socket");
  expect((await objects()).includes(`bodies/${listed.id}`)).toBe(false);
}, 30_000);

test("neither the object store nor the database has the texts of calls", async () => {
  const { id } = await chat();
  await bodiesOf(id);
  for (const key of await objects()) {
    const response = await fetch(`${stack.env["S3_ENDPOINT"]}/${stack.env["SLUICE_S3_BUCKET"]}/${key}`);
    const text = await response.text();
    expect(text).toMatch(/^v1\.[0-9a-f]{8}\./);
    expect(text).not.toContain(SECRET);
  }
  const tables = ["kept_body", "audit_log", "usage_record", "workspace", "api_key"];
  for (const table of tables) {
    const rows = await stack.query<{ row: string }>(`select t::text as row from ${table} t`);
    expect([table, rows.length > 0, rows.some(({ row }) => row.includes(SECRET))]).toEqual([table, true, false]);
  }
});

test("owners and the caller read bodies, other members and workspaces get 404; each read is in the audit log", async () => {
  const { id } = await chat();
  expect((await bodiesOf(id, developer.key)).request.text).toContain(SECRET);
  expect((await bodiesOf(id)).key_id).toBe(developer.keyId);
  const before = await stack.query("select 1 from audit_log where action = 'bodies.read' and subject = $1", [id]);
  expect((await send("GET", `${pathOf(id)}/bodies`, undefined, other.key)).status).toBe(404);
  expect((await send("DELETE", `${pathOf(id)}/bodies`, undefined, other.key)).status).toBe(404);
  const foreign = await asNewWorkspace(stack);
  expect((await send("GET", `${pathOf(id)}/bodies`, undefined, foreign.key)).status).toBe(404);
  expect((await send("GET", `${pathOf("no-id")}/bodies`)).status).toBe(404);
  const reads = await stack.query<{ actor: { id: string } }>(
    "select actor from audit_log where action = 'bodies.read' and subject = $1 order by id",
    [id],
  );
  expect(reads.length).toBe(before.length);
  expect(reads[0]?.actor.id).toBe(developer.id);
  // The response arrives before the usage record of the call.
  await stack.settled();
  const list = JSON.parse((await send("GET", `/workspaces/${workspaceId}/usage/requests`)).text) as UsageRequestList;
  expect(list.data.find(({ request_id: one }) => one === id)).toMatchObject({ has_bodies: true });
  expect(JSON.stringify(list)).not.toContain(SECRET);
});

test("a deletion removes the object, and usage stays", async () => {
  const { id } = await chat();
  await bodiesOf(id);
  expect((await send("DELETE", `${pathOf(id)}/bodies`, undefined, developer.key)).status).toBe(200);
  expect((await send("GET", `${pathOf(id)}/bodies`)).status).toBe(404);
  expect((await send("DELETE", `${pathOf(id)}/bodies`)).status).toBe(404);
  expect(await objects()).not.toContain(`bodies/${id}`);
  expect((await send("GET", pathOf(id))).status).toBe(200);
  const [line] = await stack.query("select 1 from audit_log where action = 'bodies.delete' and subject = $1", [id]);
  expect(line).toBeDefined();
});

test("rules replace values before they are stored", async () => {
  await keep({ keep: "all", redact: { members: ["user", "metadata"], patterns: ["emails"] } });
  const messages = [{ role: "user", content: `Say exactly: write to ${MAIL} now` }];
  const streamed = await chat("sandbox-chat", { messages, stream: true, user: "Ada", metadata: { a: "b" } });
  const kept = await bodiesOf(streamed.id);
  expect(JSON.parse(kept.request.text ?? "")).toEqual({
    model: "sandbox-chat",
    messages: [{ role: "user", content: "Say exactly: write to [redacted] now" }],
    stream: true,
    user: "[redacted]",
    metadata: "[redacted]",
  });
  expect(answerOf(kept)).toMatchObject({ choices: [{ message: { content: "write to [redacted] now" } }] });
});

test("a body beyond the limit is cut, and forms and media are only named", async () => {
  const long = await chat("sandbox-chat", {
    user: "x",
    messages: [{ role: "user", content: "word ".repeat(300_000) }],
  });
  const { request } = await bodiesOf(long.id);
  expect(request.is_cut).toBe(true);
  expect(Buffer.byteLength(request.text ?? "")).toBeLessThanOrEqual(1_048_576);
  const form = new FormData();
  form.append("model", "sandbox-transcription");
  form.append("file", new File([new Uint8Array(100)], "a.wav"));
  const answer = await fetch(`${stack.baseUrls[0]}/v1/audio/transcriptions`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}` },
    body: form,
  });
  const kept = await bodiesOf(answer.headers.get("x-request-id") ?? "");
  expect(kept.request).toMatchObject({ media_type: "multipart/form-data", text: null });
  expect(kept.response.text).toBe(await answer.text());
});

test("while the object store is away, calls succeed; their bodies are dropped and counted", async () => {
  const before = await chat();
  await bodiesOf(before.id);
  proxy.decide((line) => (line.includes("/bodies/") ? "refuse" : "pass"));
  try {
    const during = await chat();
    expect(during.status).toBe(200);
    await eventually("the call is counted as dropped", async () => {
      const page = await (await fetch(`${stack.processes[0]?.adminUrl}/metrics`)).text();
      return /^sluice_bodies_kept_total\{.*outcome="store".*\} 1$/m.test(page);
    }, 30_000); // prettier-ignore
    expect((await send("GET", `${pathOf(before.id)}/bodies`)).status).toBe(503);
    expect((await send("DELETE", `${pathOf(before.id)}/bodies`)).status).toBe(503);
    expect((await send("GET", `${pathOf(during.id)}/bodies`)).status).toBe(404);
  } finally {
    proxy.decide(undefined);
  }
  expect((await bodiesOf(before.id)).request.text).toContain("sandbox-chat");
  const after = await chat();
  await bodiesOf(after.id);
}, 60_000);

test("the setting of a key replaces that of the workspace, and a successor of the key has it too", async () => {
  await keep({ keep: "none" }, tenant.key, `/workspaces/${workspaceId}/api-keys/${developer.keyId}`);
  const unkept = await chat();
  const kept = await chat("sandbox-chat", {}, other.key);
  await bodiesOf(kept.id);
  expect((await send("GET", `${pathOf(unkept.id)}/bodies`)).status).toBe(404);
  const rotated = await send("POST", `/workspaces/${workspaceId}/api-keys/${developer.keyId}/rotate`, {});
  expect(JSON.parse(rotated.text)).toMatchObject({ bodies: { keep: "none" } });
});

test("the logs have no text of a call", () => {
  const logs = stack.processes.flatMap((process) => process.logs()).join("\n");
  expect(logs).not.toContain(SECRET);
  expect(logs).not.toContain(MAIL);
});
