/** The batch door, whole: published over NATS, admitted, run, stored, told. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { jetstreamManager } from "@nats-io/jetstream";

import type { BatchAnswer, Job } from "#schemas/generated/types.ts";
import { dropEndedJobs } from "#shared/database/job-sweeps.ts";
import { newId } from "#shared/base/ids.ts";
import { BATCH_STREAM, cancelSubject } from "#shared/queue/subjects.ts";
import { ask, type Bed, createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { metric } from "#tests/faults/metric.ts";
import { openPublisher, type Publisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";

import { sharedBed } from "./shared-bed.ts";

const CREDIT = 1_000_000_000n;

let bed: Bed;
let workspace: Workspace;
let other: Workspace;
let publisher: Publisher;
let otherPublisher: Publisher;

beforeAll(async () => {
  bed = await sharedBed();
  workspace = await createWorkspace(bed.stack, { creditsNano: 1_000n * CREDIT });
  other = await createWorkspace(bed.stack, { creditsNano: 1_000n * CREDIT });
  publisher = await openPublisher(bed.stack.natsUrl, workspace);
  otherPublisher = await openPublisher(bed.stack.natsUrl, other);
}, 120_000);
afterAll(async () => {
  await publisher?.close();
  await otherPublisher?.close();
});

async function getJob(id: string, key = workspace.key): Promise<{ status: number; body: Job & { error?: object } }> {
  const response = await fetch(`${bed.stack.baseUrls[0]}/v1/images/jobs/${id}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: response.status, body: (await response.json()) as Job };
}

const usageOf = (id: string) => bed.stack.query("select status, settled from usage_record where job_id = $1", [id]);

describe("a published request", () => {
  test("is accepted, run, stored and answered", async () => {
    const key = newId();
    const accepted = await publisher.submit({ body: ask("flat") }, { key });
    expect(accepted).toEqual({ key, job_id: accepted.job_id, status: "queued" });
    const ended = await publisher.ended(key);
    expect(ended).toMatchObject({ key, job_id: accepted.job_id, status: "completed", credits_used: 1 });
    expect(ended.result).toMatchObject({ object: "chat.completion", model: "flat", usage: { credits: 1 } });
    const { status, body } = await getJob(accepted.job_id);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: accepted.job_id,
      object: "job",
      modality: "text",
      status: "completed",
      progress: 1,
      model: "flat",
      credits_used: 1,
      data: [ended.result],
    });
    expect(body.created).toBeLessThanOrEqual(body.started ?? 0);
    expect(body.started).toBeLessThanOrEqual(body.completed ?? 0);
  });

  test("keeps integers beyond the safe range, like a call over HTTP", async () => {
    const seed = "9007199254740993";
    const exact = (JSON as unknown as { rawJSON(text: string): number }).rawJSON(seed);
    const before = bed.upstream.requests.length;
    const key = newId();
    await publisher.publish({ body: ask("flat", { seed: exact }) }, { key });
    expect((await publisher.ended(key)).status).toBe("completed");
    expect((await bed.client.chat(bed.target(), ask("flat", { seed: exact }))).status).toBe(200);
    const bodies = bed.upstream.requests.slice(before).map(({ bytes }) => bytes.toString());
    expect(bodies).toEqual([1, 2].map(() => expect.stringContaining(`"seed":${seed}`) as string));
  });

  test("repeated under its key is the same job: one hold, one provider call, one settlement", async () => {
    const before = bed.upstream.requests.length;
    const key = newId();
    await Promise.all([1, 2, 3].map(() => publisher.publish({ body: ask("flat") }, { key })));
    const { job_id } = await publisher.ended(key);
    const again = await publisher.submit({ body: ask("flat") }, { key });
    expect(again).toMatchObject({ key, job_id, status: "completed", credits_used: 1 });
    expect(again.result).toMatchObject({ object: "chat.completion" });
    expect(new Set(publisher.answers.filter((answer) => answer.key === key).map((answer) => answer.job_id)).size).toBe(
      1,
    );
    expect(await usageOf(job_id)).toEqual([{ status: "succeeded", settled: CREDIT }]);
    expect(bed.upstream.requests.length - before).toBe(1);
  });

  test("repeated under its key after its job was deleted is run and charged again, and answered", async () => {
    const before = bed.upstream.requests.length;
    const key = newId();
    const { job_id: id } = await publisher.submit({ body: ask("flat") }, { key });
    await publisher.ended(key);
    await bed.stack.query("update job set ended_at = ended_at - interval '1 year' where id = $1", [id]);
    const dropped = await dropEndedJobs({ query: bed.stack.query }, 86_400_000, 10);
    expect(dropped.map((job) => job.id)).toEqual([id]);
    expect(await publisher.submit({ body: ask("flat") }, { key })).toMatchObject({ job_id: id, status: "queued" });
    const completed = (): BatchAnswer[] =>
      publisher.answers.filter((answer) => answer.key === key && answer.status === "completed");
    await eventually("it ends twice", () => completed().length === 2);
    expect(completed().map(({ credits_used }) => credits_used)).toEqual([1, 1]);
    expect(await usageOf(id)).toEqual([1, 2].map(() => ({ status: "succeeded", settled: CREDIT })));
    expect(bed.upstream.requests.length - before).toBe(2);
    expect((await getJob(id)).body).toMatchObject({ status: "completed", credits_used: 1 });
  });

  test("without a key creates a new job each time", async () => {
    await publisher.publish({ body: ask("flat") });
    await publisher.publish({ body: ask("flat") });
    const ended = await eventually("both end", () => {
      const answers = publisher.answers.filter(({ key, status }) => key === null && status === "completed");
      return answers.length >= 2 && answers;
    });
    expect(new Set(ended.map(({ job_id }) => job_id)).size).toBe(2);
  });

  test("under the same key in two workspaces creates two separate jobs", async () => {
    const key = newId();
    const [mine, theirs] = await Promise.all([
      publisher.submit({ body: ask("flat") }, { key }),
      otherPublisher.submit({ body: ask("flat") }, { key }),
    ]);
    expect(mine.job_id).not.toBe(theirs.job_id);
    await Promise.all([publisher.ended(key), otherPublisher.ended(key)]);
    const [foreign, none] = [await getJob(theirs.job_id), await getJob(newId())];
    expect(foreign).toEqual(none);
    expect(foreign.status).toBe(404);
    expect(foreign.body.error).toMatchObject({ code: "job_not_found" });
    expect((await getJob(theirs.job_id, other.key)).status).toBe(200);
    expect((await getJob("no-uuid")).body).toEqual(none.body);
  });

  test("under the same Nats-Msg-Id in two workspaces gets both their jobs", async () => {
    const messageId = newId();
    const keys = [newId(), newId()] as const;
    const sides = [publisher, otherPublisher] as const;
    // A publisher repeats until it is answered; the first message may swallow the second for a tenth of a second.
    const accepted = await Promise.all(
      sides.map((side, at) =>
        eventually("an answer", async () => {
          const key = keys[at] ?? "";
          await side.publish({ body: ask("flat") }, { key, messageId });
          await Bun.sleep(120);
          return side.answers.find((answer) => answer.key === key);
        }),
      ),
    );
    await Promise.all(sides.map((side, at) => side.ended(keys[at] ?? "")));
    for (const { job_id } of accepted) expect(await usageOf(job_id)).toHaveLength(1);
  });

  test("with a large request and result uses the object store, and returns them complete", async () => {
    const key = newId();
    const content = `say hello there ${"x".repeat(200_000)}`;
    await publisher.submit({ body: { model: "mock-tokens-20000", messages: [{ role: "user", content }] } }, { key });
    const { job_id, result } = await publisher.ended(key);
    const [row] = await bed.stack.query("select result, result_ref is not null as stored, request from job where id = $1", [job_id]); // prettier-ignore
    expect(row).toEqual({ result: null, stored: true, request: null });
    expect(JSON.stringify(result).length).toBeGreaterThan(64 * 1024);
    expect((await getJob(job_id)).body.data).toEqual([{ ...result }]);
    expect(JSON.stringify(bed.upstream.requests.at(-1)?.body)).toContain("x".repeat(200_000));
  });

  test("that the provider fails ends as failed, with the error and nothing charged", async () => {
    const key = newId();
    const { job_id } = await publisher.submit({ body: ask("mock-unauthorized") }, { key });
    expect(await publisher.ended(key)).toMatchObject({
      status: "failed",
      error: { code: "model_unavailable", type: "server_error", param: null },
      credits_used: 0,
    });
    expect((await getJob(job_id)).body).toMatchObject({
      status: "failed",
      progress: 0,
      error: { code: "model_unavailable" },
    });
    expect(await usageOf(job_id)).toEqual([{ status: "failed", settled: 0n }]);
  });

  test("that a busy provider delays is retried, without a notice to its publisher", async () => {
    const key = newId();
    const { job_id } = await publisher.submit({ body: ask("mock-rate-limit") }, { key });
    await eventually("it was tried", async () => {
      const rows = await bed.stack.query("select 1 from job where id = $1 and state = 'queued' and deferrals > 0", [job_id]); // prettier-ignore
      return rows.length === 1;
    });
    expect((await getJob(job_id)).body).toMatchObject({ status: "queued", progress: 0 });
    expect(publisher.answers.filter((answer) => answer.key === key)).toHaveLength(1);
    await bed.stack.query("update job set cancel_requested = true where id = $1", [job_id]);
    expect(await publisher.ended(key)).toMatchObject({ status: "cancelled", credits_used: 0 });
    expect(await usageOf(job_id)).toEqual([{ status: "cancelled", settled: 0n }]);
  }, 30_000);

  test("for embeddings is validated and run as embeddings", async () => {
    const answer = await publisher.submit({ endpoint: "/v1/embeddings", body: { model: "flat", input: "a" } });
    expect(answer).toMatchObject({ status: "refused", error: { code: "model_not_supported", param: "model" } });
  });

  test("cancelled while it runs aborts the provider call and charges nothing", async () => {
    const key = newId();
    const before = bed.upstream.requests.length;
    const { job_id } = await publisher.submit({ body: ask("mock-delay-60000") }, { key });
    const call = await bed.upstream.received(before + 1);
    await bed.stack.query("update job set cancel_requested = true where id = $1", [job_id]);
    expect(await publisher.ended(key)).toMatchObject({ status: "cancelled", credits_used: 0 });
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
    expect(await usageOf(job_id)).toEqual([{ status: "cancelled", settled: 0n }]);
  }, 30_000);
});

describe("a rejected request", () => {
  test.each<[string, object, object]>([
    ["without a body", {}, { code: "missing_required_parameter", param: "body" }],
    ["for an unknown endpoint", { endpoint: "/v1/x", body: {} }, { code: "unsupported_value", param: "endpoint" }],
    [
      "with a limit beside its body",
      { max_credits: 1, body: ask("flat") },
      { code: "unknown_parameter", param: "max_credits" },
    ],
    ["without messages", { body: { model: "flat" } }, { code: "missing_required_parameter", param: "messages" }],
    ["for an unknown model", { body: ask("no-such-model") }, { code: "model_not_found", param: "model" }],
    ["that streams", { body: ask("flat", { stream: true }) }, { code: "unsupported_value", param: "stream" }],
    [
      "nested too deep",
      { body: { a: JSON.parse("[".repeat(70) + "]".repeat(70)) as unknown } },
      { code: "invalid_json" },
    ],
    [
      "beyond what the model has a price for",
      { body: ask("flat", { max_tokens: 10 ** 9, service_tier: "priority" }) },
      { code: "unsupported_value", param: "service_tier" },
    ],
  ])("%s receives the error of HTTP, and so does the repeat", async (_what, message, error) => {
    const key = newId();
    const first = await publisher.submit(message, { key });
    expect(first).toMatchObject({ key, status: "refused", error });
    expect(await publisher.submit(message, { key })).toEqual(first);
    expect((await getJob(first.job_id)).body).toMatchObject({ status: "failed", model: null, error });
    expect(await usageOf(first.job_id)).toEqual([]);
  });

  test("for missing credits stays rejected under its key after a top-up", async () => {
    const poor = await createWorkspace(bed.stack, { creditsNano: CREDIT / 2n });
    const side = await openPublisher(bed.stack.natsUrl, poor);
    const key = newId();
    const first = await side.submit({ body: ask("flat") }, { key });
    expect(first).toMatchObject({ status: "refused", error: { code: "insufficient_credits", type: "quota_exceeded" } });
    await bed.stack.query("select move_credits($1, 'top_up', $2, $3, null)", [poor.id, CREDIT, newId()]);
    expect(await side.submit({ body: ask("flat") }, { key })).toEqual(first);
    expect(await side.submit({ body: ask("flat") })).toMatchObject({ status: "queued" });
    await side.close();
  });

  test("with an inactive key, or without a workspace, receives the reason", async () => {
    const gone = await createWorkspace(bed.stack, { creditsNano: CREDIT });
    await bed.stack.query("update api_key set revoked_at = now() where id = $1", [gone.keyId]);
    for (const identity of [gone, { id: workspace.id, keyId: other.keyId }, { id: newId(), keyId: newId() }]) {
      const side = await openPublisher(bed.stack.natsUrl, identity);
      expect(await side.submit({ body: ask("flat") })).toMatchObject({
        status: "refused",
        error: { code: "invalid_api_key" },
      });
      await side.close();
    }
  });

  test("with an inactive key is not stored: it leaves no row, and its name stays free", async () => {
    const keyless = await createWorkspace(bed.stack, { creditsNano: 10n * CREDIT });
    const revoke = (at: string) =>
      bed.stack.query(`update api_key set revoked_at = ${at} where id = $1`, [keyless.keyId]);
    await revoke("now()");
    const side = await openPublisher(bed.stack.natsUrl, keyless);
    const keys = Array.from({ length: 20 }, () => newId());
    for (const key of keys) await side.publish({ body: ask("flat") }, { key });
    const answers = await eventually("all are answered", () => side.answers.length === keys.length && side.answers);
    for (const answer of answers)
      expect(answer).toMatchObject({ status: "refused", error: { code: "invalid_api_key" } });
    expect(await bed.stack.query("select 1 from job where workspace_id = $1", [keyless.id])).toEqual([]);
    expect(await bed.stack.query("select calls from rate_window where workspace_id = $1", [keyless.id])).toEqual([
      { calls: 0n },
    ]);
    await revoke("null");
    const [key = ""] = keys;
    expect(await side.submit({ body: ask("flat") }, { key })).toMatchObject({ key, status: "queued" });
    await eventually("it ends", () => side.answers.find((one) => one.key === key && one.status === "completed"));
    await side.close();
  });
});

describe("a hostile publisher", () => {
  test("sends nothing to addresses outside its workspace, and its job still runs", async () => {
    const foreign = [
      `_INBOX.ws.${other.id}.${other.keyId}.x`,
      // Of a colleague's key.
      `_INBOX.ws.${workspace.id}.${newId()}.x`,
      `_INBOX.ws.${workspace.id}.x`,
      "_INBOX.gw.a.b",
      `_INBOX.ws.${workspace.id}.${workspace.keyId}.a b`,
      "cancel.x",
      `work.chat.live.${other.id}`,
    ];
    const heard: string[] = [];
    for (const subject of [`_INBOX.ws.${other.id}.>`, `_INBOX.ws.${workspace.id}.*.x`, "_INBOX.gw.a.b", "cancel.x"]) {
      publisher.connection.subscribe(subject, { callback: (_error, message) => void heard.push(message.subject) });
    }
    const keys = foreign.map(() => newId());
    for (const [at, reply] of foreign.entries()) {
      await publisher.publish({ body: ask("flat") }, { key: keys[at] ?? "", headers: { "Sluice-Reply": reply } });
    }
    for (const key of keys) {
      await eventually("the job is done", async () => {
        const rows = await bed.stack.query("select 1 from job where publisher_key = $1 and state = 'completed' and reply is null", [key]); // prettier-ignore
        return rows.length === 1;
      });
    }
    await publisher.connection.flush();
    expect(heard).toEqual([]);
    const ignored = await Promise.all(bed.stack.processes.map(({ adminUrl }) => metric(adminUrl, "sluice_batch_replies_ignored_total", 'role="ingress"'))); // prettier-ignore
    expect(ignored.reduce((sum, value) => sum + value, 0)).toBe(foreign.length);
  });

  test("cannot cancel a job through its cancel subject, not even as a reply address", async () => {
    const key = newId();
    const before = bed.upstream.requests.length;
    const { job_id } = await otherPublisher.submit({ body: ask("mock-delay-2000") }, { key });
    await bed.upstream.received(before + 1);
    publisher.connection.publish(cancelSubject(job_id));
    publisher.connection.publish(cancelSubject(job_id), '{"stream":"BATCH_IN","seq":1}');
    publisher.connection.publish(
      `batch.chat.${workspace.id}.${workspace.keyId}`,
      JSON.stringify({ body: ask("flat") }),
      {
        reply: cancelSubject(job_id),
      },
    );
    expect(await otherPublisher.ended(key)).toMatchObject({ status: "completed" });
  });

  test("acts for the key in its subject, regardless of its message", async () => {
    const key = newId();
    const body = ask("flat", { workspace_id: other.id, key_id: other.keyId });
    const headers = { "Sluice-Key-Id": other.keyId };
    const { job_id } = await publisher.submit({ body, workspace_id: other.id, job_id: newId() }, { key, headers });
    await publisher.ended(key);
    expect(await bed.stack.query("select workspace_id, key_id from usage_record where job_id = $1", [job_id])).toEqual([
      { workspace_id: workspace.id, key_id: workspace.keyId },
    ]);
  });

  test("with an unknown pool takes no capacity of the stream", async () => {
    await publisher.publish({ body: ask("flat") }, { pool: "nothing" });
    await publisher.submit({ body: ask("flat") });
    const manager = await jetstreamManager(publisher.connection);
    await eventually(
      "the stream is empty",
      async () => (await manager.streams.info(BATCH_STREAM)).state.messages === 0,
    );
  });
});

describe("a full window", () => {
  test("makes a message wait, uncounted and unrefused, until it opens", async () => {
    const slow = await createWorkspace(bed.stack, { creditsNano: 10n * CREDIT, preset: "six" });
    const side = await openPublisher(bed.stack.natsUrl, slow);
    for (let at = 0; at < 3; at++) expect(await side.submit({ body: ask("flat") })).toMatchObject({ status: "queued" });
    // The three calls are nearly a minute old by now.
    await bed.stack.query(
      "update rate_window set last_ms = last_ms - 57000, recent = array(select at - 57000 from unnest(recent) at) where workspace_id = $1",
      [slow.id],
    );
    const key = newId();
    await side.publish({ body: ask("flat") }, { key });
    const manager = await jetstreamManager(side.connection);
    await eventually(
      "it waits",
      async () => (await manager.consumers.info(BATCH_STREAM, "intake")).num_ack_pending === 1,
    );
    const calls = async () => (await bed.stack.query("select calls from rate_window where workspace_id = $1", [slow.id]))[0]; // prettier-ignore
    expect(await calls()).toEqual({ calls: 3n });
    const told = await eventually("it is told", () => {
      const answers = side.answers.filter((answer: BatchAnswer) => answer.key === key);
      return answers.length > 0 && answers;
    });
    expect(told).toEqual([{ key, job_id: expect.any(String), status: "waiting" }]);
    expect(await side.ended(key, 20_000)).toMatchObject({ status: "completed" });
    expect(await calls()).toEqual({ calls: 4n });
    await side.close();
  }, 40_000);

  test("is answered once; repeats get the known answer and take no capacity of the stream", async () => {
    const slow = await createWorkspace(bed.stack, { creditsNano: 10n * CREDIT, preset: "few" });
    const side = await openPublisher(bed.stack.natsUrl, slow);
    const done = newId();
    await side.submit({ body: ask("flat") }, { key: done });
    const ended = await side.ended(done);
    const keys = Array.from({ length: 5 }, () => newId());
    const waiting = { status: "waiting" };
    for (const key of keys) expect(await side.submit({ body: ask("flat") }, { key })).toMatchObject(waiting);
    for (let round = 0; round < 6; round++) {
      for (const key of keys) expect(await side.submit({ body: ask("flat") }, { key })).toMatchObject(waiting);
      expect(await side.submit({ body: ask("flat") }, { key: done })).toEqual(ended);
    }
    // Each ingress may keep the first that it saw, until it has seen that of the other.
    const manager = await jetstreamManager(side.connection);
    const { state } = await manager.streams.info(BATCH_STREAM, { subjects_filter: `batch.chat.${slow.id}.*` });
    expect(Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10);
    const answers = side.answers.filter(({ key }) => key === keys[0]);
    expect(new Set(answers.map(({ job_id }) => job_id)).size).toBe(1);
    expect(answers).toHaveLength(7);
    await manager.streams.purge(BATCH_STREAM, { filter: `batch.chat.${slow.id}.*` });
    await side.close();
  }, 40_000);
});
