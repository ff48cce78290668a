/** A batch line that its spend limits refuse while other lines run is not stored before the limits leave enough for it. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { BatchContext } from "#ingress/routes/batches/context.ts";
import { type Fed, feedLines } from "#ingress/routes/batches/feed.ts";
import { targetOf } from "#ingress/routes/batches/read-line.ts";
import { validateBatch } from "#ingress/routes/batches/validate.ts";
import { newId } from "#shared/base/ids.ts";
import { leadBatch, takeLines } from "#shared/database/batch-work.ts";
import { insertBatch } from "#shared/database/batches.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { createCallAdmission } from "#shared/ledger/call-admission.ts";
import { repeatSpendChange, setSpendLimit } from "#shared/ledger/spend-limits.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { type MediaProbes, openMediaProbes } from "#shared/media/media-probes.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { type FileBench, log, openFileBench, storeFile } from "#tests/shared/files/bench.ts";
import { wav } from "#tests/support/hostile-files/sounds.ts";

const CHAT = "/v1/chat/completions";
const CREDIT = 1_000_000_000n;

let bench: FileBench;
let workspace: Workspace;
let metrics: Metrics;
let probes: MediaProbes;
beforeAll(async () => {
  bench = await openFileBench();
  workspace = await createWorkspace(bench.db, { creditsNano: 1_000n * CREDIT });
  metrics = createMetrics("test");
  probes = openMediaProbes();
}, 60_000);
afterAll(async () => {
  metrics?.close();
  await probes?.close();
  await bench?.close();
});

const TRANSCRIPTIONS = "/v1/audio/transcriptions";
const CATALOGUE = build([
  BASE.replace("max_context_tokens: 1000", "max_context_tokens: 10000000"),
  `
models:
  - slug: ear
    modality: stt
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_minute, minute_price: "60" }
    sources: [{ provider: play, model: sandbox-transcribe }]
`,
]);
const HEAVY_CHAT = { model: "one", max_tokens: 1, messages: [{ role: "user", content: "x".repeat(300_000) }] };

/** Leads a batch of one line, and returns functions that feed the line and count its admissions. */
async function lead(endpoint: string, body: object, maxNano: bigint) {
  const { database } = bench.db;
  const target = targetOf(endpoint);
  if (!target) throw new Error("no such endpoint");
  const text = JSON.stringify({ custom_id: "heavy", method: "POST", url: endpoint, body });
  const id = newId();
  await insertBatch(database, {
    id,
    workspace_id: workspace.id,
    key_id: workspace.keyId,
    fingerprint: null,
    repeatId: null,
    endpoint,
    input_file_id: await storeFile(bench.uploads, workspace.id, Buffer.from(text)),
    metadata: null,
    output_expires_s: null,
    maxNano,
    windowMs: 60_000,
  });
  const batch = await leadBatch(database, 60_000, 100);
  if (batch?.id !== id) throw new Error("another batch is led");
  const config = { storageBytesMax: 10 ** 12, batchPriceMillionths: 500_000 };
  await validateBatch({ ...bench, database, metrics, config }, batch, target, () => true);
  const lines = (await takeLines(database, batch, 64)) ?? [];
  const jobs = createJobAdmission({ database });
  const at = { admissions: 0, beforeAdmission: () => Promise.resolve() };
  const context = {
    ...bench,
    database,
    metrics,
    log,
    config,
    probes,
    catalogue: { current: () => CATALOGUE },
    calls: createCallAdmission({ database, log, ledger: { undo: () => undefined } }),
    dispatcher: { send: () => Promise.resolve() },
    publishers: {
      find: () =>
        Promise.resolve({
          workspaceId: workspace.id,
          keyId: workspace.keyId,
          role: "owner",
          preset: { requests_per_minute: null, daily_tokens: null },
        }),
    },
    jobs: {
      ...jobs,
      async admit(...request: Parameters<typeof jobs.admit>) {
        at.admissions += 1;
        await at.beforeAdmission();
        return jobs.admit(...request);
      },
    },
    takePermit: () => () => Promise.resolve(() => undefined),
  } as unknown as BatchContext;
  const feed = async (): Promise<readonly Fed[]> => {
    const fed: Fed[] = [];
    await feedLines(context, lines, {
      batch,
      target,
      othersRun: true,
      onFed: (_line, one) => Promise.resolve(void fed.push(one)),
    });
    return fed;
  };
  const leave = (nano: bigint): Promise<void> =>
    repeatSpendChange(() =>
      database.transaction((tx) =>
        setSpendLimit(tx, workspace.id, { id: batch.limit_id ?? "", kind: "batch", credits: { total: nano } }),
      ),
    );
  return { at, feed, leave };
}

const WAITS = [{ kind: "full" }];

test("a heavy line waits without an admission until max_credits of its batch leaves enough", async () => {
  const { at, feed, leave } = await lead(CHAT, HEAVY_CHAT, 1n);
  expect(await feed()).toMatchObject(WAITS);
  expect(await feed()).toMatchObject(WAITS);
  expect(at.admissions).toBe(0);
  await leave(500n * CREDIT);
  expect(await feed()).toEqual([{ kind: "admitted" }]);
  expect(at.admissions).toBe(1);
});

test("a heavy line that lost a race for the credits is admitted once the same amount is left again", async () => {
  const { at, feed, leave } = await lead(CHAT, HEAVY_CHAT, 500n * CREDIT);
  at.beforeAdmission = () => leave(1n);
  expect(await feed()).toMatchObject(WAITS);
  at.beforeAdmission = () => Promise.resolve();
  await leave(500n * CREDIT);
  expect(await feed()).toEqual([{ kind: "admitted" }]);
  expect(at.admissions).toBe(2);
});

test("a recording is not stored again until its limits leave what its length costs", async () => {
  const audio = wav({ bits: 8 }, Buffer.alloc(80_000, 0x80)).toString("base64");
  // Ten seconds cost 5 credits in a batch.
  const { at, feed, leave } = await lead(TRANSCRIPTIONS, { model: "ear", audio_base64: audio }, 5n * CREDIT - 1n);
  expect(await feed()).toMatchObject(WAITS);
  expect(await feed()).toMatchObject(WAITS);
  expect(at.admissions).toBe(1);
  await leave(5n * CREDIT);
  expect(await feed()).toEqual([{ kind: "admitted" }]);
  expect(at.admissions).toBe(2);
});
