/** Limits of a key on every road: HTTP, batch lines, NATS messages, MCP, tools of models, steps of runs, background responses, chains. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import {
  ask,
  type Bed,
  createWorkspace,
  FLAT_NANO,
  setFallbacks,
  startBed,
  type Workspace,
} from "#tests/faults/bed.ts";
import { openPublisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({
    apart: false,
    pools: ["chat", "image", "capability", "workflow"],
    behaviours: ["unauthorized"],
    env: { SLUICE_SANDBOX: "on", SLUICE_TRUSTED_PROXIES: "127.0.0.1/32,::1/128" },
  });
}, 240_000);
afterAll(() => bed?.stop());

type Json = Readonly<Record<string, unknown>>;
interface Lists {
  readonly models?: readonly string[];
  readonly endpoints?: readonly string[];
  readonly ips?: readonly string[];
}

/** A workspace whose key has lists, its own or its member's. */
async function limited(lists: Lists, holder: "api_key" | "member" = "api_key"): Promise<Workspace> {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 100n * FLAT_NANO });
  await bed.stack.query("update member set role = 'owner' where workspace_id = $1", [workspace.id]);
  await bed.stack.query(`update ${holder} set access_lists = $2::jsonb where workspace_id = $1`, [
    workspace.id,
    JSON.stringify(lists),
  ]);
  return workspace;
}

async function call(
  { key }: Pick<Workspace, "key">,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: Json; error: Json | undefined; headers: Headers }> {
  const response = await fetch(`${bed.stack.baseUrls[0]}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json: Json = text.startsWith("{") ? (JSON.parse(text) as Json) : { text };
  return { status: response.status, body: json, error: json["error"] as Json, headers: response.headers };
}

const DENIED = { code: "permission_denied", type: "permission_error", param: "model" };
const FLAT = ask("flat");

async function uploaded({ key }: Workspace, lines: readonly object[]): Promise<string> {
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new Blob([lines.map((line) => JSON.stringify(line)).join("\n")]), "lines.jsonl");
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${bed.stack.baseUrls[0]}/v1/files`, { method: "POST", headers, body: form });
  return ((await response.json()) as { id: string }).id;
}

describe.each(["api_key", "member"] as const)("a list of models of the %s", (holder) => {
  let own: Workspace;
  beforeAll(async () => {
    own = await limited({ models: ["flat", "*-tts"] }, holder);
  });

  test("limits calls over HTTP, and names itself in the error", async () => {
    expect((await call(own, "/v1/chat/completions", FLAT)).status).toBe(200);
    const whose = holder === "api_key" ? "its limits.models" : "its member's limits.models";
    for (const [path, body] of [
      ["/v1/chat/completions", ask("sandbox-chat")],
      ["/v1/responses", { model: "sandbox-chat", input: "x" }],
      ["/v1/responses", { model: "sandbox-chat", input: "x", background: true }],
      ["/v1/responses/input_tokens", { model: "sandbox-chat", input: "x" }],
      ["/v1/embeddings", { model: "sandbox-embed", input: "x" }],
      ["/v1/images/generations", { model: "sandbox-image", prompt: "x" }],
      ["/v1/models/sandbox-chat/estimate", ask("sandbox-chat")],
    ] as const) {
      const { status, error } = await call(own, path, body);
      expect([path, status, error]).toMatchObject([path, 403, DENIED]);
      expect(error?.["message"]).toContain(`${whose} contains flat, *-tts`);
    }
    const named = await call(own, "/v1/chat/completions", { ...FLAT, models: ["flat", "sandbox-chat"] });
    expect([named.status, named.error]).toMatchObject([403, { ...DENIED, param: "models[1]" }]);
    const anthropic = await call(own, "/v1/messages", { ...ask("sandbox-chat"), max_tokens: 5 });
    expect([anthropic.status, anthropic.error]).toMatchObject([403, { type: "permission_error" }]);
  });

  test("limits the lists of models", async () => {
    const idsOf = async (headers: Readonly<Record<string, string>> = {}): Promise<unknown[]> => {
      const { body } = await call(own, "/v1/models", undefined, headers);
      return (body["data"] as { id: string }[]).map(({ id }) => id).toSorted();
    };
    expect(await idsOf()).toEqual(["flat", "sandbox-tts"]);
    expect(await idsOf({ "anthropic-version": "2023-06-01" })).toEqual(["flat"]);
    expect((await call(own, "/v1/models/flat")).status).toBe(200);
    expect((await call(own, "/v1/models/sandbox-chat")).error).toMatchObject({ code: "not_found" });
  });

  test("limits batch lines, each for itself", async () => {
    const line = (custom_id: string, model: string): object => ({
      custom_id,
      method: "POST",
      url: "/v1/chat/completions",
      body: ask(model),
    });
    const input_file_id = await uploaded(own, [line("may", "flat"), line("may-not", "sandbox-chat")]);
    const made = await call(own, "/v1/batches", {
      input_file_id,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    });
    const batch = await eventually("the end of the batch", async () => {
      const { body } = await call(own, `/v1/batches/${String(made.body["id"])}`);
      return body["status"] === "completed" ? body : undefined;
    });
    expect(batch["request_counts"]).toEqual({ total: 2, completed: 1, failed: 1 });
    const file = await fetch(`${bed.stack.baseUrls[0]}/v1/files/${String(batch["error_file_id"])}/content`, {
      headers: { authorization: `Bearer ${own.key}` },
    });
    const text = await file.text();
    expect([text.includes("may-not"), text.includes("permission_denied"), text.includes("limits.models")]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test("limits NATS messages", async () => {
    const publisher = await openPublisher(bed.stack.natsUrl, own);
    try {
      const refused = await publisher.submit(
        { endpoint: "/v1/chat/completions", body: ask("sandbox-chat") },
        { key: newId() },
      );
      expect(refused).toMatchObject({ status: "refused", error: { code: "permission_denied", param: "model" } });
    } finally {
      await publisher.close();
    }
  });

  test("limits steps of runs and their estimates", async () => {
    const definition = (model: string): object => ({
      steps: [{ id: "one", type: "model", model, params: { messages: [{ role: "user", content: "x" }] } }],
    });
    const run = await call(own, "/v1/pipelines/runs", { definition: definition("sandbox-chat"), mode: "sync" });
    expect(JSON.stringify(run.body)).toContain("permission_denied");
    expect(JSON.stringify(run.body)).toContain("limits.models");
    const estimate = await call(own, "/v1/workflows/estimate", { definition: definition("sandbox-chat") });
    expect(JSON.stringify(estimate.body)).toContain("limits.models");
    const good = await call(own, "/v1/pipelines/runs", { definition: definition("flat"), mode: "sync" });
    expect(good.body["status"]).toBe("succeeded");
  });

  test("limits fallback chains: models outside of it are skipped", async () => {
    await setFallbacks(bed, { flat: ["sandbox-chat"] }, own.key);
    await bed.stack.query(
      `update ${holder} set access_lists = '{"models":["mock-*","flat"]}' where workspace_id = $1`,
      [own.id],
    );
    await setFallbacks(bed, { "mock-unauthorized": ["sandbox-chat", "flat"] }, own.key);
    const answer = await eventually("a call on the fallback", async () => {
      const made = await call(own, "/v1/chat/completions", ask("mock-unauthorized"));
      return made.status === 200 ? made : undefined;
    });
    expect(answer.headers.get("x-model-used")).toBe("flat");
    await bed.stack.query(`update ${holder} set access_lists = '{"models":["mock-*"]}' where workspace_id = $1`, [
      own.id,
    ]);
    await eventually("a refusal without fallback", async () => {
      const made = await call(own, "/v1/chat/completions", ask("mock-unauthorized"));
      return made.status === 200 ? undefined : made;
    });
  });
});

describe("a list of endpoints", () => {
  const REGEX = { input: { text: { text: "abc" } }, params: { pattern: "b" } };
  const rpc = (params: object): object => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params });

  test("limits routes by their API, and leaves those about the key itself", async () => {
    const own = await limited({ endpoints: ["chat"] });
    expect((await call(own, "/v1/chat/completions", FLAT)).status).toBe(200);
    for (const path of ["/v1/key", "/v1/models"]) expect([path, (await call(own, path)).status]).toEqual([path, 200]);
    for (const [path, body] of [
      ["/v1/embeddings", { model: "sandbox-embed", input: "x" }],
      ["/v1/responses", { model: "flat", input: "x" }],
      ["/v1/messages", { ...FLAT, max_tokens: 5 }],
      ["/v1/capabilities/code.regex/run", REGEX],
      ["/v1/files", undefined],
      ["/v1/batches", undefined],
      ["/v1/workflows", undefined],
      [`/workspaces/${own.id}/members`, undefined],
      ["/mcp", rpc({})],
    ] as const) {
      const { status, error } = await call(own, path, body);
      expect([path, status]).toEqual([path, 403]);
      expect(error?.["message"]).toContain("its limits.endpoints contains chat");
    }
  });

  test("applies to what MCP, tools of models, batches, messages and runs call", async () => {
    const own = await limited({ endpoints: ["mcp", "chat", "batches", "files", "workflows"] });
    const version = { "mcp-protocol-version": "2025-11-25" };
    const tool = rpc({ name: "run_tool", arguments: { tool: "code.regex", ...REGEX } });
    const overMcp = await call(own, "/mcp", tool, version);
    expect(JSON.stringify(overMcp.body)).toContain("limits.endpoints");
    const loop = await call(own, "/v1/chat/completions", {
      model: "sandbox-chat",
      messages: [
        {
          role: "user",
          content: 'Use the tool code_regex with {"input":{"text":{"text":"abc"}},"params":{"pattern":"b"}}',
        },
      ],
      tools: [{ type: "sluice", capabilities: ["code.regex"] }],
    });
    const { calls = [] } = (loop.body["sluice"] ?? {}) as { calls?: { status: string }[] };
    expect(calls.some(({ status }) => status === "completed")).toBe(false);
    const refused = await call(own, "/v1/batches", {
      input_file_id: "file-none",
      endpoint: "/v1/embeddings",
      completion_window: "24h",
    });
    expect([refused.status, refused.error?.["code"]]).toEqual([403, "permission_denied"]);
    const run = await call(own, "/v1/pipelines/runs", {
      definition: { steps: [{ id: "one", type: "code.regex", input: REGEX.input, params: REGEX.params }] },
      mode: "sync",
    });
    expect(JSON.stringify(run.body)).toContain("limits.endpoints");
    const publisher = await openPublisher(bed.stack.natsUrl, own);
    try {
      const message = { endpoint: "/v1/embeddings", body: { model: "sandbox-embed", input: "x" } };
      expect(await publisher.submit(message, { key: newId() })).toMatchObject({
        status: "refused",
        error: { code: "permission_denied" },
      });
    } finally {
      await publisher.close();
    }
  });
});

test("a list of IP addresses admits the address behind a trusted proxy, and no other", async () => {
  const own = await limited({ ips: ["203.0.113.0/24", "2001:db8::/32"] });
  const statusOf = async (address?: string): Promise<number> =>
    (await call(own, "/v1/key", undefined, address === undefined ? {} : { "x-forwarded-for": address })).status;
  expect(await statusOf("203.0.113.7")).toBe(200);
  expect(await statusOf("2001:db8::7")).toBe(200);
  expect(await statusOf("203.0.114.7")).toBe(403);
  expect(await statusOf("203.0.113.7, 203.0.114.7")).toBe(403);
  expect(await statusOf()).toBe(403);
  const { error } = await call(own, "/v1/chat/completions", FLAT, { "x-forwarded-for": "203.0.114.7" });
  expect(error?.["message"]).toContain("the IP address 203.0.114.7: its limits.ips contains 203.0.113.0/24");
  const signIn = (address: string) =>
    fetch(`${bed.stack.baseUrls[0]}/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-sluice-console": "1", "x-forwarded-for": address },
      body: JSON.stringify({ api_key: own.key }),
    });
  expect((await signIn("203.0.114.7")).status).toBe(403);
});

test("a daily credit limit of a key is exact, and its refusal names what is left", async () => {
  const owner = await createWorkspace(bed.stack, { creditsNano: 100n * FLAT_NANO });
  await bed.stack.query("update member set role = 'owner' where workspace_id = $1", [owner.id]);
  const made = await call(owner, `/workspaces/${owner.id}/api-keys`, {
    name: "two a day",
    limits: { credits: { day: 2 } },
  });
  expect([made.status, made.body["limit_usage"]]).toMatchObject([201, { day: { credits_left: 2 } }]);
  const key = { key: String(made.body["key"]) };
  const answers = await Promise.all(Array.from({ length: 6 }, () => call(key, "/v1/chat/completions", FLAT)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 402, 402, 402, 402]);
  const { error } = answers.find(({ status }) => status === 402) ?? {};
  expect(error).toMatchObject({ code: "key_limit_reached", type: "quota_exceeded", param: "limits.credits.day" });
  await bed.stack.settled();
  const { body } = await call(key, "/v1/key");
  expect(body["limit_usage"]).toMatchObject({ day: { credits_used: 2, credits_held: 0, credits_left: 0 } });
  const keys = `/workspaces/${owner.id}/api-keys/${String(made.body["id"])}`;
  const rotated = await call(owner, `${keys}/rotate`, {});
  expect(rotated.body["limit_usage"]).toMatchObject({ day: { credits_used: 2, credits_left: 0 } });
  const next = await call({ key: String(rotated.body["key"]) }, "/v1/chat/completions", FLAT);
  expect([next.status, next.error?.["code"]]).toEqual([402, "key_limit_reached"]);
});
