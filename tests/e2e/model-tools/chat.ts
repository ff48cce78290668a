/** Chat completions whose model uses capabilities and workflows. */
import { beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";

import type { ChatCompletion, ChatCompletionChunk, ChatMessage, SluiceSummary } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import { eventually } from "#tests/faults/wait.ts";
import type { Tenant } from "#tests/support/tenant.ts";

import { ENDLESS, MODEL, newTenant, post, REGEX, revokeDuringRun, spentOf, USE_REGEX, WEATHER } from "./bench.ts";

let tenant: Tenant;
beforeAll(async () => {
  tenant = await newTenant();
}, 240_000);

const SCRIPT = { type: "sluice", capabilities: ["code.run_javascript"] };
const asks = (tools: readonly object[], content = USE_REGEX, more: object = {}) => ({
  model: MODEL,
  messages: [{ role: "user", content }],
  tools,
  ...more,
});
const completionOf = async (body: object, of = tenant) => {
  const answer = await post(of, "/v1/chat/completions", body);
  const read = (await answer.json()) as ChatCompletion & { readonly sluice: SluiceSummary; readonly error?: object };
  return { answer, body: read, choice: read.choices?.[0] };
};

test("the model's calls are run, and it answers with their results, as one answer with a usage record each", async () => {
  const own = await newTenant();
  const { answer, body, choice } = await completionOf(asks([REGEX]), own);
  parse("ChatCompletion", body);
  expect(choice?.finish_reason).toBe("stop");
  expect(choice?.message.tool_calls).toBeUndefined();
  expect(choice?.message.content).toContain("code_regex returned");
  const { ended_by: endedBy, turns, calls = [], messages = [], credits_used: used } = body.sluice;
  expect(endedBy).toBe("answer");
  expect(calls).toMatchObject([
    { type: "sluice_call", tool: "code.regex", name: "code_regex", round: 1, status: "completed" },
  ]);
  expect(JSON.parse(calls[0]?.output ?? "")).toMatchObject({ output: { matches: [{ text: "b" }] } });
  expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool"]);
  const { ids, nano } = await spentOf(own);
  expect(turns.map(({ request_id: id }) => id)).toContain(answer.headers.get("x-request-id") ?? "");
  expect(ids.toSorted()).toEqual([...turns.map((turn) => turn.request_id), calls[0]?.request_id ?? ""].toSorted());
  expect(Math.round(used * 1e9)).toBe(nano);
  expect(Math.round([...turns, ...calls].reduce((sum, one) => sum + one.credits_used, 0) * 1e9)).toBe(nano);
  expect(Number(answer.headers.get("x-credits-used"))).toBe(used);
  const [row] = await own.query<{ tokens: number }>(
    "select sum((units->>'input_tokens')::int + (units->>'output_tokens')::int)::int as tokens from usage_record where workspace_id = $1",
    [own.workspace.id],
  );
  expect(body.usage?.total_tokens).toBe(row?.tokens ?? 0);
  expect(body.usage?.credits).toBe(used);
}, 60_000);

test("a stream reports the start and end of every run, and contains no internal call", async () => {
  const client = new OpenAI({ baseURL: `${tenant.baseUrls[0]}/v1`, apiKey: tenant.key, maxRetries: 0 });
  const before = await spentOf(tenant);
  const stream = await client.chat.completions.create({
    ...(asks([REGEX]) as unknown as OpenAI.ChatCompletionCreateParamsStreaming),
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(parse("ChatCompletionChunk", chunk));
  expect(new Set(chunks.map(({ id, created }) => `${id} ${created}`)).size).toBe(1);
  const told = chunks.flatMap(({ sluice }) => (sluice ? [sluice] : []));
  expect(told).toMatchObject([
    { type: "sluice_call", status: "in_progress", output: null },
    { type: "sluice_call", status: "completed", name: "code_regex" },
    { ended_by: "answer", messages: [{ role: "assistant" }, { role: "tool" }] },
  ]);
  const deltas = chunks.flatMap(({ choices }) => choices);
  expect(deltas.filter(({ delta }) => delta.tool_calls !== undefined)).toEqual([]);
  expect(deltas.filter(({ delta }) => delta.role !== undefined)).toHaveLength(1);
  expect(deltas.flatMap(({ finish_reason: reason }) => reason ?? [])).toEqual(["stop"]);
  expect(deltas.map(({ delta }) => delta.content ?? "").join("")).toContain("code_regex returned");
  const [last] = told.slice(-1) as SluiceSummary[];
  const after = await spentOf(tenant);
  expect(Math.round((last?.credits_used ?? 0) * 1e9)).toBe(after.nano - before.nano);
  expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0);
  expect(chunks.at(-1)?.usage?.credits).toBe(last?.credits_used ?? 0);
  expect(chunks.filter(({ usage }) => usage != null)).toHaveLength(1);
}, 60_000);

test("files that a run makes are named to the model and to the caller", async () => {
  const { body } = await completionOf(
    asks([{ type: "sluice", capabilities: ["image.convert"] }], 'Use image_convert with file_id "file-sample-photo".'),
  );
  const [call] = body.sluice.calls ?? [];
  expect(call?.files).toMatchObject([{ content_type: "image/jpeg" }]);
  expect((await fetch(call?.files[0]?.url ?? "")).status).toBe(200);
  expect(call?.output).toContain(call?.files[0]?.file_id ?? "none");
}, 60_000);

test("an error of a run's route is returned to the model, and costs nothing", async () => {
  const { body, choice } = await completionOf(
    asks([{ type: "sluice", capabilities: ["code.diff"] }], 'Use code_diff on "abc" and "abd".'),
  );
  const [call] = body.sluice.calls ?? [];
  expect(call).toMatchObject({ status: "failed", credits_used: 0 });
  expect(JSON.parse(call?.output ?? "")).toMatchObject({
    error: { code: expect.any(String), message: expect.any(String) },
  });
  expect(choice?.message.content).toContain("code_diff returned");
  expect(body.sluice.ended_by).toBe("answer");
}, 60_000);

describe("calls of the caller's own functions", () => {
  const both = asks(
    [{ type: "function", function: WEATHER }, REGEX],
    `${USE_REGEX} Then use get_weather for the city "Paris".`,
  );

  test("end the answer and are returned; the service's calls have been run, and the caller continues with all of them", async () => {
    const { body, choice } = await completionOf(both);
    expect(choice?.finish_reason).toBe("tool_calls");
    const calls = choice?.message.tool_calls ?? [];
    const names = calls.map((call) => (call.type === "function" ? call.function.name : ""));
    expect([...new Set(names)]).toEqual(["get_weather"]);
    const { ended_by: endedBy, messages = [], calls: runs = [] } = body.sluice;
    expect([endedBy, runs.length]).toEqual(["handover", 1]);
    const results: ChatMessage[] = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "21 degrees" }));
    const next = await completionOf({
      ...both,
      messages: [...both.messages, ...messages, choice?.message, ...results],
    });
    expect(next.choice?.message.content).toContain("get_weather returned");
  }, 60_000);

  test("are streamed with indexes from 0", async () => {
    const answer = await post(tenant, "/v1/chat/completions", { ...both, stream: true });
    const chunks = (await answer.text())
      .split("\n\n")
      .flatMap((frame) => (frame.startsWith("data: {") ? [JSON.parse(frame.slice(6)) as ChatCompletionChunk] : []));
    const pieces = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    expect(pieces[0]).toMatchObject({ index: 0, function: { name: "get_weather" } });
    for (const [at, call] of [...Map.groupBy(pieces, ({ index }) => index)].entries()) {
      expect(call[0]).toBe(at);
      expect(JSON.parse(call[1].map((piece) => piece.function?.arguments ?? "").join(""))).toHaveProperty("city");
    }
    const reasons = chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason: reason }) => reason ?? []));
    expect(reasons).toEqual(["tool_calls"]);
  }, 60_000);
});

test.each([
  ["max_rounds", { max_rounds: 1 }],
  ["max_credits", { max_credits: 0.000000001 }],
] as const)(
  "%s ends it before a run without a reader",
  async (limit, more) => {
    const { body, choice } = await completionOf(asks([{ ...REGEX, ...more }]));
    expect([body.sluice.ended_by, choice?.finish_reason]).toEqual([limit, "length"]);
    expect(body.sluice).toMatchObject({ turns: [{}], calls: [], messages: [] });
    expect(choice?.message.tool_calls).toBeUndefined();
  },
  60_000,
);

test("a run that may exceed max_credits does not start, and the model receives the reason", async () => {
  const own = await newTenant();
  const step = { id: "picture", type: "model", model: "sandbox-image", params: { prompt: "a boat" } };
  const stored = await post(own, "/v1/workflows", { name: "Paint", definition: { steps: [step] } });
  const { id } = (await stored.json()) as { id: string };
  const paint = async (credits: number) => {
    const tools = [{ type: "sluice", workflows: [id], max_credits: credits }];
    return (await completionOf(asks(tools, "Use workflow_paint."), own)).body.sluice.calls?.[0];
  };
  const refused = await paint(1.5);
  expect(refused).toMatchObject({ tool: id, status: "failed", credits_used: 0 });
  expect(refused?.output).toMatch(/The run may cost up to 2 credits, and 1\.49\d+ are left of max_credits\./);
  expect(await own.query("select 1 from run where workspace_id = $1", [own.workspace.id])).toEqual([]);
  expect(await paint(3)).toMatchObject({ tool: id, status: "completed", credits_used: 2 });
}, 60_000);

test("a tool_choice that requires a call requires it once", async () => {
  const { body } = await completionOf(asks([REGEX], USE_REGEX, { tool_choice: "required" }));
  expect([body.sluice.ended_by, body.sluice.turns.length]).toEqual(["answer", 2]);
}, 60_000);

test("workflows that the caller may run are tools, and no others", async () => {
  const definition = {
    inputs: { topic: { type: "string", required: true } },
    steps: [
      {
        id: "say",
        type: "model",
        model: MODEL,
        params: { messages: [{ role: "user", content: "Say exactly: ${{ inputs.topic }}" }] },
      },
    ],
    output: { said: "${{ steps.say.output.text }}" },
  };
  const made = await post(tenant, "/v1/workflows", { name: "Talk about it", definition });
  const { id } = (await made.json()) as { id: string };
  const tool = { type: "sluice", workflows: [id] };
  const { body } = await completionOf(asks([tool], 'Use workflow_talk_about_it with the topic "tea".'));
  expect(body.sluice.calls).toMatchObject([{ tool: id, name: "workflow_talk_about_it", status: "completed" }]);
  expect(body.sluice.calls?.[0]?.credits_used).toBeGreaterThan(0);
  const { body: refused } = await completionOf(asks([tool]), await newTenant());
  expect(refused.error).toMatchObject({ code: "unsupported_value", param: "tools[0].workflows[0]" });
}, 60_000);

describe.each(["plain", "stream"] as const)("a caller that disconnects from a %s answer", (form) => {
  test("ends the current run, and no further run starts", async () => {
    const own = await newTenant();
    const leaving = new AbortController();
    const body = asks([SCRIPT], ENDLESS, {
      stream: form === "stream",
    });
    const left = post(own, "/v1/chat/completions", body, leaving.signal).then((answer) => answer.text());
    left.catch(() => undefined);
    const jobs = (state: string) =>
      own.query(`select id from job where workspace_id = $1 and state = '${state}'`, [own.workspace.id]);
    await eventually("it is at work", async () => (await jobs("running")).length === 1);
    leaving.abort();
    await eventually("its run is cancelled", async () => (await jobs("cancelled")).length === 1);
    expect((await spentOf(own)).ids.length).toBeLessThanOrEqual(2);
  }, 60_000);
});

test("a person's session acts as its key in every turn and run", async () => {
  const own = await newTenant();
  const page = { "content-type": "application/json", "x-sluice-console": "1" };
  const signIn = JSON.stringify({ api_key: own.key });
  const opened = await fetch(`${own.baseUrls[0]}/console/session`, { method: "POST", headers: page, body: signIn });
  const cookie = opened.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const answer = await fetch(`${own.baseUrls[0]}/v1/chat/completions`, {
    method: "POST",
    headers: { ...page, cookie },
    body: JSON.stringify(asks([REGEX], USE_REGEX)),
  });
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { sluice: { ended_by: "answer", turns: [{}, {}] } },
  ]);
}, 60_000);

test.each([false, true])(
  "a key that is revoked meanwhile starts no further run; streamed: %p",
  async (stream) => {
    const own = await newTenant();
    const answered = post(own, "/v1/chat/completions", asks([SCRIPT], ENDLESS, { stream }));
    await revokeDuringRun(own);
    if (stream) {
      // It breaks off.
      expect(
        await answered
          .then((answer) => answer.text())
          .then(
            () => "whole",
            () => "broken",
          ),
      ).toBe("broken");
    } else {
      const answer = await answered;
      expect(answer.status).toBe(401);
      expect(answer.headers.get("x-should-retry")).toBe("false");
      const { nano } = await spentOf(own);
      expect(Math.round(Number(answer.headers.get("x-credits-used")) * 1e9)).toBe(nano);
    }
    expect((await spentOf(own)).ids.length).toBeLessThanOrEqual(2);
  },
  60_000,
);

const BIG = "x".repeat(1_048_576);

test.each([
  ["two of them", asks([REGEX, REGEX]), "tools[1].type"],
  ["nothing to run", asks([{ type: "sluice" }]), "tools[0].capabilities"],
  ["an unknown capability", asks([{ type: "sluice", capabilities: ["no.such"] }]), "tools[0].capabilities[0]"],
  ["one twice", asks([{ type: "sluice", capabilities: ["code.regex", "code.regex"] }]), "tools[0].capabilities[1]"],
  ["a workflow that is none", asks([{ type: "sluice", workflows: ["code.regex"] }]), "tools[0].workflows[0]"],
  ["too many rounds", asks([{ ...REGEX, max_rounds: 17 }]), "tools[0].max_rounds"],
  ["several answers", asks([REGEX], USE_REGEX, { n: 2 }), "n"],
  [
    "a function of the same name",
    asks([REGEX, { type: "function", function: { ...WEATHER, name: "code_regex" } }]),
    "tools[1]",
  ],
  [
    "a fault in another tool",
    asks([REGEX, { type: "function", function: WEATHER }], USE_REGEX, {
      tool_choice: { type: "function", function: { name: "none" } },
    }),
    "tool_choice.function.name",
  ],
  ["a large body", asks([REGEX], BIG), null],
])("%s is rejected by name, and costs nothing", async (_what, body, param) => {
  const before = await spentOf(tenant);
  const { answer, body: refused } = await completionOf(body);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(refused.error).toMatchObject({ param });
  expect(await spentOf(tenant)).toEqual(before);
});

test("a call without a waiting caller rejects such a tool", async () => {
  const answer = await post(tenant, "/v1/models/sandbox-chat/estimate", asks([REGEX]));
  expect(await answer.json()).toMatchObject({ error: { code: "unsupported_value", param: "tools[0].type" } });
});
