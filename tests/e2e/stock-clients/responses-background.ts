/** Background responses through the stock OpenAI SDK: made, asked for, read again, cancelled. */
import { beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";

import { RUN_STREAMS_PER_KEY_MAX } from "#ingress/routes/workflows/run-follower.ts";
import { callOfResponse } from "#shared/responses/ids.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import type { Stack } from "#tests/support/stack.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";
import { eventsOf } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import { sharedStack } from "./shared-stack.ts";

let stack: Stack;
let client: OpenAI;

beforeAll(async () => {
  stack = await sharedStack();
  client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key, maxRetries: 0 });
});

const MODEL = "sandbox-chat";
const QUICK = { model: MODEL, input: "Say exactly: one two three", background: true } as const;
/** First token after 3 s, then 20 a second. */
const SLOW = { model: "sandbox-slow", input: "Say exactly: a b c d e f g h i j k l m n o p q r s t", background: true };

const ended = (id: string): Promise<OpenAI.Responses.Response> =>
  eventually("the response has ended", async () => {
    const response = await client.responses.retrieve(id);
    return response.status !== "queued" && response.status !== "in_progress" && response;
  });
const callOf = (id: string): string => callOfResponse(id) ?? "";
const faultOf = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).catch((error: unknown) => error);
/** The stream of a response as it goes over the wire, from behind event `after`. */
const streamOf = async (id: string, after?: number): Promise<string> => {
  const query = `?stream=true${after === undefined ? "" : `&starting_after=${after}`}`;
  const headers = { authorization: `Bearer ${stack.key}` };
  return (await fetch(`${stack.baseUrls[0]}/v1/responses/${id}${query}`, { headers })).text();
};
const textUntil = async (answer: Response, word: string): Promise<string> => {
  let text = "";
  const reader = answer.body?.getReader();
  while (!text.includes(word)) text += new TextDecoder().decode((await reader?.read())?.value);
  return text;
};
const framesOf = (text: string): string[] =>
  text.split("\n\n").filter((frame) => frame !== "" && !frame.startsWith(":"));

describe("a background response", () => {
  test("is returned as queued immediately, can be read with its input, and is charged once at its end", async () => {
    const made = await client.responses.create(QUICK);
    expect(made).toMatchObject({ status: "queued", background: true, store: true, output: [], usage: null });
    const whole = await ended(made.id);
    expect(whole).toMatchObject({ id: made.id, status: "completed", background: true });
    expect(whole.output_text).toBe("one two three");
    const { data } = await client.responses.inputItems.list(made.id);
    expect(data).toMatchObject([{ content: [{ text: QUICK.input }] }]);
    const call = callOf(made.id);
    const usage = await stack.query("select status, settled from usage_record where job_id = $1", [call]);
    expect(usage).toMatchObject([{ status: "succeeded" }]);
    expect(Number(usage[0]?.["settled"])).toBeGreaterThan(0);
    const [job] = await stack.query("select state, request, result, work::text as work from job where id = $1", [call]);
    // Of what was said nothing stays outside of the sealed response.
    expect(job).toMatchObject({ state: "completed", request: null, result: JSON.stringify({ id: made.id, object: "response" }) }); // prettier-ignore
    expect(String(job?.["work"])).not.toContain("one two");
    const next = await client.responses.create({
      model: MODEL,
      input: "Say exactly: on",
      previous_response_id: made.id,
    });
    expect(next.output_text).toBe("on");
    // Its prompt cache is where the conversation began.
    const later = await client.responses.create({ ...QUICK, previous_response_id: next.id });
    await ended(later.id);
    const [row] = await stack.query("select work->>'affinity' as affinity from job where id = $1", [callOf(later.id)]);
    expect(row).toEqual({ affinity: made.id });
  });

  test("cannot be continued before its end, and does not exist with store: false", async () => {
    const { id } = await client.responses.create(SLOW);
    const next = client.responses.create({ model: MODEL, input: "x", previous_response_id: id });
    expect(await faultOf(next)).toMatchObject({ status: 400, code: "previous_response_not_found" });
    await client.responses.cancel(id);
    expect(await faultOf(client.responses.create({ ...QUICK, store: false }))).toMatchObject({ status: 400, param: "store" }); // prettier-ignore
  });

  test("accepts texts that a row of JSON rejects", async () => {
    const made = await client.responses.create({ ...QUICK, instructions: "a\u0000b\ud800", metadata: { a: "\u0000" } });
    expect(await ended(made.id)).toMatchObject({ status: "completed", instructions: "a\u0000b\ud800" });
  });

  test("reports why it failed", async () => {
    const made = await client.responses.create({ ...QUICK, model: "sandbox-error" });
    expect(await ended(made.id)).toMatchObject({ status: "failed", output: [], usage: null, error: { code: "upstream_error" } }); // prettier-ignore
    const [usage] = await stack.query("select settled from usage_record where job_id = $1", [callOf(made.id)]);
    expect(usage?.["settled"]).toBe(0n);
  });

  test("that is rejected leaves nothing", async () => {
    const before = await stack.query("select id from response");
    const poor = await createWorkspace(stack, { creditsNano: 1n });
    const theirs = client.withOptions({ apiKey: poor.key });
    expect(await faultOf(theirs.responses.create(QUICK))).toMatchObject({ code: "insufficient_credits" });
    expect(await faultOf(client.responses.create({ ...QUICK, model: "nobody" }))).toMatchObject({ code: "model_not_found" }); // prettier-ignore
    expect(await stack.query("select id from response")).toEqual(before);
  });

  test("exists for its workspace only, and as a job", async () => {
    const { id } = await client.responses.create(QUICK);
    const theirs = client.withOptions({ apiKey: (await asNewWorkspace(stack)).key });
    expect(await faultOf(theirs.responses.cancel(id))).toMatchObject({ status: 404 });
    expect(await faultOf(theirs.responses.retrieve(id))).toMatchObject({ status: 404 });
    await ended(id);
    const headers = { authorization: `Bearer ${stack.key}` };
    const job = await fetch(`${stack.baseUrls[0]}/v1/images/jobs/${callOf(id)}`, { headers });
    expect(await job.json()).toMatchObject({ status: "completed", data: [{ id, object: "response" }] });
  });
});

describe("a cancelled background response", () => {
  test("ends, free if nothing was streamed", async () => {
    const { id } = await client.responses.create(SLOW);
    await eventually("it has begun", async () => (await client.responses.retrieve(id)).status === "in_progress");
    const cancelled = await client.responses.cancel(id);
    expect(cancelled).toMatchObject({ id, status: "cancelled", output: [], error: null });
    expect(await client.responses.cancel(id)).toMatchObject({ status: "cancelled" });
    const [usage] = await stack.query("select settled from usage_record where job_id = $1", [callOf(id)]);
    expect(usage?.["settled"]).toBe(0n);
  });

  test("or a deleted one ends too", async () => {
    const { id } = await client.responses.create(SLOW);
    await client.responses.delete(id);
    expect(await faultOf(client.responses.retrieve(id))).toMatchObject({ status: 404 });
    await eventually("its job has ended", async () => {
      const [job] = await stack.query("select state from job where id = $1", [callOf(id)]);
      return job?.["state"] === "cancelled";
    });
  });

  test("is unchanged if it has ended, and a 404 if it never existed", async () => {
    const { id } = await client.responses.create(QUICK);
    await ended(id);
    expect(await client.responses.cancel(id)).toMatchObject({ status: "completed", output: [{ content: [{ text: "one two three" }] }] }); // prettier-ignore
    const plain = await client.responses.create({ model: MODEL, input: "Say exactly: x" });
    expect(await faultOf(client.responses.cancel(plain.id))).toMatchObject({ status: 400, code: "unsupported_value" });
    expect(await faultOf(client.responses.cancel("resp_unknown"))).toMatchObject({ status: 404 });
  });
});

describe("the events of a background response", () => {
  test("are streamed on request, and can be resumed after any of them", async () => {
    const stream = await client.responses.create({ ...QUICK, stream: true });
    const told: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) told.push(event);
    expect(told.map(({ sequence_number: number }) => number)).toEqual(told.map((_, at) => at));
    expect(told.slice(0, 3).map(({ type }) => type)).toEqual([
      "response.created",
      "response.queued",
      "response.in_progress",
    ]);
    const last = told.at(-1);
    if (last?.type !== "response.completed") throw new Error("no end");
    const { id } = last.response;
    const again = await streamOf(id);
    expect(eventsOf(again)).toEqual(told as unknown as ReturnType<typeof eventsOf>);
    for (const after of [0, 1, 4, told.length - 2, told.length - 1, told.length + 5]) {
      const behind = [
        ...framesOf(again)
          .slice(0, -1)
          .slice(after + 1),
        "data: [DONE]",
      ];
      expect([after, framesOf(await streamOf(id, after))]).toEqual([after, behind]);
    }
  });

  test("reach another reader after the first has disconnected", async () => {
    const stream = await client.responses.create({ ...SLOW, stream: true });
    let id = "";
    let after = -1;
    for await (const event of stream) {
      if (event.type === "response.created") id = event.response.id;
      after = event.sequence_number;
      if (event.type === "response.output_text.delta") break;
    }
    const rest: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: after })) rest.push(event); // prettier-ignore
    expect(rest.map(({ sequence_number: number }) => number)).toEqual(rest.map((_, at) => after + 1 + at));
    expect(rest.at(-1)).toMatchObject({ type: "response.completed", response: { id } });
    const usage = await stack.query("select status from usage_record where job_id = $1", [callOf(id)]);
    expect(usage).toEqual([{ status: "succeeded" }]);
  });

  test("end with the final state of a failed or cancelled response", async () => {
    const failed = await client.responses.create({ ...QUICK, model: "sandbox-truncate", stream: true });
    let id = "";
    const read = async (): Promise<void> => {
      for await (const event of failed) if (event.type === "response.created") id = event.response.id;
    };
    expect(await faultOf(read())).toBeInstanceOf(OpenAI.APIError);
    const text = await streamOf(id);
    const events = eventsOf(text);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    const heard = events.findLastIndex(({ type }) => type === "response.output_text.delta");
    expect(heard).toBeGreaterThan(0);
    // An hour later what became of it is all there is to tell, to who heard so many.
    await stack.query("delete from response_event where response_id = $1", [callOf(id)]);
    const rest = eventsOf([...framesOf(text).slice(0, heard + 1), await streamOf(id, heard)].join("\n\n"));
    expect(rest.slice(heard + 1)).toMatchObject([{ type: "error" }, { type: "response.failed", response: { id } }]);

    const stream = await client.responses.create({ ...SLOW, stream: true });
    for await (const event of stream) {
      if (event.type === "response.created") ({ id } = event.response);
      if (event.type === "response.output_text.delta") await client.responses.cancel(id);
    }
    const last = eventsOf(await streamOf(id)).at(-1);
    expect(last).toMatchObject({ type: "response.failed", response: { status: "cancelled" } });
    const [usage] = await stack.query("select status, settled from usage_record where job_id = $1", [callOf(id)]);
    expect(usage?.["status"]).toBe("cancelled");
    expect(Number(usage?.["settled"])).toBeGreaterThan(0);
  });

  test("do not exist for an unstreamed response, nor an hour after its end", async () => {
    const { id } = await client.responses.create(QUICK);
    await ended(id);
    expect(JSON.parse(await streamOf(id))).toMatchObject({ error: { code: "unsupported_value", param: "stream" } });
    const plain = await client.responses.create({ model: MODEL, input: "Say exactly: x" });
    expect(JSON.parse(await streamOf(plain.id))).toMatchObject({ error: { code: "unsupported_value" } });
    const stream = await client.responses.create({ ...QUICK, stream: true });
    let kept = "";
    for await (const event of stream) if (event.type === "response.created") kept = event.response.id;
    await stack.query("delete from response_event where response_id = $1", [callOf(kept)]);
    expect(JSON.parse(await streamOf(kept))).toMatchObject({ error: { code: "unsupported_value" } });
    const url = `${stack.baseUrls[0]}/v1/responses/${kept}?stream=true&starting_after=x`;
    const refused = await fetch(url, { headers: { authorization: `Bearer ${stack.key}` } });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: "starting_after" } }]);
  });

  test("are rejected for one reader too many before any work is charged", async () => {
    const tenant = await asNewWorkspace(stack);
    const theirs = client.withOptions({ apiKey: tenant.key });
    const { id } = await theirs.responses.create({ ...SLOW, store: true });
    await theirs.responses.cancel(id);
    const leaving = new AbortController();
    const url = `${stack.baseUrls[0]}/v1/responses`;
    const headers = { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" };
    // It is not over before all readers are there.
    const body = JSON.stringify({ ...SLOW, input: `Say exactly: ${"a ".repeat(400)}`, stream: true });
    const first = await fetch(url, { method: "POST", headers, body, signal: leaving.signal });
    const [, made = ""] = /"id":"(resp_\w+)"/.exec(await textUntil(first, "response.created")) ?? [];
    const read = (): Promise<Response> => fetch(`${url}/${made}?stream=true`, { headers, signal: leaving.signal });
    const others = await Promise.all(Array.from({ length: RUN_STREAMS_PER_KEY_MAX - 1 }, read));
    expect(others.every(({ status }) => status === 200)).toBe(true);
    const before = await stack.query("select id from job where workspace_id = $1", [tenant.workspace.id]);
    const late = await faultOf(theirs.responses.create({ ...QUICK, stream: true }));
    expect(late).toMatchObject({ status: 503, code: "overloaded" });
    expect(await stack.query("select id from job where workspace_id = $1", [tenant.workspace.id])).toEqual(before);
    expect(await stack.query("select id from response where workspace_id = $1", [tenant.workspace.id])).toHaveLength(2);
    await theirs.responses.cancel(made);
    leaving.abort();
    await eventually("there is room again", async () => {
      const again = await theirs.responses.create({ ...QUICK, stream: true }).catch(() => undefined);
      if (!again) return false;
      for await (const _event of again);
      return true;
    });
  });

  test("are stored encrypted", async () => {
    const stream = await client.responses.create({ ...QUICK, stream: true });
    for await (const _event of stream);
    const rows = await stack.query<{ sealed: string }>("select sealed from response_event");
    expect(rows.length).toBeGreaterThan(0);
    for (const { sealed } of rows) expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/);
  });
});
