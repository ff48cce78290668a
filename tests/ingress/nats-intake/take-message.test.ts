/** One batch message over real Postgres and S3: come again, brought twice, or with a recording that nothing can be made of. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import {
  addressOf,
  type BatchArrival,
  type BatchContext,
  publisherOf,
  takeMessage,
  INTAKE_LARGE_MAX,
} from "#ingress/nats-intake/admit.ts";
import { type Caller, openPublishers } from "#shared/access/authenticate.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";
import { createCallAdmission } from "#shared/ledger/call-admission.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { loadCatalogue, loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { readClaim } from "#shared/storage/claim-check.ts";
import { listObjects } from "#shared/storage/objects.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { wavOf } from "#tests/providers/fal/clips.ts";
import { type FileBench, log, openFileBench } from "#tests/shared/files/bench.ts";
import { JOB_TEXT_BYTES_MAX } from "#shared/jobs/result.ts";
import { RUN_INPUT_TEXT_BYTES_MAX } from "#shared/workflows/begin-run.ts";
import { ACTIVE_RUNS_MAX } from "#shared/database/runs.ts";

const CREDIT = 1_000_000_000n;

let bench: FileBench;
let catalogue: Catalogue;
let context: BatchContext;
let looks = 0;
/** Each question about a key comes a cache life after the one before. */
let looksAt = 0;
let lookFault: Error | undefined;
/** Each look waits for it. */
let gate: Promise<void> | undefined;

beforeAll(async () => {
  bench = await openFileBench();
  const ours = await loadCatalogue(await loadOurLayers(), [], { sandbox: true, providerKey: () => "key" });
  const unlimited = ours.presets.get("unlimited");
  if (!unlimited) throw new Error("there is no preset without limits");
  const presets = new Map(ours.presets).set("none", { ...unlimited, requests_per_minute: 0 });
  catalogue = { ...ours, presets: presets.set("one", { ...unlimited, requests_per_minute: 1 }) };
  const { database } = bench.db;
  context = {
    catalogue: { current: () => catalogue },
    config: { storageBytesMax: 1_000_000_000 },
    calls: createCallAdmission({ database, log, ledger: { undo: () => undefined } }),
    jobs: createJobAdmission({ database }),
    database,
    publishers: openPublishers({
      database,
      catalogue: { current: () => catalogue },
      now: () => (looksAt += KEY_CACHE_MS),
    }),
    storage: bench.storage,
    log,
    probes: {
      async audio() {
        looks += 1;
        await gate;
        if (lookFault) throw lookFault;
        return { format: "wav", seconds: 2 };
      },
    },
  } as unknown as BatchContext;
}, 120_000);
afterAll(() => bench.close());

const CHAT = { body: { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] } };
const DICTATION = {
  endpoint: "/v1/audio/transcriptions",
  body: { model: "sandbox-stt", audio_base64: wavOf(2).toString("base64"), mime_type: "audio/wav" },
};

let places = 0;
function arrival(caller: Caller, message: object, more: Partial<BatchArrival> = {}): BatchArrival {
  places += 1;
  return {
    pool: "endpoint" in message ? "audio" : "chat",
    caller,
    key: "",
    place: `${places}:1`,
    reply: null,
    data: Buffer.from(JSON.stringify(message)),
    tags: "",
    deliveries: 1,
    starves: false,
    ...more,
  };
}

/** The caller of a workspace of its own. */
const own = async (creditsNano = 1_000n * CREDIT, preset = "unlimited"): Promise<Caller> => {
  const { id, keyId } = await createWorkspace(bench.db, { creditsNano, preset });
  return publisherOf(context, { workspaceId: id, keyId });
};
/** Keys of the objects of one message: those of others may go at any time. */
const objectsOf = async (one: BatchArrival): Promise<string[]> =>
  (await listObjects(bench.storage, `claims/${addressOf(one).id}`, undefined, 1_000)).objects.map(({ key }) => key);

describe("a redelivered message of an admitted job", () => {
  test.each(["", "mine"])("is answered and no longer waits (key %j)", async (key) => {
    const caller = await own();
    const one = arrival(caller, CHAT, { key });
    expect(await takeMessage(context, one)).toMatchObject({ kind: "answered", outcome: "queued" });
    const again = await takeMessage(context, { ...one, deliveries: 2 });
    expect(again).toMatchObject({ kind: "answered", outcome: "repeated", jobReply: { status: "queued" } });
    expect(again).not.toHaveProperty("dispatch");
    expect(await bench.db.query("select 1 from hold where workspace_id = $1", [caller.workspaceId])).toHaveLength(1);
  });

  test("is not inspected or stored again", async () => {
    const caller = await own();
    const one = arrival(caller, DICTATION, { key: "mine" });
    expect(await takeMessage(context, one)).toMatchObject({ outcome: "queued" });
    const [before, stored] = [looks, await objectsOf(one)];
    expect(stored).toHaveLength(1);
    const repeat = arrival(caller, DICTATION, { key: "mine" });
    expect(await takeMessage(context, repeat)).toMatchObject({ outcome: "repeated" });
    expect([looks, await objectsOf(one)]).toEqual([before, stored]);
  });
});

describe("a recording", () => {
  test.each([
    ["whose window is full waits", 1_000n * CREDIT, "none", { kind: "full", isWindow: true }],
    ["whose funds are missing is refused", 0n, "unlimited", { outcome: "refused", jobReply: { error: { code: "insufficient_credits" } } }], // prettier-ignore
  ])("%s, and is not processed", async (_name, credits, preset, outcome) => {
    const caller = await own(credits, preset);
    const before = looks;
    const one = arrival(caller, DICTATION, { key: "mine" });
    expect(await takeMessage(context, one)).toMatchObject(outcome);
    expect([looks, await objectsOf(one)]).toEqual([before, []]);
  });

  test.each([
    ["ends", new MediaError("failed", "the child ended")],
    ["outlasts", new MediaError("timeout", "too slow")],
  ])("that %s each inspection is inspected again, and finally rejected", async (_what, fault) => {
    const caller = await own();
    lookFault = fault;
    try {
      const one = arrival(caller, DICTATION, { key: "mine" });
      expect(await takeMessage(context, one).catch((error: unknown) => error)).toBeInstanceOf(Error);
      const last = await takeMessage(context, { ...one, deliveries: 8 });
      expect(last).toMatchObject({ outcome: "refused", jobReply: { error: { code: "unprocessable_input" } } });
    } finally {
      lookFault = undefined;
    }
  });

  test("waits if its workspace has many in progress, and another's does not", async () => {
    const [caller, other] = [await own(), await own()];
    const open = Promise.withResolvers<void>();
    gate = open.promise;
    const started = performance.now() + 20_000;
    let waiting = 0;
    const many = Array.from({ length: 12 }, async () => {
      const taken = await takeMessage(context, arrival(caller, DICTATION));
      if (taken.kind === "full" && !taken.isWindow) waiting += 1;
    });
    // Half of what is taken at once is one workspace's.
    const areWaiting = (): boolean => waiting >= 12 - INTAKE_LARGE_MAX / 2;
    while (!areWaiting() && performance.now() < started) await Bun.sleep(5);
    const neighbour = takeMessage(context, arrival(other, DICTATION));
    open.resolve();
    await Promise.all(many);
    gate = undefined;
    expect(waiting).toBe(12 - INTAKE_LARGE_MAX / 2);
    expect(await neighbour).toMatchObject({ outcome: "queued" });
  });
});

describe("two messages under one key with different large bodies", () => {
  test("do not overwrite each other: the admitted one is complete", async () => {
    const caller = await own();
    const large = (letter: string) => ({
      body: { ...CHAT.body, user: letter, metadata: { text: letter.repeat(JOB_TEXT_BYTES_MAX) } },
    });
    const taken = await Promise.all(
      ["a", "b", "c"].map((letter) => takeMessage(context, arrival(caller, large(letter), { key: "mine" }))),
    );
    const outcomes = taken.map((one) => (one.kind === "answered" ? one.outcome : one.kind));
    expect(outcomes.toSorted()).toEqual(["queued", "refused", "refused"]);
    const [row] = await bench.db.query<{ request_ref: string; letter: string }>(
      "select request_ref from job where workspace_id = $1",
      [caller.workspaceId],
    );
    const letter = ["a", "b", "c"][outcomes.indexOf("queued")];
    expect(JSON.parse(await readClaim(bench.storage, row?.request_ref ?? ""))).toMatchObject({ user: letter });
  });
});

test("a large message that is rejected at admission leaves nothing in the object store", async () => {
  const caller = await own(0n);
  const body = { ...CHAT.body, metadata: { text: "x".repeat(JOB_TEXT_BYTES_MAX) } };
  // One that starves is stored without a look at window and funds.
  const one = arrival(caller, { body }, { key: "mine", starves: true });
  const refused = { outcome: "refused", jobReply: { error: { code: "insufficient_credits" } } };
  expect(await takeMessage(context, one)).toMatchObject(refused);
  await eventually("it is deleted", async () => (await objectsOf(one)).length === 0, 5_000);
});

test("a body equals one with its default endpoint written out", async () => {
  const caller = await own();
  await takeMessage(context, arrival(caller, CHAT, { key: newId() }));
  await takeMessage(context, arrival(caller, CHAT, { key: "mine" }));
  const written = arrival(caller, { endpoint: "/v1/chat/completions", ...CHAT }, { key: "mine", pool: "chat" });
  expect(await takeMessage(context, written)).toMatchObject({ outcome: "repeated" });
});

describe("a message for a run", () => {
  const RUNS = "/v1/workflows/{id}/runs";

  interface Own {
    readonly caller: Caller;
    readonly workspaceId: string;
    readonly message: (input?: object) => object;
  }
  async function ownWorkflow(preset?: string): Promise<Own> {
    const caller = await own(1_000n * CREDIT, preset);
    const workflow = newId();
    await bench.db.query(
      `with made as (
         insert into workflow (id, workspace_id, name, created_by)
         select $1, workspace_id, 'w', id from member where workspace_id = $2 returning created_by)
       insert into workflow_version (workflow_id, version, definition, created_by) select $1, 1, $3, created_by from made`,
      [workflow, caller.workspaceId, JSON.stringify({ inputs: { text: { type: "string" } }, steps: [] })],
    );
    return {
      caller,
      workspaceId: caller.workspaceId,
      message: (input) => ({ endpoint: RUNS, workflow, body: { input } }),
    };
  }
  const toRun = (of: Own, input?: object, more: Partial<BatchArrival> = {}) =>
    arrival(of.caller, of.message(input), { pool: "workflow", key: "mine", ...more });
  const kept = async (workspaceId: string) => {
    const [row] = await bench.db.query(
      `select (select count(*) from run where workspace_id = $1)::int as runs, (select count(*) from job where workspace_id = $1)::int as jobs,
         (select calls from rate_window where workspace_id = $1)::int as calls`,
      [workspaceId],
    );
    return row;
  };
  const inputsOf = async (one: BatchArrival): Promise<readonly unknown[]> =>
    (await listObjects(bench.storage, `run-inputs/${addressOf(one).id}`, undefined, 1_000)).objects;
  const LARGE = { text: "x".repeat(RUN_INPUT_TEXT_BYTES_MAX) };

  test("starts it and counts once, for repeated and concurrent deliveries", async () => {
    const of = await ownWorkflow();
    const all = Array.from({ length: 8 }, () => takeMessage(context, toRun(of, LARGE)));
    const outcomes = (await Promise.all(all)).map((one) => (one.kind === "answered" ? one.outcome : one.kind));
    expect(outcomes.toSorted()).toEqual(["queued", ...Array<"repeated">(7).fill("repeated")]);
    expect(await kept(of.workspaceId)).toEqual({ runs: 1, jobs: 0, calls: 1 });
    expect(await inputsOf(toRun(of))).toHaveLength(1);
    expect(await takeMessage(context, toRun(of, { text: "other" }))).toMatchObject({
      jobReply: { error: { code: "idempotency_key_reused" } },
    });
  });

  test("over a full window waits uncounted, and leaves nothing", async () => {
    const of = await ownWorkflow("none");
    expect(await takeMessage(context, toRun(of, LARGE))).toMatchObject({ kind: "full", isWindow: true });
    expect(await kept(of.workspaceId)).toEqual({ runs: 0, jobs: 0, calls: 0 });
    expect(await inputsOf(toRun(of))).toEqual([]);
  });

  test("that starves over a full window gets a reserved share of it, and starts", async () => {
    const of = await ownWorkflow("one");
    expect(await takeMessage(context, toRun(of, undefined, { key: "first" }))).toMatchObject({ outcome: "queued" });
    const starving = toRun(of, undefined, { starves: true });
    expect(await takeMessage(context, starving)).toMatchObject({ kind: "full", isWindow: true });
    const ready = "update window_share set ready_ms = at_ms - 1 where workspace_id = $1 and calls_left > 0 returning 1";
    expect(await bench.db.query(ready, [of.workspaceId])).toHaveLength(1);
    expect(await takeMessage(context, starving)).toMatchObject({ outcome: "queued", isRun: true, foundOpen: false });
    expect(await takeMessage(context, toRun(of, undefined, { key: "next", starves: true }))).toMatchObject({
      kind: "full",
    });
  });

  test("waits uncounted while its workspace has its maximum of open runs, and leaves nothing", async () => {
    const of = await ownWorkflow();
    await bench.db.query(
      `insert into run (id, workspace_id, key_id, member_id, definition, mode, lane, max_attempts)
       select gen_random_uuid(), workspace_id, id, id, '{}', 'async', 'batch', 1 from member, generate_series(1, $2::int) where workspace_id = $1`,
      [of.workspaceId, ACTIVE_RUNS_MAX],
    );
    expect(await takeMessage(context, toRun(of, LARGE))).toMatchObject({ kind: "full", isWindow: false });
    expect(await kept(of.workspaceId)).toEqual({ runs: ACTIVE_RUNS_MAX, jobs: 0, calls: 0 });
    expect(await inputsOf(toRun(of))).toEqual([]);
    // What its key was answered before is known meanwhile.
    const refused = { status: "refused", error: { code: "idempotency_key_reused" } };
    expect(await takeMessage(context, arrival(of.caller, CHAT, { key: "used" }))).toMatchObject({
      outcome: "queued",
    });
    expect(await takeMessage(context, toRun(of, LARGE, { key: "used" }))).toMatchObject({ jobReply: refused });
  });

  test("of a workspace without storage is rejected and counted once, with the same answer after the recovery", async () => {
    const of = await ownWorkflow();
    const refusal = { outcome: "refused", jobReply: { error: { code: "storage_limit_exceeded" } } };
    expect(await takeMessage({ ...context, config: { ...context.config, storageBytesMax: 1 } }, toRun(of))).toMatchObject(refusal); // prettier-ignore
    expect(await kept(of.workspaceId)).toEqual({ runs: 0, jobs: 1, calls: 1 });
    expect(await takeMessage(context, toRun(of))).toMatchObject({
      outcome: "repeated",
      jobReply: { status: "refused" },
    });
    expect(await kept(of.workspaceId)).toEqual({ runs: 0, jobs: 1, calls: 1 });
  });

  test("and one for a job under its key at the same time: one of the two is accepted", async () => {
    const of = await ownWorkflow();
    for (let round = 0; round < 20; round += 1) {
      const key = newId();
      const chat = arrival(of.caller, CHAT, { key });
      const both = [toRun(of, undefined, { key }), chat].map((one) => takeMessage(context, one));
      const outcomes = (await Promise.all(both)).map((one) => (one.kind === "answered" ? one.outcome : one.kind));
      expect(outcomes.toSorted()).toEqual(["queued", "refused"]);
    }
    const counted = (await kept(of.workspaceId)) as { runs: number; jobs: number; calls: number };
    expect([counted.runs + counted.jobs, counted.calls]).toEqual([20, 20]);
    expect(await bench.db.query("select job_id from hold where workspace_id = $1", [of.workspaceId])).toHaveLength(
      counted.jobs,
    );
  });
});
