/**
 * Fault: the ingress or the worker of a background response dies, between any two steps of it. Expected: a response whose job was
 * admitted is told as queued, then as what its job came to, and is paid once or not at all; a reader comes back for the rest of its
 * events; one whose job never came to be is told as failed.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { ModelResponse } from "#schemas/generated/types.ts";
import { callOfResponse, responseId } from "#shared/responses/ids.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { eventsOf } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import { audit } from "./audit.ts";
import { type Bed, startBed } from "./bed.ts";
import { failpointsOf } from "./failpoints.ts";
import { eventually } from "./wait.ts";

let bed: Bed;
let worker: ManagedProcess;

beforeAll(async () => {
  bed = await startBed({ workers: 0, env: { SLUICE_SANDBOX: "on" } });
}, 120_000);
afterAll(() => bed?.stop());

const authorization = (): string => `Bearer ${bed.stack.key}`;
const create = (url: string, body: object): Promise<Response> =>
  fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { authorization: authorization(), "content-type": "application/json" },
    body: JSON.stringify({ background: true, ...body }),
  });
const get = (path: string): Promise<Response> =>
  fetch(`${bed.stack.baseUrls[0]}/v1/responses/${path}`, { headers: { authorization: authorization() } });
const ended = (id: string): Promise<ModelResponse> =>
  eventually("the response has ended", async () => {
    const response = (await (await get(id)).json()) as ModelResponse;
    return response.status !== "queued" && response.status !== "in_progress" && response;
  });
const usageOf = (id: string) =>
  bed.stack.query<{ status: string; settled: bigint }>("select status, settled from usage_record where job_id = $1", [
    callOfResponse(id) ?? "",
  ]);
const died = async (process: ManagedProcess): Promise<string | null> => (await process.exited()).signal;

const QUICK = { model: "sandbox-chat", input: "Say exactly: one two three" };
const SLOW = { model: "sandbox-slow", input: "Say exactly: a b c d e f g h i j k l m n o p q r s t", stream: true };

const mortals: ManagedProcess[] = [];
const mortal = async (role: string[], at?: string): Promise<ManagedProcess> => {
  const process = await startRole(role, { ...bed.stack.env, ...(at === undefined ? {} : { SLUICE_FAILPOINT: at }) });
  mortals.push(process);
  return process;
};
afterAll(async () => {
  for (const process of mortals) await process.stop();
});

test.each(failpointsOf("ingress, response"))(
  "an ingress that dies at %s leaves a failed response, and no hold",
  async (at) => {
    const ingress = await mortal(["ingress"], at);
    expect(await create(ingress.baseUrl, QUICK).catch(() => "cut")).toBe("cut");
    expect(await died(ingress)).toBe("SIGKILL");
    const [row] = await bed.stack.query<{ id: string }>("select id from response");
    const response = await ended(responseId(row?.id ?? ""));
    expect(response).toMatchObject({ status: "failed", output: [], error: { code: "internal_error" } });
    expect(await bed.stack.query("select * from hold")).toEqual([]);
    expect((await get(`${response.id}?stream=true`)).status).toBe(400);
  },
  60_000,
);

test("an ingress that dies at the admission, or while its events are read, ends no job", async () => {
  const lost = await mortal(["ingress"], "job.admitted");
  expect(await create(lost.baseUrl, { ...QUICK, metadata: { which: "lost" } }).catch(() => "cut")).toBe("cut");
  worker = await bed.stack.addRole("worker", "chat");
  const [row] = await bed.stack.query<{ id: string }>("select id from response order by created_at desc limit 1");
  expect(await ended(responseId(row?.id ?? ""))).toMatchObject({ status: "completed", metadata: { which: "lost" } });

  const read = await mortal(["ingress"]);
  const answer = await create(read.baseUrl, SLOW);
  const reader = answer.body?.getReader();
  let text = "";
  while (!text.includes("output_text.delta")) text += new TextDecoder().decode((await reader?.read())?.value);
  read.kill("SIGKILL");
  const frames = text.split("\n\n").slice(0, -1).filter((frame) => frame.startsWith("event:")); // prettier-ignore
  const { response } = JSON.parse(/data: (.*)/.exec(frames[0] ?? "")?.[1] ?? "") as { response: ModelResponse };
  const rest = await (await get(`${response.id}?stream=true&starting_after=${frames.length - 1}`)).text();
  const events = eventsOf([...frames, ...rest.split("\n\n")].join("\n\n"));
  expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { id: response.id } });
  expect(await usageOf(response.id)).toMatchObject([{ status: "succeeded" }]);
}, 90_000);

test("a worker that dies during the answer, or between the answer and its end, fails it without a charge", async () => {
  await worker.stop();
  for (const at of failpointsOf("response worker")) {
    const mortalWorker = await mortal(["worker", "chat"], at);
    const { id } = (await (await create(bed.stack.baseUrls[0] ?? "", QUICK)).json()) as ModelResponse;
    expect(await died(mortalWorker)).toBe("SIGKILL");
    // Its answer was there already: it counts for nothing without its bill.
    expect((await bed.stack.query("select answered from response where id = $1", [callOfResponse(id) ?? ""]))[0]).toEqual({ answered: "completed" }); // prettier-ignore
    const next = await mortal(["worker", "chat"]);
    expect(await ended(id)).toMatchObject({
      status: "failed",
      output: [],
      usage: null,
      error: { code: "worker_lost" },
    });
    expect(await usageOf(id)).toEqual([{ status: "lost", settled: 0n }]);
    const streamed = await create(bed.stack.baseUrls[0] ?? "", SLOW);
    const reader = streamed.body?.getReader();
    let text = "";
    while (!text.includes("output_text.delta")) text += new TextDecoder().decode((await reader?.read())?.value);
    next.kill("SIGKILL");
    await mortal(["worker", "chat"]);
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) text += new TextDecoder().decode(piece.value); // prettier-ignore
    const events = eventsOf(text);
    expect(events.slice(-2)).toMatchObject([{ type: "error", code: "worker_lost" }, { type: "response.failed" }]);
  }
}, 150_000);

test("a call whose worker dies between storing its response and reporting its end fails without a charge", async () => {
  for (const process of mortals) await process.stop();
  const mortalWorker = await mortal(["worker", "chat"], "response.answered");
  const answer = await create(bed.stack.baseUrls[0] ?? "", { ...QUICK, background: false });
  expect(await died(mortalWorker)).toBe("SIGKILL");
  expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([500, "false"]);
  const id = answer.headers.get("x-request-id") ?? "";
  const usage = await eventually("it is settled", async () => {
    const rows = await usageOf(responseId(id));
    return rows.length > 0 && rows;
  });
  expect(usage).toEqual([{ status: "lost", settled: 0n }]);
  // It was stored by then: what nobody pays for is neither read nor gone on from.
  const kept = (await (await get(responseId(id))).json()) as ModelResponse;
  expect(kept).toMatchObject({ status: "failed", output: [], usage: null, error: { code: "internal_error" } });
  const next = await create(bed.stack.baseUrls[0] ?? "", {
    ...QUICK,
    background: false,
    previous_response_id: kept.id,
  });
  expect(await next.json()).toMatchObject({ error: { code: "previous_response_not_found" } });
}, 60_000);

test("the books are exact afterwards", async () => {
  // What the last one had is handed out again.
  await mortal(["worker", "chat"]);
  await audit(bed, { withinMs: 60_000 });
}, 90_000);
