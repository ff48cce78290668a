/** Starts the pools named on the command line; stops them without losing a call. */
import { openCatalogue } from "#shared/catalogue/open.ts";
import { openLedger } from "#shared/ledger/finish.ts";
import { LIMITS } from "#shared/limits.ts";
import { LANES, type Pool } from "#shared/queue/subjects.ts";
import { connectNats } from "#shared/queue/connection.ts";
import { keepTopology } from "#shared/queue/topology.ts";
import { type Role, startRole } from "#shared/role.ts";
import { openStorage } from "#shared/storage/client.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import { openCancels } from "./cancels.ts";
import type { WorkerContext } from "./context.ts";
import { createLastingPublisher } from "./lasting-publisher.ts";
import { POOL_TABLE } from "./pools.ts";
import { createProviders } from "./providers/index.ts";
import { startRunner } from "./runner.ts";

/** Settles are repeated this long while the database is away; then the delivery is handed back. */
const FINISH_RETRY_MS = 60_000;

/** @throws Error with one sentence when something the worker needs is not there */
export async function startWorker(pools: readonly Pool[]): Promise<void> {
  const role: Role = await startRole("worker");
  const { config, log, metrics, lifecycle, database } = role;
  const work = await connectNats({ url: config.natsUrl, name: `worker ${pools.join(",")} work`, role: "worker", log });
  lifecycle.onStop("nats work", () => work.drain());
  const replies = await connectNats({
    url: config.natsUrl,
    name: `worker ${pools.join(",")} replies`,
    role: "worker",
    log,
  });
  lifecycle.onStop("nats replies", () => replies.drain());
  const answers = createLastingPublisher(replies, LIMITS.ingressReturnMs);
  lifecycle.onStop("waiting answers", () => answers.flush());
  role.watchNats(work);
  role.watchNats(replies);
  await keepTopology(work, config.streamReplicas, log);
  const storage = openStorage(config.s3);
  lifecycle.onStop("storage", () => storage.close());
  const catalogue = await openCatalogue({
    files: config.catalogueFiles,
    sandbox: config.sandbox,
    providerKey: config.providerKey,
    log,
    onReload: (result) => metrics.catalogueReloads.inc(result),
  });
  lifecycle.onStop("catalogue", () => catalogue.close());
  role.onHangup(() => catalogue.reload());
  const ledger = openLedger({
    database,
    log,
    retryMs: FINISH_RETRY_MS,
    onGroup: (size) => metrics.groupSize.observe(size, "finish"),
  });
  lifecycle.onStop("ledger", () => ledger.idle());
  const context: WorkerContext = {
    config,
    log,
    metrics,
    database,
    ledger,
    storage,
    catalogue,
    providers: createProviders(config.providerKey),
    work,
    replies,
    answers,
  };
  const cancels = openCancels(work);
  lifecycle.onStop("cancels", () => cancels.close());
  for (const pool of pools) {
    const row = POOL_TABLE[pool];
    const handler = row.createHandler(context);
    for (const lane of LANES) {
      const slots = lane === "live" ? config.workerSlots : Math.max(1, Math.floor(config.workerSlots * row.batchShare));
      const runner = startRunner({ context, pool, lane, slots, handler, cancels });
      lifecycle.onStop(
        `runner ${pool} ${lane}`,
        async (hurry) => {
          // What still runs shortly before the grace ends is cut and settled, so that the process can end cleanly.
          const cut = new AbortController();
          const timer = setTimeout(() => cut.abort(), Math.max(0, config.graceMs - STOP_MARGIN_MS));
          try {
            await runner.stop(AbortSignal.any([hurry, cut.signal]));
          } finally {
            clearTimeout(timer);
          }
        },
        config.graceMs,
      );
    }
  }
  // The sandbox counts every call's tokens; loading the vocabulary takes longer than answering.
  if (config.sandbox) {
    loadTokenizer().catch((error: unknown) => log.warn({ err: error }, "the vocabulary was not loaded ahead"));
  }
  await role.ready({}, { postgres: role.checks.postgres, nats: role.checks.nats });
}

/** Left after the cut for settles, answers and closing connections. */
const STOP_MARGIN_MS = 5_000;
