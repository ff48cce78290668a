/** Requests and responses of durable work that owners asked to keep: lines of batches, messages over NATS, steps of runs, background responses. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import OpenAI, { toFile } from "openai";

import type { ModelResponse, RequestBodies, UsageRequestList, WorkflowRun } from "#schemas/generated/types.ts";
import { type BodySetting, bodySettingOf, NO_BODIES } from "#shared/base/body-setting.ts";
import { newId } from "#shared/base/ids.ts";
import { oldestKey, openPublisher, type Publisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

const CHAT = "/v1/chat/completions";
const MAIL = "ada@lovelace.example";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ pools: ["chat", "image", "capability", "workflow"], quickJanitor: true });
}, 60_000);
afterAll(() => stack?.stop());

/** A new workspace with its setting, which is in the database before a process reads it. */
interface Bench {
  readonly tenant: Tenant;
  readonly workspaceId: string;
  readonly client: OpenAI;
  readonly publisher: Publisher;
}

async function open(setting: BodySetting): Promise<Bench> {
  const tenant = await asNewWorkspace(stack);
  const { id: workspaceId } = tenant.workspace;
  await stack.query("update workspace set bodies = $2::jsonb where id = $1", [workspaceId, JSON.stringify(setting)]);
  const client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: tenant.key, maxRetries: 0 });
  const publisher = await openPublisher(stack.natsUrl, await oldestKey(stack, workspaceId));
  return { tenant, workspaceId, client, publisher };
}

interface Sent {
  readonly status: number;
  /** Request id. */
  readonly id: string;
  readonly body: unknown;
}

async function send({ tenant }: Bench, method: string, path: string, body?: object): Promise<Sent> {
  const response = await fetch(`${stack.baseUrls[0]}${path}`, {
    method,
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, id: response.headers.get("x-request-id") ?? "", body: await response.json() };
}

/** Starts a run. A synchronous run has ended. */
async function runOf(bench: Bench, asked: object): Promise<WorkflowRun> {
  return (await send(bench, "POST", "/v1/pipelines/runs", asked)).body as WorkflowRun;
}

async function callsOf(bench: Bench, runId: string): Promise<UsageRequestList["data"]> {
  const path = `/workspaces/${bench.workspaceId}/usage/requests?run_id=${runId}`;
  return ((await send(bench, "GET", path)).body as UsageRequestList).data;
}

/** Starts a background response. Returns its request id and its own id. */
async function begin(bench: Bench, model: string): Promise<{ id: string; responseId: string }> {
  const asked = { model, input: "Say exactly: kept", instructions: "Be brief.", background: true };
  const { id, body } = await send(bench, "POST", "/v1/responses", asked);
  return { id, responseId: (body as ModelResponse).id };
}

const ask = (model = "sandbox-chat", text = "kept"): object => ({
  model,
  messages: [{ role: "user", content: `Say exactly: ${text}` }],
});

async function keptOf(bench: Bench, id: string): Promise<RequestBodies & { sent: unknown; answered: unknown }> {
  const path = `/workspaces/${bench.workspaceId}/usage/requests/${id}/bodies`;
  const kept = await eventually(`the bodies of ${id} are kept`, async () => {
    const { status, body } = await send(bench, "GET", path);
    return status === 200 && (body as RequestBodies);
  });
  return { ...kept, sent: JSON.parse(kept.request.text ?? ""), answered: JSON.parse(kept.response.text ?? "") };
}

/** Ids of the calls by their outcome. `refused` never became jobs. */
interface Calls {
  readonly succeeded: string;
  readonly failed: string;
  readonly refused?: string;
}

async function batch({ client }: Bench): Promise<Calls> {
  const line = (custom_id: string, body: object): string => `${JSON.stringify({ custom_id, method: "POST", url: CHAT, body })}\n`; // prettier-ignore
  const lines = [line("good", ask()), line("failed", ask("sandbox-refuse")), line("refused", ask("no-such-model"))];
  const file = await client.files.create({ file: await toFile(Buffer.from(lines.join("")), "a.jsonl"), purpose: "batch" }); // prettier-ignore
  const { id } = await client.batches.create({ input_file_id: file.id, endpoint: CHAT, completion_window: "24h" });
  const ended = await eventually(
    "the batch has ended",
    async () => {
      const one = await client.batches.retrieve(id);
      return one.status === "completed" && one;
    },
    60_000,
  );
  const texts = await Promise.all([ended.output_file_id, ended.error_file_id].map(async (one) => (await client.files.content(one ?? "")).text())); // prettier-ignore
  const rows = texts.flatMap((text) => text.trimEnd().split("\n")).map((row) => JSON.parse(row) as { custom_id: string; response: { request_id: string } }); // prettier-ignore
  const idOf = (name: string): string => rows.find((row) => row.custom_id === name)?.response.request_id ?? "";
  return { succeeded: idOf("good"), failed: idOf("failed"), refused: idOf("refused") };
}

async function messages({ publisher }: Bench): Promise<Calls> {
  const submit = async (body: object): Promise<string> => {
    const key = newId();
    const { job_id: id } = await publisher.submit({ body }, { key });
    await publisher.ended(key, 30_000);
    return id;
  };
  const [succeeded, failed, refused] = await Promise.all([submit(ask()), submit(ask("sandbox-refuse")), submit(ask("no-such-model"))]); // prettier-ignore
  return { succeeded, failed, refused };
}

async function steps(bench: Bench): Promise<Calls> {
  const step = (id: string, model: string): object => ({
    id,
    type: "model",
    model,
    params: { messages: [{ role: "user", content: "Say exactly: kept" }] },
    on_error: "continue",
  });
  const begun = await runOf(bench, {
    definition: { steps: [step("good", "sandbox-chat"), step("bad", "sandbox-refuse")] },
    mode: "async",
  });
  // A worker may have taken the run before the response was written.
  expect(["queued", "running"]).toContain(begun.status);
  await eventually("the run has ended", async () => {
    const { status } = (await send(bench, "GET", `/v1/workflows/runs/${begun.id}`)).body as WorkflowRun;
    return status !== "running" && status !== "queued";
  });
  const ids = await eventually("both calls are in the usage", async () => {
    const data = await callsOf(bench, begun.id);
    return data.length === 2 && data;
  });
  const idOf = (wanted: string): string => ids.find(({ model }) => model === wanted)?.request_id ?? "";
  return { succeeded: idOf("sandbox-chat"), failed: idOf("sandbox-refuse") };
}

async function responses(bench: Bench): Promise<Calls> {
  const run = async (model: string): Promise<string> => {
    const { id, responseId } = await begin(bench, model);
    await eventually("the response has ended", async () => {
      const { status } = (await send(bench, "GET", `/v1/responses/${responseId}`)).body as ModelResponse;
      return status === "completed" || status === "failed";
    });
    return id;
  };
  return { succeeded: await run("sandbox-chat"), failed: await run("sandbox-refuse") };
}

const ROADS = { "a batch line": batch, "a message over NATS": messages, "a step of a run": steps, "a background response": responses }; // prettier-ignore

const keptIds = async ({ workspaceId }: Bench): Promise<string[]> => {
  const rows = await stack.query<{ id: string }>(
    "select request_id as id from kept_body where workspace_id = $1 and reference is not null",
    [workspaceId],
  );
  return rows.map(({ id }) => id).toSorted();
};

describe.each(Object.entries(ROADS))("%s", (_name, run) => {
  test("is kept with its request and its result if the owner asks for all calls", async () => {
    const bench = await open(bodySettingOf({ keep: "all", retention_hours: 5 }));
    const { succeeded, failed, refused } = await run(bench);
    const good = await keptOf(bench, succeeded);
    expect(good).toMatchObject({ status: 200, key_id: bench.tenant.workspace.keyId, request: { is_cut: false } });
    expect(good.endpoint).toBe(run === responses ? "POST /v1/responses" : `POST ${CHAT}`);
    expect(JSON.stringify(good.sent)).toContain("Say exactly: kept");
    expect(good.sent).toMatchObject({ model: "sandbox-chat" });
    expect(JSON.stringify(good.answered)).toContain('"kept"');
    const hours = (Date.parse(good.expires_at) - Date.parse(good.created_at)) / 3_600_000;
    expect(Math.round(hours)).toBe(5);
    const bad = await keptOf(bench, failed);
    expect(bad.status).toBe(502);
    expect(bad.answered).toMatchObject({ error: { code: "upstream_refused" } });
    expect(bad.sent).toMatchObject({ model: "sandbox-refuse" });
    if (refused !== undefined) {
      const none = await keptOf(bench, refused);
      expect(none).toMatchObject({ status: 400, answered: { error: { code: "model_not_found" } } });
      expect(none.request.text).toContain("no-such-model");
    }
    const ids = [succeeded, failed, ...(refused === undefined ? [] : [refused])];
    expect(await keptIds(bench)).toEqual(ids.toSorted());
    await bench.publisher.close();
  }, 90_000);

  test("is kept only if it fails, or never, as the owner asks", async () => {
    const errors = await open(bodySettingOf({ keep: "errors" }));
    const none = await open(bodySettingOf({ keep: "none" }));
    const [{ failed, refused }] = await Promise.all([run(errors), run(none)]);
    const expected = [failed, ...(refused === undefined ? [] : [refused])];
    for (const id of expected) await keptOf(errors, id);
    await stack.settled();
    expect(await keptIds(errors)).toEqual(expected.toSorted());
    expect(await stack.query("select 1 from kept_body where workspace_id = $1", [none.workspaceId])).toEqual([]);
    await Promise.all([errors, none].map(({ publisher }) => publisher.close()));
  }, 90_000);
});

test("rules replace values before they are stored", async () => {
  const bench = await open(bodySettingOf({ keep: "all", redact: { members: ["user"], patterns: ["emails"] } }));
  const key = newId();
  await bench.publisher.submit({ body: { ...ask("sandbox-chat", `write to ${MAIL}`), user: "Ada" } }, { key });
  const { job_id: id } = await bench.publisher.ended(key);
  const { sent, answered } = await keptOf(bench, id);
  expect(sent).toMatchObject({ user: "[redacted]", messages: [{ content: "Say exactly: write to [redacted]" }] });
  expect(answered).toMatchObject({ choices: [{ message: { content: "write to [redacted]" } }] });
  await bench.publisher.close();
}, 30_000);

test("a request that is too large for its row is kept", async () => {
  const bench = await open(bodySettingOf({ keep: "all" }));
  const key = newId();
  await bench.publisher.publish({ body: ask("sandbox-chat", `kept ${"word ".repeat(40_000)}`) }, { key });
  const { job_id: id } = await bench.publisher.ended(key);
  const { request, sent } = await keptOf(bench, id);
  expect(request).toMatchObject({ is_cut: false, media_type: "application/json" });
  expect(JSON.stringify(sent)).toContain("word word");
  await bench.publisher.close();
}, 30_000);

test("media and capabilities are kept with the references of their files", async () => {
  const bench = await open(bodySettingOf({ keep: "all" }));
  const submit = async (message: object, pool: string): Promise<string> => {
    const key = newId();
    const { job_id: id } = await bench.publisher.submit(message, { key, pool });
    await bench.publisher.ended(key, 30_000);
    return id;
  };
  const image = await submit({ endpoint: "/v1/images/generations", body: { model: "sandbox-image", prompt: "a heron" } }, "image"); // prettier-ignore
  const kept = await keptOf(bench, image);
  expect(kept).toMatchObject({ endpoint: "POST /v1/images/generations", status: 200 });
  expect(kept.sent).not.toHaveProperty("checked");
  expect(kept.sent).toMatchObject({ model: "sandbox-image", prompt: "a heron" });
  expect(kept.response.bytes).toBeLessThan(4_096);
  const capability = await submit(
    {
      endpoint: "/v1/capabilities/{id}/run",
      capability: "code.transform_json",
      body: { input: { data: { text: '{"a":"kept"}' } }, params: { jq: ".a" } },
    },
    "capability",
  );
  expect(await keptOf(bench, capability)).toMatchObject({ endpoint: "POST /v1/capabilities/{id}/run", status: 200 });
  await bench.publisher.close();
}, 60_000);

test("each call of a chain of steps is kept, and so is a call of a capability", async () => {
  const bench = await open(bodySettingOf({ keep: "all" }));
  const say = (id: string, text: string): object => ({
    id,
    type: "model",
    model: "sandbox-chat",
    params: { messages: [{ role: "user", content: `Say exactly: ${text}` }] },
  });
  const run = await runOf(bench, {
    definition: {
      steps: [
        say("a", "first"),
        say("b", "${{ steps.a.output.text }} second"),
        say("c", "${{ steps.b.output.text }} third"),
        {
          id: "d",
          type: "code.transform_json",
          input: { data: { text: '"${{ steps.c.output.text }}"' } },
          params: { jq: "." },
        },
      ],
    },
  });
  expect(run.status).toBe("succeeded");
  await stack.settled();
  const data = await callsOf(bench, run.id);
  const kept = await Promise.all(data.map(({ request_id: id }) => keptOf(bench, id)));
  const texts = kept.map(({ endpoint, response }) => `${endpoint} ${/first( second)?( third)?/.exec(response.text ?? "")?.[0]}`); // prettier-ignore
  expect(texts.toSorted()).toEqual([
    "POST /v1/capabilities/{id}/run first second third",
    `POST ${CHAT} first`,
    `POST ${CHAT} first second`,
    `POST ${CHAT} first second third`,
  ]);
  await bench.publisher.close();
}, 30_000);

test("a refused step is kept with its error", async () => {
  const bench = await open(bodySettingOf({ keep: "errors" }));
  const invalid = {
    model: "sandbox-chat",
    messages: [{ role: "user", content: "Hi" }],
    temperature: "${{ inputs.warm }}",
  };
  const run = await runOf(bench, {
    definition: {
      inputs: { warm: { type: "number" } },
      steps: [{ id: "a", type: "model", model: invalid.model, params: { messages: invalid.messages, temperature: invalid.temperature } }], // prettier-ignore
    },
    input: { warm: 9 },
  });
  expect(run.status).toBe("failed");
  const [id = ""] = await eventually("the step is kept", async () => {
    const ids = await keptIds(bench);
    return ids.length > 0 && ids;
  });
  const kept = await keptOf(bench, id);
  expect(kept).toMatchObject({ status: 400, endpoint: `POST ${CHAT}`, sent: { ...invalid, temperature: 9 } });
  expect(kept.answered).toMatchObject({ error: { param: "temperature" } });
  await bench.publisher.close();
}, 30_000);

test("a response that is cancelled counts as failed, and the setting at its admission applies", async () => {
  const bench = await open(bodySettingOf({ keep: "errors" }));
  const { id, responseId } = await begin(bench, "sandbox-hang");
  await stack.query("update workspace set bodies = $2::jsonb where id = $1", [bench.workspaceId, JSON.stringify(NO_BODIES)]); // prettier-ignore
  await send(bench, "POST", `/v1/responses/${responseId}/cancel`, {});
  const kept = await keptOf(bench, id);
  expect(kept.sent).toMatchObject({ model: "sandbox-hang", background: true });
  expect(kept.answered).toMatchObject({ id: responseId, object: "response", status: "cancelled" });
  await bench.publisher.close();
}, 30_000);

test("the logs have no text of the work", () => {
  const logs = stack.processes.flatMap((process) => process.logs()).join("\n");
  expect(logs).not.toContain("Say exactly");
  expect(logs).not.toContain(MAIL);
});
