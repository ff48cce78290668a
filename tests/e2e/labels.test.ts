/** End users and tags of calls by every road, and their spend limits. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import OpenAI, { toFile } from "openai";

import { newId } from "#shared/base/ids.ts";
import { audit } from "#tests/faults/audit.ts";
import { ask, type Bed, createWorkspace, startBed, type Workspace } from "#tests/faults/bed.ts";
import { openPublisher, type Publisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";

const CREDIT = 1_000_000_000n;
const HELLO = { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] };
const REGEX = { input: { text: { text: "abc" } }, params: { pattern: "b" } };
const TAGS = { project: "alpha" };
const LABELS = { user: "alice", project: "alpha" };
/** An image of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const HEADER = { "x-tags": "user=alice, project=alpha" };

let bed: Bed;
let workspace: Workspace;
let publisher: Publisher;

beforeAll(async () => {
  bed = await startBed({
    apart: false,
    quickJanitor: true,
    pools: ["chat", "image", "audio", "capability", "workflow"],
    env: { SLUICE_SANDBOX: "on", SLUICE_WORKER_SLOTS: "16" },
  });
  workspace = await taggedWorkspace();
  publisher = await openPublisher(bed.stack.natsUrl, workspace);
}, 120_000);
afterAll(async () => {
  await audit(bed);
  await publisher?.close();
  await bed?.stop();
});

async function taggedWorkspace(): Promise<Workspace> {
  const made = await createWorkspace(bed.stack, { creditsNano: 10_000n * CREDIT });
  await bed.stack.query("update workspace set tags = '{project,feature}' where id = $1", [made.id]);
  await bed.stack.query("update member set role = 'owner' where workspace_id = $1", [made.id]);
  return made;
}

function send(path: string, body: object, headers: Record<string, string> = {}, by = workspace): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(`${bed.stack.baseUrls[0]}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${by.key}`,
      ...(isForm ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body: isForm ? body : JSON.stringify(body),
  });
}

const mcp = (by = workspace, headers: Record<string, string> = {}) =>
  send(
    "/mcp/all",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "code_regex", arguments: REGEX } },
    { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18", ...headers },
    by,
  );

/** Runs one turn over a WebSocket that is opened with these headers, and returns its last message. */
async function turnOf(body: object, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const url = `${(bed.stack.baseUrls[0] ?? "").replace("http", "ws")}/v1/responses`;
  const all = { authorization: `Bearer ${workspace.key}`, ...headers };
  // Bun's own client takes headers.
  const socket = new WebSocket(url, { headers: all } as unknown as string[]);
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const request = { type: "response.create", model: "sandbox-chat", input: "Hello", ...body };
  socket.addEventListener("open", () => socket.send(JSON.stringify(request)));
  socket.addEventListener("error", () => reject(new Error("no connection")));
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as { type: string };
    if (["error", "response.completed", "response.failed"].includes(message.type)) resolve(message);
  });
  return promise.finally(() => socket.close());
}

/** Labels of the ended calls of a workspace that began after the mark, one entry for each. */
async function labelsSince(mark: Date, calls: number, by = workspace): Promise<unknown[]> {
  const rows = await eventually("every call is settled", async () => {
    const found = await bed.stack.query<{ labels: unknown }>(
      "select labels from usage_record where workspace_id = $1 and ended_at > $2 order by ended_at",
      [by.id, mark],
    );
    return found.length >= calls && found;
  });
  return rows.map(({ labels }) => labels);
}

async function now(): Promise<Date> {
  const [row] = await bed.stack.query<{ now: Date }>("select clock_timestamp() as now");
  return row?.now ?? new Date();
}

const PIPELINE = {
  definition: {
    inputs: {},
    steps: [
      { id: "say", type: "model", model: "sandbox-chat", params: { messages: [{ role: "user", content: "Hello" }] } },
      { id: "find", type: "code.regex", params: { pattern: "b" }, input: { text: { text: "abc" } } },
    ],
    output: { text: "${{ steps.say.output.text }}" },
  },
};

describe("a call keeps its end user and tags", () => {
  test.each([
    ["chat", "/v1/chat/completions", { ...HELLO, user: "alice", metadata: { ...TAGS, other: "no" } }, {}],
    [
      "chat with a safety identifier",
      "/v1/chat/completions",
      { ...HELLO, safety_identifier: "alice", metadata: TAGS },
      {},
    ],
    [
      "chat with a header",
      "/v1/chat/completions",
      { ...HELLO, metadata: { project: "alpha" } },
      { "x-tags": "user=alice,project=beta" },
    ],
    ["messages", "/v1/messages", { ...HELLO, max_tokens: 50, metadata: { user_id: "alice", ...TAGS } }, {}],
    [
      "responses",
      "/v1/responses",
      { model: "sandbox-chat", input: "Hello", safety_identifier: "alice", metadata: TAGS },
      {},
    ],
    [
      "embeddings",
      "/v1/embeddings",
      { model: "sandbox-embed", input: "Hello", user: "alice" },
      { "x-tags": "project=alpha" },
    ],
    [
      "an image",
      "/v1/images/generations",
      { model: "sandbox-image", prompt: "a cat", user: "alice" },
      { "x-tags": "project=alpha" },
    ],
    ["speech", "/v1/audio/speech", { model: "sandbox-tts", input: "Hello", voice: "alloy" }, HEADER],
    ["a capability", "/v1/capabilities/code.regex/run", REGEX, HEADER],
  ])(
    "%s",
    async (_road, path, body, headers) => {
      const mark = await now();
      const answer = await send(path, body, headers);
      expect([answer.status, answer.ok ? "" : await answer.text()]).toEqual([200, ""]);
      await answer.arrayBuffer().catch(() => undefined);
      expect(await labelsSince(mark, 1)).toEqual([LABELS]);
    },
    60_000,
  );

  test("without labels there are none", async () => {
    const mark = await now();
    expect((await send("/v1/chat/completions", { ...HELLO, metadata: { other: "x" } })).status).toBe(200);
    expect(await labelsSince(mark, 1)).toEqual([null]);
  });

  test("an edit of an image that is sent as a form", async () => {
    const mark = await now();
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "sandbox-image", prompt: "a cat", user: "alice" })) {
      form.set(name, value);
    }
    form.set("image", new Blob([Buffer.from(PIXEL, "base64")], { type: "image/png" }), "pixel.png");
    const answer = await send("/v1/images/edits", form, { "x-tags": "project=alpha" });
    expect([answer.status, answer.ok ? "" : await answer.text()]).toEqual([200, ""]);
    expect(await labelsSince(mark, 1)).toEqual([LABELS]);
  }, 30_000);

  test("turns of a WebSocket, by their body or the header of the connection", async () => {
    for (const [body, headers] of [
      [{ user: "alice", metadata: TAGS }, {}],
      [{ metadata: TAGS }, { "x-tags": "user=alice, project=beta" }],
      [{}, HEADER],
    ] as const) {
      const mark = await now();
      expect(await turnOf(body, headers)).toMatchObject({ type: "response.completed" });
      expect(await labelsSince(mark, 1)).toEqual([LABELS]);
    }
    expect(await turnOf({}, { "x-tags": "team=core" })).toMatchObject({ status: 400, error: { param: "x-tags" } });
  }, 60_000);

  test("a background response", async () => {
    const mark = await now();
    const body = { model: "sandbox-chat", input: "Hello", background: true, user: "alice", metadata: TAGS };
    expect((await send("/v1/responses", body)).status).toBe(200);
    expect(await labelsSince(mark, 1)).toEqual([LABELS]);
  }, 30_000);

  test("every turn and tool of a model with tools", async () => {
    const mark = await now();
    const messages = [{ role: "user", content: 'Use code_regex on the text "abc" with the pattern "b".' }];
    const tools = [{ type: "sluice", capabilities: ["code.regex"] }];
    const answer = await send("/v1/chat/completions", { ...HELLO, messages, tools, user: "alice", metadata: TAGS });
    expect(answer.status).toBe(200);
    expect(await labelsSince(mark, 3)).toEqual([LABELS, LABELS, LABELS]);
  }, 60_000);

  test("every step of a run, by its metadata or the header", async () => {
    for (const [more, headers] of [
      [{ user: "alice", metadata: TAGS }, {}],
      [{ metadata: TAGS }, HEADER],
    ] as const) {
      const mark = await now();
      const answer = await send("/v1/pipelines/runs", { ...PIPELINE, ...more }, headers);
      expect((await answer.json()) as object).toMatchObject({ status: "succeeded" });
      expect(await labelsSince(mark, 2)).toEqual([LABELS, LABELS]);
    }
  }, 60_000);

  test("a tool of an MCP client, by the header", async () => {
    const mark = await now();
    expect((await mcp(workspace, HEADER)).status).toBe(200);
    expect(await labelsSince(mark, 1)).toEqual([LABELS]);
  }, 30_000);

  test("messages over NATS, by their body or header", async () => {
    for (const [body, options] of [
      [{ body: { ...HELLO, user: "alice", metadata: TAGS } }, {}],
      [
        { endpoint: "/v1/capabilities/{id}/run", capability: "code.regex", body: REGEX },
        { pool: "capability", headers: HEADER },
      ],
    ] as const) {
      const [mark, key] = [await now(), newId()];
      await publisher.publish(body, { key, ...options });
      expect(await publisher.ended(key)).toMatchObject({ status: "completed" });
      expect(await labelsSince(mark, 1)).toEqual([LABELS]);
    }
  }, 60_000);

  test("lines of a batch, by their body and the batch's metadata", async () => {
    const mark = await now();
    await batchOf(
      [
        { ...HELLO, user: "alice" },
        { ...HELLO, user: "alice", metadata: { project: "line" } },
      ],
      TAGS,
    );
    const labels = await labelsSince(mark, 2);
    expect(labels.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual([
      LABELS,
      { user: "alice", project: "line" },
    ]);
  }, 60_000);
});

test("lines of a batch without labels of their own have those of its header x-tags", async () => {
  const mark = await now();
  const lines = [HELLO, { ...HELLO, user: "bob", metadata: { project: "line" } }];
  await batchOf(lines, {}, workspace, { "x-tags": "user=alice, project=header" });
  const labels = await labelsSince(mark, 2);
  expect(labels.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual([
    { user: "alice", project: "header" },
    { user: "bob", project: "line" },
  ]);
}, 60_000);

interface BatchLine {
  readonly response: {
    readonly status_code: number;
    readonly body: { readonly error?: { readonly code: string } };
  } | null;
  readonly error: { readonly code: string } | null;
}

/** Runs chat calls as a batch, and returns its output and error lines. */
async function batchOf(
  bodies: readonly object[],
  metadata: Record<string, string>,
  by = workspace,
  headers: Record<string, string> = {},
): Promise<BatchLine[]> {
  const client = new OpenAI({ baseURL: `${bed.stack.baseUrls[0]}/v1`, apiKey: by.key, maxRetries: 0 });
  const lines = bodies.map((body, n) =>
    JSON.stringify({ custom_id: `${n}`, method: "POST", url: "/v1/chat/completions", body }),
  );
  const file = await client.files.create({
    file: await toFile(Buffer.from(`${lines.join("\n")}\n`), "lines.jsonl"),
    purpose: "batch",
  });
  const asked = {
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
    metadata,
  } as const;
  const made = await client.batches.create(asked, { headers });
  const batch = await eventually(
    "the batch has ended",
    async () => {
      const read = await client.batches.retrieve(made.id);
      return ["completed", "failed", "expired", "cancelled"].includes(read.status) && read;
    },
    60_000,
  );
  const texts = await Promise.all(
    [batch.output_file_id, batch.error_file_id].map(async (id) =>
      id == null ? "" : (await client.files.content(id)).text(),
    ),
  );
  return texts.flatMap((text) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as BatchLine),
  );
}

describe("an invalid header x-tags", () => {
  const BAD = { "x-tags": "team=core" };

  test.each([
    ["/v1/chat/completions", HELLO],
    ["/v1/messages", { ...HELLO, max_tokens: 50 }],
    ["/v1/responses", { model: "sandbox-chat", input: "Hello" }],
    ["/v1/embeddings", { model: "sandbox-embed", input: "Hello" }],
    ["/v1/images/generations", { model: "sandbox-image", prompt: "a cat" }],
    ["/v1/audio/transcriptions", { model: "sandbox-stt", audio_base64: "AAAA", mime_type: "audio/wav" }],
    ["/v1/capabilities/code.regex/run", REGEX],
    ["/v1/pipelines/runs", PIPELINE],
  ])("of %s is refused", async (path, body) => {
    const answer = await send(path, body, BAD);
    const { error } = (await answer.json()) as { error: { code: string; param: string; message: string } };
    expect([answer.status, error.code, error.param]).toEqual([400, "unsupported_value", "x-tags"]);
    expect(error.message).toContain("user, project, feature");
  });

  test("of an MCP message and of a message over NATS is refused", async () => {
    expect(await (await mcp(workspace, BAD)).text()).toContain("x-tags");
    const refused = await publisher.submit({ body: HELLO }, { headers: BAD });
    expect(refused).toMatchObject({ status: "refused", error: { code: "unsupported_value", param: "x-tags" } });
  });
});

describe("the spend limit of a label", () => {
  const flat = (more: object = {}) => ask("flat", { max_tokens: 1, ...more });
  const project = (value: string): object => ({ metadata: { project: value } });

  test.each([
    {
      subject: "an end user",
      path: "end-users/alice",
      header: "user=alice",
      limited: { user: "alice" },
      other: { user: "bob" },
      name: "the end user alice",
    },
    {
      subject: "a tag",
      path: "tags/project/alpha",
      header: "project=alpha",
      limited: project("alpha"),
      other: project("beta"),
      name: "the tag project=alpha",
    },
  ])(
    "of $subject refuses further calls by every road, and no calls of others",
    async (label) => {
      const { path, header, limited, other } = label;
      const own = await taggedWorkspace();
      await putLimits(own, path);
      const refused = [402, "key_limit_reached", "limits.credits.total"];
      await eventually("the limit applies", async () => {
        return (await send("/v1/chat/completions", flat(limited), {}, own)).status === 402;
      });
      const { error } = (await (await send("/v1/chat/completions", flat(limited), {}, own)).json()) as {
        error: { message: string };
      };
      expect(error.message).toContain(`the total limit of ${label.name} (1) leaves `);
      expect(await refusalOf(send("/v1/chat/completions", flat(limited), {}, own))).toEqual(refused);
      const ofMessages = "user" in limited ? { metadata: { user_id: "alice" } } : limited;
      expect(await refusalOf(send("/v1/messages", flat(ofMessages), {}, own))).toEqual(refused);
      for (const more of [{}, { background: true, store: true }]) {
        const body = { model: "flat", input: "hi", ...limited, ...more };
        expect(await refusalOf(send("/v1/responses", body, {}, own))).toEqual(refused);
      }
      const image = { model: "sandbox-image", prompt: "a cat" };
      expect(await refusalOf(send("/v1/images/generations", image, { "x-tags": header }, own))).toEqual(refused);
      for (const more of [other, {}]) {
        expect((await send("/v1/chat/completions", flat(more), {}, own)).status).toBe(200);
      }
      const lines = await batchOf([flat(limited), flat(other)], {}, own);
      const codes = lines.map(
        ({ response, error: failure }) => response?.body.error?.code ?? failure?.code ?? response?.status_code,
      );
      expect(codes.map(String).toSorted()).toEqual(["200", "key_limit_reached"]);
      const asPublisher = await openPublisher(bed.stack.natsUrl, own);
      const told = await asPublisher.submit({ body: flat(limited) });
      expect(told).toMatchObject({
        status: "refused",
        error: { code: "key_limit_reached", param: "limits.credits.total" },
      });
      await asPublisher.close();
      const step = {
        id: "say",
        type: "model",
        model: "flat",
        params: { messages: [{ role: "user", content: "hi" }], max_tokens: 1 },
      };
      const run = await send(
        "/v1/pipelines/runs",
        { definition: { inputs: {}, steps: [step], output: {} }, ...limited },
        {},
        own,
      );
      expect((await run.json()) as object).toMatchObject({ status: "failed", error: { code: "key_limit_reached" } });
      const { credits_used: used, credits_held: held } = await usageOf(own, path);
      expect(used).toBeLessThanOrEqual(1);
      expect(held).toBe(0);
    },
    120_000,
  );

  test("counts a call in the limits of all its labels, and ends with the tag of the workspace", async () => {
    const own = await taggedWorkspace();
    const both = flat({ user: "alice", ...project("alpha") });
    await putLimits(own, "end-users/alice", 1_000);
    await putLimits(own, "tags/project/alpha", 1_000);
    const usedOf = async (path: string): Promise<number> => (await usageOf(own, path)).credits_used;
    await eventually("the limits apply", async () => {
      await send("/v1/chat/completions", both, {}, own);
      return (await usedOf("end-users/alice")) > 0 && (await usedOf("tags/project/alpha")) > 0;
    });
    await putLimits(own, "tags/project/alpha", 0.000000001);
    expect(await refusalOf(send("/v1/chat/completions", both, {}, own))).toEqual([
      402,
      "key_limit_reached",
      "limits.credits.total",
    ]);
    await bed.stack.query("update workspace set tags = '{feature}' where id = $1", [own.id]);
    await eventually("the limit of the removed tag has no effect", async () => {
      return (await send("/v1/chat/completions", both, {}, own)).status === 200;
    });
    expect((await settingsOf(own, "DELETE", "tags/project/alpha")).status).toBe(200);
  }, 60_000);

  function settingsOf(own: Workspace, method: string, path: string, body?: object): Promise<Response> {
    return fetch(`${bed.stack.baseUrls[0]}/workspaces/${own.id}/${path}/limits`, {
      method,
      headers: { authorization: `Bearer ${own.key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async function putLimits(own: Workspace, path: string, total = 1): Promise<void> {
    const put = await settingsOf(own, "PUT", path, { credits: { total } });
    expect(put.status).toBe(200);
  }

  async function usageOf(own: Workspace, path: string): Promise<{ credits_used: number; credits_held: number }> {
    const { limit_usage } = (await (await settingsOf(own, "GET", path)).json()) as {
      limit_usage: { total: { credits_used: number; credits_held: number } };
    };
    return limit_usage.total;
  }

  async function refusalOf(answer: Promise<Response>): Promise<readonly unknown[]> {
    const read = await answer;
    const { error } = (await read.json()) as { error?: { code: string; param: string } };
    return [read.status, error?.code, error?.param];
  }
});
