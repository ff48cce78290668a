/** Traces as a collector gets them: one of a call with its parts, links of what was asked for and done later, and no words of anybody. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";

import { metric } from "#tests/faults/metric.ts";
import { eventually } from "#tests/faults/wait.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";

interface Sent {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}

/** The numbers of OTLP. */
const [INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER] = [1, 2, 3, 4, 5];
const SECRET = "marked-words-of-a-caller";

let stack: Stack;
let spans: Sent[] = [];
let texts: string[] = [];
let answer: () => Promise<Response> | Response = () => Response.json({});

const collector = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    expect(new URL(request.url).pathname).toBe("/v1/traces");
    const text = await request.text();
    texts.push(text);
    const body = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: Sent[] }[] }[] };
    spans.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    return answer();
  },
});

beforeAll(async () => {
  stack = await startStack({
    // A trace passes from process to process.
    apart: true,
    pools: ["chat", "image", "capability", "workflow"],
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}/`,
      SLUICE_TRACE_SAMPLE: "1",
      SLUICE_WORKER_SLOTS: "64",
    },
  });
}, 60_000);
afterAll(async () => {
  await stack?.stop();
  await collector.stop(true);
});
beforeEach(() => {
  [spans, texts] = [[], []];
  answer = () => Response.json({});
});

const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${stack.baseUrls[0]}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

const chat = (more: object = {}) => ({
  model: "sandbox-chat",
  max_tokens: 50,
  messages: [{ role: "user", content: `Say exactly: ${SECRET}` }],
  ...more,
});

/** @param traceId of which trace; spans of earlier calls may still come in */
const find = (name: string, traceId?: string): Promise<Sent> =>
  eventually(`a span ${name}`, () =>
    spans.find((one) => one.name === name && (traceId === undefined || one.traceId === traceId)),
  );
const valueOf = ({ attributes }: Sent, key: string): unknown =>
  Object.values(attributes.find((one) => one.key === key)?.value ?? {})[0];

test.each([false, true])("a call is one trace from its route to its settlement (stream: %j)", async (stream) => {
  const client = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const response = await post("/v1/chat/completions", chat({ stream }), { traceparent: client });
  // The pieces of a stream cut it.
  expect(await response.text()).toContain(stream ? "marked" : SECRET);
  const [route, admit, send, process, attempt, settle] = [
    await find("POST /v1/chat/completions"),
    await find("admit"),
    await find("send work.chat"),
    await find("process work.chat"),
    await find("chat sandbox-chat"),
    await find("settle"),
  ];
  const all = [route, admit, send, process, attempt, settle];
  expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1);
  expect(all.map(({ kind }) => kind)).toEqual([SERVER, INTERNAL, PRODUCER, CONSUMER, CLIENT, INTERNAL]);
  // A client's word decides nothing.
  expect([route.parentSpanId ?? "", route.traceId === "a".repeat(32)]).toEqual(["", false]);
  expect(route.links).toMatchObject([{ traceId: "a".repeat(32), spanId: "b".repeat(16) }]);
  expect([admit.parentSpanId, send.parentSpanId]).toEqual([route.spanId, route.spanId]);
  expect(process.parentSpanId).toBe(send.spanId);
  expect([attempt.parentSpanId, settle.parentSpanId]).toEqual([process.spanId, process.spanId]);
  expect(valueOf(route, "sluice.request_id")).toBe(response.headers.get("x-request-id"));
  expect(valueOf(attempt, "gen_ai.operation.name")).toBe("chat");
  expect(valueOf(attempt, "gen_ai.request.max_tokens")).toBe(50);
  expect(Number(valueOf(process, "gen_ai.usage.output_tokens"))).toBeGreaterThan(0);
  expect(Number(valueOf(process, "sluice.credits"))).toBeGreaterThan(0);
  expect(texts.join("\n")).not.toContain(SECRET);
  expect(texts.join("\n")).not.toContain(stack.key);
});

test("a failed attempt has its error class in the trace", async () => {
  expect((await post("/v1/chat/completions", chat({ model: "sandbox-error" }))).status).toBeGreaterThanOrEqual(400);
  const attempt = await find("chat sandbox-error");
  expect(attempt.status?.code).toBe(2);
  expect(String(valueOf(attempt, "error.type"))).toMatch(/^[a-z_]+$/);
});

test("a job and the steps of a run have their own traces, with links to their cause", async () => {
  const body = { model: "sandbox-image", prompt: SECRET };
  expect((await post("/v1/images/generations", body)).status).toBe(200);
  const [asked, made] = [await find("POST /v1/images/generations"), await find("process work.image")];
  expect(made.traceId).not.toBe(asked.traceId);
  expect(made.links).toMatchObject([{ traceId: asked.traceId, spanId: asked.spanId }]);
  const attempt = await find("generate_content sandbox-image");
  expect([attempt.parentSpanId, attempt.traceId]).toEqual([made.spanId, made.traceId]);
  expect((await find("settle", made.traceId)).parentSpanId).toBe(made.spanId);

  spans = [];
  const steps = ["a", "b"].map((id, at) => ({
    id,
    type: "model",
    model: "sandbox-chat",
    params: { messages: chat().messages },
    ...(at === 0 ? {} : { depends_on: ["a"] }),
  }));
  expect((await post("/v1/pipelines/runs", { definition: { steps } })).status).toBe(200);
  const [begun, run] = [await find("POST /v1/pipelines/runs"), await find("invoke_workflow")];
  const done = (): Sent[] =>
    spans.filter(({ name, links }) => name === "process work.chat" && links?.[0]?.traceId === begun.traceId);
  await eventually("both steps are told", () => done().length === 2);
  for (const one of [run, ...done()]) {
    expect(one.links).toMatchObject([{ traceId: begun.traceId, spanId: begun.spanId }]);
    expect(one.traceId).not.toBe(begun.traceId);
  }
  expect(texts.join("\n")).not.toContain(SECRET);
});

test("a capability is a tool", async () => {
  const response = await post("/v1/capabilities/code.diff/run", {
    input: { old: { text: SECRET }, new: { text: "b" } },
  });
  expect([await response.text(), response.status]).toEqual([expect.any(String), 200]);
  const tool = await find("execute_tool code.diff");
  expect(valueOf(tool, "gen_ai.tool.name")).toBe("code.diff");
  expect(texts.join("\n")).not.toContain(SECRET);
});

test("a collector that hangs or rejects delays no call, and dropped spans are counted", async () => {
  answer = () => new Promise(() => undefined);
  const [ingress] = stack.ingresses;
  let exported = -1;
  await eventually("what was on its way is counted", async () => {
    const before = exported;
    exported = await metric(ingress?.adminUrl ?? "", "sluice_spans_exported_total");
    await Bun.sleep(300);
    return exported === before;
  });
  for (let count = 0; count < 30; count++) {
    const beganAt = performance.now();
    expect((await post("/v1/chat/completions", chat())).status).toBe(200);
    expect(performance.now() - beganAt).toBeLessThan(4_000);
  }
  const dropped = (reason: string): Promise<number> =>
    metric(ingress?.adminUrl ?? "", "sluice_spans_dropped_total", `reason="${reason}"`).catch(() => 0);
  await eventually("its deadline has passed", async () => (await dropped("failed")) > 0, 20_000);
  expect(await metric(ingress?.adminUrl ?? "", "sluice_spans_exported_total")).toBe(exported);
  // With spans that were never taken.
  const other = await stack.addRole("ingress");
  expect((await fetch(`${other.baseUrl}/healthz`)).status).toBe(200);
  expect((await other.stop()).code).toBe(0);
  answer = () => new Response("no", { status: 400 });
  expect((await post("/v1/chat/completions", chat())).status).toBe(200);
  await eventually("the refusal is counted", async () => (await dropped("refused")) > 0, 20_000);
}, 60_000);
