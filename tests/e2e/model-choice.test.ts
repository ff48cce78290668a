/**
 * Models that a request names, and models that a weighted chain draws, by every entry point: HTTP in each format, background responses, tool
 * loops, batch lines, NATS messages and steps of workflows.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import OpenAI, { toFile } from "openai";

import { newId } from "#shared/base/ids.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";
import { audit } from "#tests/faults/audit.ts";
import { type Bed, createWorkspace, setFallbacks, startBed, type Workspace } from "#tests/faults/bed.ts";
import { openPublisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";

const CREDIT = 1_000_000_000n;
const MESSAGES = [{ role: "user" as const, content: "Say exactly: served" }];
const NAMED = { model: "sandbox-error", models: ["sandbox-busy-long", "sandbox-backup"] };
const SERVED = ["sandbox-backup", "sandbox-error", "2"];

let bed: Bed;
/** Its calls name their fallbacks. */
let plain: Workspace;
/** Its chains have weights, and draw the model that serves in every call. */
let weighted: Workspace;

/** Chains of `weighted`, which never try the requested model first. */
const WEIGHTS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "sandbox-chat": { "sandbox-chat": 0, "sandbox-slow": 0, "sandbox-backup": 1 },
  "sandbox-image-error": { "sandbox-image-error": 0, "sandbox-image": 1 },
  "sandbox-tts-error": { "sandbox-tts-error": 0, "sandbox-tts": 1 },
  "sandbox-stt-error": { "sandbox-stt-error": 0, "sandbox-stt": 1 },
  "sandbox-no-usage": { "sandbox-no-usage": 0, "sandbox-error": 1, "sandbox-backup": 0 },
  "sandbox-reasoning": { "sandbox-reasoning": 0, flat: 1 },
};

beforeAll(async () => {
  bed = await startBed({
    apart: false,
    pools: ["chat", "image", "audio", "capability", "workflow"],
    env: { SLUICE_SANDBOX: "on", SLUICE_WORKER_SLOTS: "16" },
  });
  plain = await createWorkspace(bed.stack, { creditsNano: 1_000n * CREDIT });
  weighted = await createWorkspace(bed.stack, { creditsNano: 1_000n * CREDIT });
  await setFallbacks(bed, { "sandbox-error": ["sandbox-refuse"] }, plain.key);
  for (const [model, weights] of Object.entries(WEIGHTS)) {
    const fallbacks = Object.keys(weights).filter((slug) => slug !== model);
    await setFallbacks(bed, { [model]: fallbacks }, weighted.key);
    await setWeights(model, weights);
  }
}, 120_000);
afterAll(async () => {
  await audit(bed);
  await bed?.stop();
});

async function setWeights(model: string, weights: object, sticky: string | null = null): Promise<void> {
  await bed.stack.query(
    "update fallback_chain set weights = $3::jsonb, sticky = $4 where workspace_id = $1 and model = $2",
    [weighted.id, model, JSON.stringify(weights), sticky],
  );
}

type Json = Readonly<Record<string, unknown>>;

async function post(path: string, body: object, { key }: Pick<Workspace, "key">, more = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...more };
  return fetch(`${bed.stack.baseUrls[0]}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function get(path: string, { key }: Pick<Workspace, "key">): Promise<Json> {
  const response = await fetch(`${bed.stack.baseUrls[0]}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return (await response.json()) as Json;
}

const servedBy = ({ headers }: Response): (string | null)[] =>
  ["x-model-used", "x-fallback-from", "x-fallback-depth"].map((name) => headers.get(name));

interface Usage {
  readonly model: string;
  readonly status: string;
  readonly labels: Json | null;
}

/** Usage record of a call; a response is sent before its settlement. */
async function usageOf(id: string): Promise<Usage> {
  return eventually("the call is settled", async () => {
    const [row] = await bed.stack.query<Usage>("select model, status, labels from usage_record where job_id = $1", [
      id,
    ]);
    return row;
  });
}

const usageOfResponse = (response: Response): Promise<Usage> => usageOf(response.headers.get("x-request-id") ?? "");

/** Every synchronous endpoint of text calls, with its body beside the models and the model in its response. */
const ENDPOINTS: readonly (readonly [name: string, path: string, body: object])[] = [
  ["chat", "/v1/chat/completions", { messages: MESSAGES }],
  ["Responses", "/v1/responses", { input: "Say exactly: served" }],
  ["Messages", "/v1/messages", { max_tokens: 20, messages: MESSAGES }],
];

describe("fallbacks of a request", () => {
  test.each(ENDPOINTS)("serve a call of %s in place of the workspace's chain", async (_name, path, body) => {
    const response = await post(path, { ...body, ...NAMED }, plain);
    expect(response.status).toBe(200);
    expect(servedBy(response)).toEqual(SERVED);
    expect(((await response.json()) as Json)["model"]).toBe("sandbox-backup");
    expect(await usageOfResponse(response)).toEqual({
      model: "sandbox-backup",
      status: "succeeded",
      labels: { chain: "sandbox-error" },
    });
  });

  test.each(ENDPOINTS)("serve a stream of %s", async (_name, path, body) => {
    const response = await post(path, { ...body, ...NAMED, stream: true }, plain);
    expect([response.status, ...servedBy(response)]).toEqual([200, ...SERVED]);
    expect(await response.text()).toContain("served");
    expect((await usageOfResponse(response)).model).toBe("sandbox-backup");
  });

  test.each(ENDPOINTS)("begin with the first of models in a call of %s without model", async (_name, path, body) => {
    const response = await post(path, { ...body, models: ["sandbox-error", "sandbox-backup"] }, plain);
    expect([response.status, ...servedBy(response)]).toEqual([200, "sandbox-backup", "sandbox-error", "1"]);
  });

  test("serve embeddings with vectors of the same length", async () => {
    const body = { model: "sandbox-embed-error", models: ["sandbox-embed"], input: "a cup of tea" };
    const response = await post("/v1/embeddings", body, plain);
    expect([response.status, ...servedBy(response)]).toEqual([200, "sandbox-embed", "sandbox-embed-error", "1"]);
    const first = await post("/v1/embeddings", { models: ["sandbox-embed-error", "sandbox-embed"], input: "a" }, plain);
    expect(servedBy(first)).toEqual(["sandbox-embed", "sandbox-embed-error", "1"]);
  });

  test("can only be the requested model, which turns the workspace's chain off", async () => {
    const response = await post("/v1/chat/completions", { models: ["sandbox-error"], messages: MESSAGES }, plain);
    expect([response.status, response.headers.get("x-fallback-from")]).toEqual([502, null]);
    const chained = await post("/v1/chat/completions", { model: "sandbox-error", messages: MESSAGES }, plain);
    expect([chained.status, chained.headers.get("x-fallback-from")]).toEqual([502, "sandbox-error"]);
  });

  test("do not continue a stream that breaks off", async () => {
    const body = { model: "sandbox-truncate", models: ["sandbox-backup"], messages: MESSAGES, stream: true };
    const response = await post("/v1/chat/completions", body, plain);
    const text = await response.text();
    expect(text).not.toContain("[DONE]");
    expect(text).toContain("upstream_error");
  });

  test("serve every turn of a tool loop", async () => {
    const tools = [{ type: "sluice", capabilities: ["code.transform_json"] }];
    for (const [path, body] of [
      ["/v1/chat/completions", { messages: MESSAGES }],
      ["/v1/responses", { input: "Say exactly: served" }],
    ] as const) {
      const response = await post(path, { ...body, ...NAMED, tools }, plain);
      expect([path, response.status, ...servedBy(response)]).toEqual([path, 200, ...SERVED]);
    }
  });

  test("serve a background response", async () => {
    const response = await post("/v1/responses", { input: "Say exactly: served", ...NAMED, background: true }, plain);
    const { id } = (await response.json()) as { id: string };
    const done = await eventually("the response has ended", async () => {
      const kept = await get(`/v1/responses/${id}`, plain);
      return kept["status"] !== "queued" && kept["status"] !== "in_progress" && kept;
    });
    expect([done["status"], done["model"]]).toEqual(["completed", "sandbox-backup"]);
    expect((await usageOfResponse(response)).model).toBe("sandbox-backup");
  });

  test.each<[string, object, string, string]>([
    ["is unknown", { models: ["sandbox-backup", "nothing"] }, "model_not_found", "models[1]"],
    ["is of another kind", { models: ["sandbox-embed"] }, "model_not_supported", "models[0]"],
    ["is repeated", { models: ["sandbox-backup", "sandbox-backup"] }, "unsupported_value", "models[1]"],
    ["is not a text", { models: [1] }, "invalid_request", "models[0]"],
    ["is missing", { models: [] }, "invalid_request", "models"],
    ["is the eleventh", { models: Array.from("abcdefghijk") }, "invalid_request", "models"],
  ])("are rejected if one %s, in each format", async (_name, more, code, param) => {
    for (const [name, path, body] of ENDPOINTS) {
      const response = await post(path, { ...body, model: "sandbox-error", ...more }, plain);
      const { error } = (await response.json()) as { error: Json };
      expect([name, response.status, error["code"], error["param"]]).toEqual([
        name,
        name === "Messages" && code === "model_not_found" ? 404 : 400,
        code,
        param,
      ]);
    }
  });

  test("of embeddings are rejected if the lengths of their vectors differ or their kind does", async () => {
    const response = await post(
      "/v1/embeddings",
      { model: "sandbox-embed", models: ["sandbox-chat"], input: "a" },
      plain,
    );
    const { error } = (await response.json()) as { error: Json };
    expect([response.status, error["code"], error["param"]]).toEqual([400, "model_not_supported", "models[0]"]);
  });
});

/** Runs one batch to its end and returns the results of its lines. */
async function runBatch(own: Workspace, endpoint: string, bodies: readonly object[]): Promise<Json[]> {
  const client = new OpenAI({ baseURL: `${bed.stack.baseUrls[0]}/v1`, apiKey: own.key, maxRetries: 0 });
  const lines = bodies.map((body, at) => JSON.stringify({ custom_id: `l${at}`, method: "POST", url: endpoint, body }));
  const file = await client.files.create({
    file: await toFile(Buffer.from(lines.join("\n")), "l.jsonl"),
    purpose: "batch",
  });
  const made = await client.batches.create({
    input_file_id: file.id,
    endpoint: endpoint as "/v1/responses",
    completion_window: "24h",
  });
  const batch = await eventually("the batch has ended", async () => {
    const now = await client.batches.retrieve(made.id);
    return ["completed", "failed"].includes(now.status) && now;
  }, 60_000); // prettier-ignore
  const results = await Promise.all(
    [batch.output_file_id, batch.error_file_id].map(async (id) => (id ? (await client.files.content(id)).text() : "")),
  );
  const rows = results.join("\n").split("\n").filter((row) => row !== "").map((row) => JSON.parse(row) as Json); // prettier-ignore
  return rows.toSorted((a, b) => (String(a["custom_id"]) < String(b["custom_id"]) ? -1 : 1));
}

const bodyOf = (line: Json | undefined): Json => ((line?.["response"] as Json | null)?.["body"] ?? {}) as Json;

/** Runs a workflow with one model step, and returns the run. */
async function runStep(own: Workspace, step: object): Promise<Json> {
  const definition = {
    steps: [{ id: "only", type: "model", ...step }],
    output: { said: "${{ steps.only.output.text }}" },
  };
  const made = (await (await post("/v1/workflows", { name: newId(), definition }, own)).json()) as Json;
  return (await (await post(`/v1/workflows/${String(made["id"])}/runs`, { input: {} }, own)).json()) as Json;
}

/** Number of usage records of a workspace by served model and label, such as `sandbox-backup for sandbox-chat`. */
async function servedCounts(own: Workspace): Promise<Readonly<Record<string, number>>> {
  await bed.stack.settled();
  const rows = await bed.stack.query<{ served: string; calls: number }>(
    `select concat_ws(' for ', model, labels ->> 'chain') as served, count(*)::int as calls from usage_record
     where workspace_id = $1 group by 1`,
    [own.id],
  );
  return Object.fromEntries(rows.map(({ served, calls }) => [served, calls]));
}

describe("jobs whose body names fallbacks", () => {
  test("run as batch lines, and are rejected with their param", async () => {
    const asked = { messages: MESSAGES };
    const chat = await runBatch(plain, "/v1/chat/completions", [
      { ...asked, ...NAMED },
      { ...asked, models: ["sandbox-error", "sandbox-backup"] },
      { ...asked, model: "sandbox-error", models: ["nothing"] },
    ]);
    expect(chat.map((line) => bodyOf(line)["model"])).toEqual(["sandbox-backup", "sandbox-backup", undefined]);
    expect(bodyOf(chat[2])["error"]).toMatchObject({ code: "model_not_found", param: "models[0]" });
    const [response] = await runBatch(plain, "/v1/responses", [{ input: "Say exactly: served", ...NAMED }]);
    expect(bodyOf(response)).toMatchObject({ status: "completed", model: "sandbox-backup" });
    const embedding = { models: ["sandbox-embed-error", "sandbox-embed"], input: "a" };
    const [vectors] = await runBatch(plain, "/v1/embeddings", [embedding]);
    expect(bodyOf(vectors)["model"]).toBe("sandbox-embed");
  }, 120_000);

  test("run as NATS messages, and are rejected with their param", async () => {
    const publisher = await openPublisher(bed.stack.natsUrl, plain);
    try {
      const [good, bad] = [newId(), newId()];
      await publisher.publish({ body: { messages: MESSAGES, ...NAMED } }, { key: good });
      await publisher.publish({ body: { messages: MESSAGES, models: ["sandbox-chat", "sandbox-chat"] } }, { key: bad });
      const ended = await publisher.ended(good);
      expect([ended.status, ended.result?.["model"]]).toEqual(["completed", "sandbox-backup"]);
      expect((await usageOf(ended.job_id)).model).toBe("sandbox-backup");
      expect((await publisher.ended(bad)).error).toMatchObject({ code: "unsupported_value", param: "models[1]" });
    } finally {
      await publisher.close();
    }
  });

  test("run as steps of workflows", async () => {
    const params = { messages: MESSAGES, models: ["sandbox-backup"] };
    const run = await runStep(plain, { model: "sandbox-error", params });
    expect(run).toMatchObject({ status: "succeeded", output: { said: "served" } });
  });

  test("are rejected when a workflow is stored, with the place of the model", async () => {
    const steps = [
      { id: "s", type: "model", model: "sandbox-chat", params: { messages: MESSAGES, models: ["nothing"] } },
    ];
    const response = await post("/v1/workflows", { name: "bad", definition: { steps } }, plain);
    const { error } = (await response.json()) as { error: Json };
    expect([response.status, error["param"]]).toEqual([400, "definition.steps[0].params.models[0]"]);
  });
});

describe("a chain with weights", () => {
  test.each(ENDPOINTS)("draws the first model of a call of %s, at its own price", async (_name, path, body) => {
    for (const stream of [false, true]) {
      const response = await post(path, { ...body, model: "sandbox-chat", stream }, weighted);
      // No fallback ran: the drawn model was the first.
      expect([response.status, ...servedBy(response)]).toEqual([200, "sandbox-backup", null, null]);
      await response.text();
      expect(await usageOfResponse(response)).toEqual({
        model: "sandbox-backup",
        status: "succeeded",
        labels: { chain: "sandbox-chat" },
      });
    }
  });

  test("holds the credits of the drawn model", async () => {
    const held = async (model: string, content: string): Promise<bigint> => {
      const body = { model, max_tokens: 100, messages: [{ role: "user", content }] };
      const response = await post("/v1/chat/completions", body, weighted);
      const id = response.headers.get("x-request-id");
      await response.text();
      await bed.stack.settled();
      const [row] = await bed.stack.query<{ held: bigint }>("select held from usage_record where job_id = $1", [id]);
      return row?.held ?? 0n;
    };
    // The bodies have the same length, because a hold grows with the length of the body.
    expect(await held("sandbox-chat", "hello two")).toBe(await held("sandbox-backup", "hello t"));
    expect(await held("sandbox-backup", "hello t")).toBeGreaterThan(await held("sandbox-long", "hello two"));
  });

  test("falls back from the drawn model to the others in order", async () => {
    const response = await post("/v1/chat/completions", { model: "sandbox-no-usage", messages: MESSAGES }, weighted);
    expect([response.status, ...servedBy(response)]).toEqual([200, "sandbox-no-usage", "sandbox-error", "1"]);
    const { model, labels } = await usageOfResponse(response);
    expect([model, labels]).toEqual(["sandbox-no-usage", { chain: "sandbox-no-usage" }]);
  });

  test("is replaced by the models of the request", async () => {
    const body = { model: "sandbox-chat", models: ["sandbox-slow"], messages: MESSAGES };
    expect(servedBy(await post("/v1/chat/completions", body, weighted))).toEqual(["sandbox-chat", null, null]);
  });

  test("draws the model of images, speech and transcriptions", async () => {
    const image = { model: "sandbox-image-error", prompt: "a hill", size: "256x256" };
    const drawn = await post("/v1/images/generations", image, weighted);
    expect([drawn.status, ...servedBy(drawn)]).toEqual([200, "sandbox-image", null, null]);
    const speech = {
      model: "sandbox-tts-error",
      input: "Where is the station?",
      voice: "alloy",
      response_format: "wav",
    };
    const spoken = await post("/v1/audio/speech", speech, weighted);
    expect([spoken.status, ...servedBy(spoken)]).toEqual([200, "sandbox-tts", null, null]);
    const audio = new File([await spoken.arrayBuffer()], "speech.wav", { type: "audio/wav" });
    const client = new OpenAI({ baseURL: `${bed.stack.baseUrls[0]}/v1`, apiKey: weighted.key, maxRetries: 0 });
    const heard = await client.audio.transcriptions.create({ model: "sandbox-stt-error", file: audio }).withResponse();
    expect([heard.data.text, ...servedBy(heard.response)]).toEqual([
      "Where is the station?",
      "sandbox-stt",
      null,
      null,
    ]);
  });

  test("draws the model of batch lines, NATS messages, steps and background responses", async () => {
    const before = await servedCounts(weighted);
    const [chat] = await runBatch(weighted, "/v1/chat/completions", [{ model: "sandbox-chat", messages: MESSAGES }]);
    expect(bodyOf(chat)["model"]).toBe("sandbox-backup");
    const asked = { model: "sandbox-chat", input: "Say exactly: served" };
    const [response] = await runBatch(weighted, "/v1/responses", [asked]);
    expect(bodyOf(response)["model"]).toBe("sandbox-backup");
    const publisher = await openPublisher(bed.stack.natsUrl, weighted);
    try {
      const key = newId();
      await publisher.publish({ body: { model: "sandbox-chat", messages: MESSAGES } }, { key });
      expect((await publisher.ended(key)).result?.["model"]).toBe("sandbox-backup");
    } finally {
      await publisher.close();
    }
    const run = await runStep(weighted, { model: "sandbox-chat", params: { messages: MESSAGES } });
    expect(run).toMatchObject({ status: "succeeded" });
    const queued = await post("/v1/responses", { ...asked, background: true }, weighted);
    await eventually("the response has ended", async () => {
      const { id } = (await queued.clone().json()) as { id: string };
      return (await get(`/v1/responses/${id}`, weighted))["status"] === "completed";
    });
    await bed.stack.settled();
    expect((await usageOfResponse(queued)).model).toBe("sandbox-backup");
    const drawn = "sandbox-backup for sandbox-chat";
    const after = await servedCounts(weighted);
    expect(after).toEqual({ ...before, [drawn]: (before[drawn] ?? 0) + 5 });
  }, 120_000);

  test("skips a drawn model that rejects the request", async () => {
    const body = { model: "sandbox-reasoning", messages: MESSAGES };
    const text = await post("/v1/chat/completions", body, weighted);
    expect(servedBy(text)).toEqual(["flat", null, null]);
    // The model flat has no image input.
    const url =
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
    const image = await post("/v1/chat/completions", { ...body, messages }, weighted);
    expect([image.status, ...servedBy(image)]).toEqual([200, "sandbox-reasoning", null, null]);
    expect((await usageOfResponse(image)).labels).toEqual({ chain: "sandbox-reasoning" });
    const unknown = await post("/v1/chat/completions", { ...body, temperature: 9 }, weighted);
    expect(unknown.status).toBe(400);
  });

  test("serves all turns of a tool loop with one model", async () => {
    const tools = [{ type: "sluice", capabilities: ["code.regex"] }];
    const prompt = 'Use code_regex on the text "abc" with the pattern "b".';
    await setWeights("sandbox-chat", { "sandbox-chat": 1, "sandbox-slow": 0, "sandbox-backup": 1 });
    await Bun.sleep(KEY_CACHE_MS);
    for (let at = 0; at < 6; at++) {
      const [path, body] =
        at % 2 === 0
          ? ["/v1/chat/completions", { messages: [{ role: "user", content: prompt }] }]
          : ["/v1/responses", { input: prompt }];
      const response = await post(path, { ...body, model: "sandbox-chat", tools }, weighted);
      const { sluice } = (await response.json()) as { sluice: { turns: { request_id: string }[] } };
      expect([path, response.status, sluice.turns.length]).toEqual([path, 200, 2]);
      const models = await Promise.all(sluice.turns.map(async ({ request_id: id }) => (await usageOf(id)).model));
      expect(new Set(models).size).toBe(1);
    }
  });

  test("with sticky user serves each end user with one model, in every format", async () => {
    const both = { "sandbox-chat": 1, "sandbox-slow": 0, "sandbox-backup": 1 };
    await setWeights("sandbox-chat", both, "user");
    await Bun.sleep(KEY_CACHE_MS);
    const served = new Map<string, string | null>();
    for (const user of Array.from({ length: 12 }, (_, at) => `user-${at}`)) {
      const models = await Promise.all([
        post("/v1/chat/completions", { model: "sandbox-chat", messages: MESSAGES, user }, weighted),
        post("/v1/responses", { model: "sandbox-chat", input: "hi", user }, weighted),
        post(
          "/v1/messages",
          { model: "sandbox-chat", max_tokens: 9, messages: MESSAGES, metadata: { user_id: user } },
          weighted,
        ),
        post("/v1/chat/completions", { model: "sandbox-chat", messages: MESSAGES }, weighted, {
          "x-tags": `user=${user}`,
        }),
      ]);
      const used = new Set(models.map(({ headers }) => headers.get("x-model-used")));
      expect([user, used.size]).toEqual([user, 1]);
      served.set(user, [...used][0] ?? null);
    }
    expect(served.size).toBe(12);
    for (const model of served.values()) expect(["sandbox-chat", "sandbox-backup"]).toContain(model ?? "");
  });

  test("with sticky conversation serves all responses of a conversation with one model", async () => {
    const both = { "sandbox-chat": 1, "sandbox-slow": 0, "sandbox-backup": 1 };
    await setWeights("sandbox-chat", both, "conversation");
    await Bun.sleep(KEY_CACHE_MS);
    for (let at = 0; at < 4; at++) {
      let previous: string | undefined;
      const models = new Set<unknown>();
      for (let turn = 0; turn < 4; turn++) {
        const body = { model: "sandbox-chat", input: "Say exactly: served", previous_response_id: previous };
        const answer = (await (await post("/v1/responses", body, weighted)).json()) as Json;
        previous = String(answer["id"]);
        models.add(answer["model"]);
      }
      expect(models.size).toBe(1);
    }
  });
});
