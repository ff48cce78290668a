/** `max_credits` of a call by every road: it is refused, limited or charged, but never costs more. */
import { beforeAll, describe, expect, test } from "bun:test";

import { ask, type Bed, createWorkspace, FLAT_NANO, setFallbacks, type Workspace } from "#tests/faults/bed.ts";
import { openPublisher } from "#tests/faults/publisher.ts";

import { sharedBed } from "./shared-bed.ts";

let bed: Bed;
let workspace: Workspace;
beforeAll(async () => {
  bed = await sharedBed();
  workspace = await createWorkspace(bed.stack, { creditsNano: 10_000n * FLAT_NANO });
});

async function post(path: string, body: object, headers: Record<string, string> = {}, key = workspace.key) {
  const answer = await fetch(`${bed.target().url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const parsed = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: answer.status, headers: answer.headers, text, error: parsed["error"] as Record<string, unknown> };
}

const chat = (body: object, headers?: Record<string, string>) => post("/v1/chat/completions", body, headers);

async function chargeOf({ headers }: { readonly headers: Headers }): Promise<bigint> {
  await bed.stack.settled();
  const [row] = await bed.stack.query<{ settled: bigint }>("select settled from usage_record where job_id = $1", [
    headers.get("x-request-id"),
  ]);
  return row?.settled ?? -1n;
}

/** Body of the last request that the provider received. */
function received(): Record<string, unknown> {
  return bed.upstream.requests.at(-1)?.body as Record<string, unknown>;
}

describe("a chat call without an output limit", () => {
  test.each([false, true])("gets the largest limit that fits (stream: %p)", async (stream) => {
    const answer = await chat(ask("metered", { stream, max_credits: 0.1 }));
    expect(answer.status).toBe(200);
    const limit = received()["max_completion_tokens"] ?? received()["max_tokens"];
    expect(answer.headers.get("x-max-tokens-lowered")).toBe(String(limit));
    // 200 credits for a million tokens: 500 of them cost 0.1 credits.
    expect(limit).toBeGreaterThan(300);
    expect(limit).toBeLessThan(500);
    expect(JSON.stringify(received())).not.toContain("max_credits");
    expect(await chargeOf(answer)).toBeGreaterThan(0n);
  });

  test.each([false, true])(
    "is charged at most the maximum, whatever its provider reports (stream: %p)",
    async (stream) => {
      bed.upstream.next({
        text: "words",
        usage: { prompt_tokens: 900, completion_tokens: 9_000, total_tokens: 9_900 },
      });
      const answer = await chat(ask("metered", { stream, max_credits: 0.05 }));
      expect(answer.status).toBe(200);
      const charge = await chargeOf(answer);
      expect(charge).toBeGreaterThan(0n);
      expect(charge).toBeLessThanOrEqual(50_000_000n);
    },
  );

  test("keeps the limit of its model when that fits", async () => {
    const answer = await chat(ask("metered", { max_credits: 100 }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-max-tokens-lowered")).toBeNull();
  });

  test("is refused if its input alone costs more", async () => {
    const before = bed.upstream.requests.length;
    const { status, error } = await chat(ask("metered", { max_credits: 0.000001 }));
    expect([status, error]).toEqual([
      402,
      expect.objectContaining({ code: "max_credits_exceeded", type: "quota_exceeded", param: "max_credits" }),
    ]);
    expect(error["message"]).toContain("shorten the input");
    expect(bed.upstream.requests).toHaveLength(before);
  });
});

describe("a refusal", () => {
  const refused = { status: 402, code: "max_credits_exceeded", param: "max_credits" };
  const told = ({ status, error }: Awaited<ReturnType<typeof post>>) => ({
    status,
    code: error["code"],
    param: error["param"],
  });

  test("names the limit that fits, and a call with that limit is admitted", async () => {
    const first = await chat(ask("metered", { max_tokens: 5_000, max_credits: 0.1 }));
    expect(told(first)).toEqual(refused);
    const limit = Number(/at most (\d+) tokens/.exec(String(first.error["message"]))?.[1]);
    expect((await chat(ask("metered", { max_tokens: limit, max_credits: 0.1 }))).status).toBe(200);
    expect(told(await chat(ask("metered", { max_tokens: limit + 1, max_credits: 0.1 })))).toEqual(refused);
  });

  test("comes by the member or the header, and the lower of both applies", async () => {
    expect(told(await chat(ask("flat", { max_credits: 0.999999999 })))).toEqual(refused);
    expect(told(await chat(ask("flat"), { "x-max-credits": "0.999999999" }))).toEqual(refused);
    expect(told(await chat(ask("flat", { max_credits: 2 }), { "x-max-credits": "0.5" }))).toEqual(refused);
    expect(told(await chat(ask("flat", { max_credits: 0.5 }), { "x-max-credits": "2" }))).toEqual(refused);
    expect((await chat(ask("flat", { max_credits: 1 }), { "x-max-credits": "1" })).status).toBe(200);
  });

  test.each<[string, object]>([
    ["/v1/responses", { model: "flat", input: "hello" }],
    ["/v1/responses", { model: "flat", input: "hello", stream: true }],
    ["/v1/responses", { model: "flat", input: "hello", background: true }],
    ["/v1/messages", { model: "flat", max_tokens: 5, messages: [{ role: "user", content: "hello" }] }],
  ])("is returned by %s %p", async (path, body) => {
    const answer = await post(path, { ...body, max_credits: 0.5 });
    expect([answer.status, answer.error["param"]]).toEqual([402, "max_credits"]);
    expect(answer.error["message"]).toContain("may cost up to 1 credits");
    expect((await post(path, { ...body, max_credits: 1 })).status).toBe(200);
    expect(JSON.stringify(received())).not.toContain("max_credits");
  });

  test("of a compaction comes by the member or the header", async () => {
    const body = { model: "flat", input: [{ role: "user", content: "hello" }] };
    expect(told(await post("/v1/responses/compact", { ...body, max_credits: 0.5 }))).toEqual(refused);
    expect(told(await post("/v1/responses/compact", body, { "x-max-credits": "0.5" }))).toEqual(refused);
  });

  test.each([[0], [-1], [1e-10], ["1"], [2_000_000_000]])("an amount of %p is invalid", async (max_credits) => {
    const { status, error } = await chat(ask("flat", { max_credits }));
    expect([status, error["param"]]).toEqual([400, "max_credits"]);
  });

  test("an invalid header is named", async () => {
    const { status, error } = await chat(ask("flat"), { "x-max-credits": "much" });
    expect([status, error["code"], error["param"]]).toEqual([400, "unsupported_value", "x-max-credits"]);
  });
});

describe("a misspelt member", () => {
  const prompt = [{ role: "user", content: "hello" }];
  const BODIES: readonly (readonly [path: string, body: object])[] = [
    ["/v1/chat/completions", { model: "flat", messages: prompt }],
    ["/v1/chat/completions", { model: "flat", messages: prompt, stream: true }],
    ["/v1/responses", { model: "flat", input: "hello" }],
    ["/v1/messages", { model: "flat", max_tokens: 5, messages: prompt }],
    ["/v1/embeddings", { model: "flat-embed", input: "hello" }],
  ];
  const NAMES = ["max_credit", "maxCredits", "max_cost", "Models", "modles"];

  test.each(BODIES.flatMap(([path, body]) => NAMES.map((name) => [path, name, body] as const)))(
    "is refused by %s: %s",
    async (path, name, body) => {
      const before = bed.upstream.requests.length;
      const { status, error } = await post(path, { ...body, [name]: 0.5 });
      expect([status, error["code"], error["param"]]).toEqual([400, "unknown_parameter", name]);
      const meant = name.toLowerCase().startsWith("max") ? "max_credits" : "models";
      expect(error["message"]).toBe(`${name} is not a known parameter. Did you mean ${meant}?`);
      expect(bed.upstream.requests).toHaveLength(before);
    },
  );

  test("is refused in a compaction", async () => {
    const { status, error } = await post("/v1/responses/compact", { model: "flat", input: "hello", max_credit: 1 });
    expect([status, error["code"], error["param"]]).toEqual([400, "unknown_parameter", "max_credit"]);
  });

  test("is refused in the body of a batch", async () => {
    const { status, error } = await post("/v1/batches", {
      input_file_id: "file-1",
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
      max_credit: 1,
    });
    expect([status, error["code"], error["param"]]).toEqual([400, "unknown_parameter", "max_credit"]);
  });

  test("other unknown members are ignored", async () => {
    const more = { max_retries: 2, credits: 3, mode: "x", modality: "text", thing: { max_credit: 1 } };
    expect((await chat(ask("flat", more))).status).toBe(200);
  });
});

test("the estimate of a call is enough for the same call", async () => {
  const body = ask("metered", { max_tokens: 100 });
  const estimate = await post("/v1/models/metered/estimate", body);
  const { max_credits } = JSON.parse(estimate.text) as { readonly max_credits: number };
  expect((await chat({ ...body, max_credits })).status).toBe(200);
  expect((await chat({ ...body, max_credits: Number((max_credits - 1e-9).toFixed(9)) })).status).toBe(402);
});

test("a model of the fallback chain that could cost more is skipped", async () => {
  const own = await createWorkspace(bed.stack, { creditsNano: 100n * FLAT_NANO });
  await setFallbacks(bed, { "mock-server-error": ["flat"] }, own.key);
  const call = (max_credits: number) =>
    post("/v1/chat/completions", ask("mock-server-error", { max_tokens: 10, max_credits }), {}, own.key);
  const skipped = await call(0.999);
  expect([skipped.status, skipped.error["code"]]).toEqual([502, "upstream_error"]);
  const served = await call(1);
  expect([served.status, served.headers.get("x-model-used")]).toEqual([200, "flat"]);
  expect(await chargeOf(served)).toBe(FLAT_NANO);
});

test("a fallback model gets its own output limit", async () => {
  const own = await createWorkspace(bed.stack, { creditsNano: 100n * FLAT_NANO });
  await setFallbacks(bed, { "mock-server-error": ["dear"] }, own.key);
  const answer = await post("/v1/chat/completions", ask("mock-server-error", { max_credits: 0.5 }), {}, own.key);
  expect([answer.status, answer.headers.get("x-model-used")]).toEqual([200, "dear"]);
  const limit = received()["max_completion_tokens"] ?? received()["max_tokens"];
  // 2,000 credits for a million tokens.
  expect(limit).toBeGreaterThan(100);
  expect(limit).toBeLessThan(250);
  expect(await chargeOf(answer)).toBeLessThanOrEqual(500_000_000n);
});

test("a batch message is refused and limited like a call", async () => {
  const publisher = await openPublisher(bed.stack.natsUrl, workspace);
  try {
    const submit = (body: object) => publisher.submit({ endpoint: "/v1/chat/completions", body });
    const refused = await submit(ask("flat", { max_credits: 0.5 }));
    expect([refused.status, refused["error"]?.["code"], refused["error"]?.["param"]]).toEqual([
      "refused",
      "max_credits_exceeded",
      "max_credits",
    ]);
    const key = "limited by its credits";
    await publisher.submit({ endpoint: "/v1/chat/completions", body: ask("metered", { max_credits: 0.1 }) }, { key });
    expect((await publisher.ended(key)).status).toBe("completed");
    const sent = bed.upstream.requests
      .map(({ body }) => body as Record<string, unknown>)
      .findLast(({ model }) => model === "upstream");
    expect(sent?.["max_completion_tokens"] ?? sent?.["max_tokens"]).toBeLessThan(500);
  } finally {
    await publisher.close();
  }
});
