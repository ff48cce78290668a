/** A batch line that its spend limits refuse while other lines run is not stored before the limits leave enough for it. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { BatchContext } from "#ingress/routes/batches/context.ts";
import { type Fed, feedLines } from "#ingress/routes/batches/feed.ts";
import { targetOf } from "#ingress/routes/batches/read-line.ts";
import { validateBatch } from "#ingress/routes/batches/validate.ts";
import { newId } from "#shared/base/ids.ts";
import { leadBatch, takeLines } from "#shared/database/batch-work.ts";
import { type BatchRow, insertBatch } from "#shared/database/batches.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { createCallAdmission } from "#shared/ledger/call-admission.ts";
import { repeatSpendChange, setSpendLimit } from "#shared/ledger/spend-limits.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { type FileBench, log, openFileBench, storeFile } from "#tests/shared/files/bench.ts";

const CHAT = "/v1/chat/completions";
const CREDIT = 1_000_000_000n;

let bench: FileBench;
let workspace: Workspace;
let metrics: Metrics;
beforeAll(async () => {
  bench = await openFileBench();
  workspace = await createWorkspace(bench.db, { creditsNano: 1_000n * CREDIT });
  metrics = createMetrics("test");
}, 60_000);
afterAll(async () => {
  metrics?.close();
  await bench?.close();
});

/** Leads a batch of one line whose request is too large for a row. */
async function lead(maxNano: bigint): Promise<BatchRow> {
  const body = { model: "one", max_tokens: 1, messages: [{ role: "user", content: "x".repeat(300_000) }] };
  const text = JSON.stringify({ custom_id: "heavy", method: "POST", url: CHAT, body });
  const id = newId();
  await insertBatch(bench.db.database, {
    id,
    workspace_id: workspace.id,
    key_id: workspace.keyId,
    fingerprint: null,
    repeatId: null,
    endpoint: CHAT,
    input_file_id: await storeFile(bench.uploads, workspace.id, Buffer.from(text)),
    metadata: null,
    output_expires_s: null,
    maxNano,
    windowMs: 60_000,
  });
  const batch = await leadBatch(bench.db.database, 60_000, 100);
  if (batch?.id !== id) throw new Error("another batch is led");
  return batch;
}

test("a heavy line waits without an admission until max_credits of its batch leaves enough", async () => {
  const { database } = bench.db;
  const batch = await lead(1n);
  const target = targetOf(CHAT);
  if (!target) throw new Error("no such endpoint");
  const config = { storageBytesMax: 10 ** 12, batchPriceMillionths: 500_000 };
  await validateBatch({ ...bench, database, metrics, config }, batch, target, () => true);
  const lines = (await takeLines(database, batch, 64)) ?? [];
  const jobs = createJobAdmission({ database });
  let admissions = 0;
  const context = {
    ...bench,
    database,
    metrics,
    log,
    config,
    catalogue: { current: () => build([BASE.replace("max_context_tokens: 1000", "max_context_tokens: 10000000")]) },
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
      admit: (...request: Parameters<typeof jobs.admit>) => {
        admissions += 1;
        return jobs.admit(...request);
      },
    },
    takePermit: () => () => Promise.resolve(() => undefined),
  } as unknown as BatchContext;
  const feed = async (othersRun: boolean): Promise<readonly Fed[]> => {
    const fed: Fed[] = [];
    await feedLines(context, lines, {
      batch,
      target,
      othersRun,
      onFed: (_line, one) => Promise.resolve(void fed.push(one)),
    });
    return fed;
  };

  expect(await feed(true)).toMatchObject([{ kind: "full" }]);
  expect(await feed(true)).toMatchObject([{ kind: "full" }]);
  expect(admissions).toBe(0);
  await repeatSpendChange(() =>
    database.transaction((tx) =>
      setSpendLimit(tx, workspace.id, { id: batch.limit_id ?? "", kind: "batch", credits: { total: 500n * CREDIT } }),
    ),
  );
  expect(await feed(true)).toEqual([{ kind: "admitted" }]);
  expect(admissions).toBe(1);
});
