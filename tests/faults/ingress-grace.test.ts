/**
 * Fault: the grace of an ingress ends while callers still wait: for runs, for a picture, for a chat, for a store that is silent.
 * Expected: each hears an answer that says where its work is and whether to try again; nobody meets a reset, and it exits with 0.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { auditLedger } from "#shared/ledger/audit.ts";

import { DONE, errorCode, requestId } from "./client.ts";
import { type MediaBed, startMediaBed } from "./media-bed.ts";
import { eventually } from "./wait.ts";

/** Grace of an ingress; waiting callers are answered three seconds before it is over. */
const GRACE_MS = 5_000;

let bed: MediaBed;

beforeAll(async () => {
  // No worker: what callers wait for does not come.
  bed = await startMediaBed({ workers: 0, env: { SLUICE_GRACE_MS: String(GRACE_MS), SLUICE_WORKER_SLOTS: "32" } });
}, 60_000);

afterAll(() => bed?.stop());

const MESSAGES = [{ role: "user", content: "Say exactly: late" }];
const definition = { steps: [{ id: "a", type: "model", model: "sandbox-chat", params: { messages: MESSAGES } }] };

test("callers that wait at the end of an ingress's grace period receive the state of their calls", async () => {
  const { client, stack, s3 } = bed;
  const runs = bed.target("/v1/pipelines/runs");
  const waited = client.begin(runs, { definition, mode: "sync" });
  const streamed = await client.open(runs, { definition, mode: "stream" });
  const picture = client.begin(bed.target(), { model: "queued", prompt: "a lighthouse" });
  const chat = client.begin(bed.target("/v1/chat/completions"), { model: "sandbox-chat", messages: MESSAGES });
  s3.decide((line) => (line.startsWith("PUT") || line.startsWith("POST") ? "silence" : "pass"));
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", new File(["some bytes"], "a.txt", { type: "text/plain" }));
  const upload = fetch(`${bed.target().url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.key}` },
    body: form,
  });
  await eventually("all of them wait", async () => {
    const [row] = await stack.query<{ waiting: bigint }>(
      "select (select count(*) from run) + (select count(*) from job) + (select count(*) from hold) as waiting",
    );
    return row?.waiting === 5n && s3.requests.some(({ fate }) => fate === "silence");
  });

  stack.ingresses[0]?.kill("SIGTERM");
  const run = await (await waited.head).ended;
  expect([run.status, errorCode(run)]).toEqual([503, "service_unavailable"]);
  expect(run.headers.get("x-run-id")).toBe(requestId(run));
  expect(run.headers.get("x-should-retry")).toBe("false");
  const stream = await streamed.ended;
  expect([stream.isCut, errorCode(stream), stream.frames.includes(DONE)]).toEqual([
    false,
    "service_unavailable",
    false,
  ]);
  const made = await (await picture.head).ended;
  expect([made.status, errorCode(made), (JSON.parse(made.body) as { error: { job_id: string } }).error.job_id]).toEqual([504, "job_timeout", requestId(made)]); // prettier-ignore
  const said = await (await chat.head).ended;
  expect([said.status, errorCode(said)]).toEqual([503, "service_unavailable"]);
  const stored = await upload;
  expect([stored.status, ((await stored.json()) as { error: { code: string } }).error.code]).toEqual([503, "service_unavailable"]); // prettier-ignore
  expect((await stack.ingresses[0]?.exited())?.code).toBe(0);
  expect(await stack.query("select status from run")).toEqual([{ status: "queued" }, { status: "queued" }]);
});

test("their jobs continue and end", async () => {
  const { stack, s3 } = bed;
  s3.decide(undefined);
  await stack.ingresses[0]?.restart();
  bed.fal.next({ polls: ["COMPLETED"], result: bed.gallery.result("first") });
  await bed.addWorker(["chat", "workflow", "image"]);
  await eventually("the runs and the picture are there", async () => {
    const rows = await stack.query("select status as state from run union all select state from job");
    return rows.every(({ state }) => state === "succeeded" || state === "completed");
  });
  await stack.settled();
  expect(await auditLedger({ query: stack.query })).toEqual([]);
}, 60_000);
