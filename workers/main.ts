/** Starts the pools named on the command line, and stops them without losing a call. */
import { randomBytes } from "node:crypto";

import { OFF_BY_DEFAULT } from "#shared/calls/capabilities/off.ts";
import { openPublishers } from "#shared/access/authenticate.ts";
import { openCatalogue } from "#shared/calls/catalogue/open.ts";
import { GROUPED_CONNECTIONS } from "#shared/database/grouped.ts";
import { serviceSecret } from "#shared/database/service-secrets.ts";
import { createFileLinks, recognizeLinks } from "#shared/files/links.ts";
import { openUploads, UPLOADS_PER_WORKSPACE_MAX } from "#shared/files/uploads.ts";
import { openFailureLog } from "#shared/ledger/failure-log.ts";
import { openLedger } from "#shared/ledger/settle.ts";
import type { Lifecycle } from "#shared/process/lifecycle.ts";
import { BODIES_STOP_MS, openBodyKeeper } from "#shared/kept-bodies/keeper.ts";
import { openMediaProbes } from "#shared/media/media-probes.ts";
import { type CallPool, type Lane, LANES, type Pool, WEBHOOK_POOL } from "#shared/queue/subjects.ts";
import { awaitTopology } from "#shared/queue/topology.ts";
import type { Role } from "#shared/process/role.ts";
import type { RoleConnections } from "#shared/process/process.ts";
import { OUTAGE_RETRY_MS } from "#shared/storage/outage.ts";
import { createConversationStore } from "#shared/responses/conversations.ts";
import { createResponseStore } from "#shared/responses/store.ts";
import { createJobTokens } from "#shared/secrets/job-token.ts";
import { openSealer } from "#shared/secrets/open-sealer.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";
import { openStorage } from "#shared/storage/client.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import { type Cancels, openCancels } from "./runner/cancels.ts";
import type { WorkerContext } from "./context.ts";
import { openDeletionCost } from "./deletion-cost.ts";
import type { RunContinuation } from "./job.ts";
import { createBufferedPublisher } from "#shared/queue/buffered-publisher.ts";
import { FrameBundler } from "#shared/queue/frames.ts";
import { INGRESS_RETURN_MS } from "#workers/runner/caller-liveness.ts";
import { paced } from "#shared/config/pace.ts";
import { openProviderCallbacks } from "./runner/provider-callbacks.ts";
import { openDurableJobs } from "./runner/durable-jobs.ts";
import { POOL_TABLE } from "./pools.ts";
import { type CapabilityChildren, openCapabilityChildren } from "./calls/capability/children.ts";
import { findIsolation, NO_ISOLATION, refuseEngines } from "./calls/capability/isolation.ts";
import { rememberEngines } from "./calls/capability/known-engines.ts";
import { findTools } from "./calls/capability/tools.ts";
import { type SupportedCapabilities, openSupportedCapabilities } from "./calls/capability/supported-capabilities.ts";
import { ResultBudget } from "./calls/media/result-budget.ts";
import { connectByProxy } from "./providers/connect-limit.ts";
import { createProviders } from "./providers/index.ts";
import { openSourceTests } from "./calls/source-test.ts";
import { openBreaker } from "./routing/breaker.ts";
import { createKeyMarks, type MarkOf } from "./routing/key-marks.ts";
import { createRepeatBudget } from "./routing/repeat-budget.ts";
import { openLiveCalls } from "./runner/live-calls.ts";
import { type Runner, startRunner } from "./runner/runner.ts";
import { startWebhooks } from "./webhook/runner.ts";
import { openRunContinuation } from "./workflows/continue-run.ts";
import { checkOutgoing, isCallPool, slotsOf, slotsOfAll, type WorkerPool } from "./slots.ts";
import { startWorkflows } from "./workflows/runner.ts";
import { RunStore } from "./workflows/store.ts";

/** Maximum time that a download waits until the memory budget of its pool has capacity, in milliseconds. */
const RESULT_CAPACITY_WAIT_MS = paced(180_000);

/**
 * Returns the number of reserved Postgres connections. They are for settlements and, in workflow pools, for the admission of the jobs of
 * steps.
 */
export function workerConnections(pools: readonly WorkerPool[]): RoleConnections {
  return { reserved: (pools.includes("workflow") ? 2 : 1) * GROUPED_CONNECTIONS, slow: 0 };
}

/**
 * Starts the named pools in this process.
 * @throws Error with a one-sentence message if a requirement of the worker is missing
 */
export async function startWorker(role: Role, named: readonly WorkerPool[]): Promise<void> {
  const pools = named.filter((pool) => pool !== WEBHOOK_POOL);
  const { config, log, metrics, lifecycle, database } = role;
  checkOutgoing(pools, config);
  const user = pools.includes("workflow") ? "workflow" : "worker";
  const work = await role.connectQueue(`worker ${pools.join(",")} work`, user);
  const replies = await role.connectQueue(`worker ${pools.join(",")} replies`, user);
  const answers = createBufferedPublisher(replies, INGRESS_RETURN_MS);
  const bundler = new FrameBundler(answers, log);
  lifecycle.onStop("waiting answers", () => {
    bundler.flush();
    answers.flush();
  });
  await awaitTopology(work, { replicas: config.streamReplicas, waitMs: config.startWaitMs, log });
  const storage = openStorage(config.s3, metrics);
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
    retryMs: OUTAGE_RETRY_MS,
    metrics,
  });
  lifecycle.onStop("ledger", () => ledger.idle());
  const uploads = openUploads({ database, storage, log, limits: config });
  lifecycle.onStop("uploads", () => uploads.close());
  const providers = createProviders(config.providerKey);
  lifecycle.onStop("providers", () => providers.close());
  // Number of probes equals number of slots: each call inspects one file at a time, so none fails with `busy`.
  const probes = openMediaProbes(slotsOfAll(pools, config));
  lifecycle.onStop("media probes", () => probes.close());
  const { capabilities, supportedCapabilities } = await openCapabilities(role, pools);
  const providerCallbacks = openProviderCallbacks(work);
  lifecycle.onStop("providerCallbacks", () => providerCallbacks.close());
  recognizeLinks(createFileLinks(await serviceSecret(database, "links", randomBytes(32)), config));
  const callbackTokens = createJobTokens(await serviceSecret(database, "callbacks", randomBytes(32)));
  const sealer = pools.some(asksProviders) ? await openSealer(config, database) : undefined;
  const bodyKeeper = openBodyKeeper({
    database,
    storage,
    sealer,
    log,
    metrics,
    hoursMax: config.bodyRetentionHoursMax,
  });
  lifecycle.onStop("kept bodies", () => bodyKeeper.close(BODIES_STOP_MS), BODIES_STOP_MS + 1_000);
  const openStores = (sealing: Sealer): Pick<SharedContext, "conversations" | "responses"> => {
    const kept = { database, storage, sealer: sealing, log };
    return { responses: createResponseStore(kept), conversations: createConversationStore(kept) };
  };
  const shared: SharedContext = {
    config,
    log,
    metrics,
    database,
    ledger,
    failures: openFailureLog({ database, sealer, secrets: config.secrets, log }),
    storage,
    uploads,
    // Twice the upload limit of a workspace, since one workspace may take at most half of the budget.
    uploadPlaces: new ResultBudget({ bytesMax: 2 * UPLOADS_PER_WORKSPACE_MAX, waitMs: RESULT_CAPACITY_WAIT_MS }),
    catalogue,
    capabilities,
    supportedCapabilities,
    providers,
    ...(sealer && pools.includes("chat") ? openStores(sealer) : { responses: undefined, conversations: undefined }),
    bodyKeeper,
    repeats: createRepeatBudget(),
    probes,
    work,
    replies,
    answers,
    bundler,
    providerCallbacks,
    callbackTokens,
  };
  connectByProxy(config.hasProxy);
  const cancels = openCancels(work, createJobTokens(await serviceSecret(database, "cancels", randomBytes(32))));
  lifecycle.onStop("cancels", () => cancels.close());
  const runners: Runner[] = [];
  // Before the pools take work, since it throws in a pod without a token.
  if (config.podName !== undefined) {
    const busy = (): number => runners.reduce((sum, runner) => sum + runner.running(), 0);
    const cost = await openDeletionCost({ podName: config.podName, busy, log });
    lifecycle.onStop("deletion cost", () => cost.close());
  }
  const store = new RunStore(storage);
  const publishers = openPublishers({ database, catalogue });
  if (pools.includes("workflow")) {
    const slots = (lane: Lane): number => slotsOf("workflow", lane, config);
    runners.push(...(await startWorkflows({ ...shared, lifecycle, store, publishers, slots })));
  }
  if (named.includes(WEBHOOK_POOL)) runners.push(await startWebhooks({ ...shared, lifecycle }));
  const continuation = openRunContinuation({ ...shared, store, publishers });
  const secret = await serviceSecret(database, "source keys", randomBytes(32));
  const markOf = createKeyMarks({ secret, catalogue, providerKey: config.providerKey });
  for (const pool of pools.filter(isCallPool)) {
    runners.push(...startCallPool(pool, shared, { lifecycle, cancels, continuation, markOf }));
  }
  // One step, so that no runner takes calls while another waits for its last calls.
  lifecycle.onStop("runners", (hurry, allowedMs) => stopRunners(runners, hurry, allowedMs), config.graceMs);
  // Loaded in advance, because the sandbox counts the tokens of every call, and loading takes longer than a response.
  if (config.sandbox && pools.includes("chat")) {
    loadTokenizer().catch((error: unknown) =>
      log.warn({ err: error }, "the tokenizer's vocabulary could not be preloaded"),
    );
  }
  role.watchStorage(storage);
  if (supportedCapabilities !== undefined) role.addPages({}, { engines: supportedCapabilities.engines });
}

/** Returns true for pools that call providers, so that their workers need provider keys. */
const asksProviders = (pool: Pool): boolean => pool !== "capability" && pool !== "workflow";

/**
 * Opens the child processes that run capabilities. In processes with the capability pool, also determines the capabilities that this
 * process can run.
 */
async function openCapabilities(
  { config, log, metrics, lifecycle, database }: Role,
  pools: readonly Pool[],
): Promise<{
  readonly capabilities: CapabilityChildren;
  readonly supportedCapabilities: SupportedCapabilities | undefined;
}> {
  const runsCapabilities = pools.includes("capability");
  const tools = runsCapabilities ? await findTools(config) : {};
  const isolation = runsCapabilities ? await findIsolation(tools, log) : NO_ISOLATION;
  const capabilities = openCapabilityChildren(isolation, tools, runsCapabilities ? ["sharp"] : []);
  lifecycle.onStop("capability children", () => capabilities.close());
  const supportedCapabilities = runsCapabilities
    ? await openSupportedCapabilities({
        database,
        children: rememberEngines(capabilities, [isolation, tools]),
        required: config.capabilitiesRequired,
        off: config.python ? {} : OFF_BY_DEFAULT,
        refused: config.needsIsolation ? refuseEngines(isolation, log) : {},
        metrics,
        log,
      })
    : undefined;
  lifecycle.onStop("capability offer", () => supportedCapabilities?.close());
  return { capabilities, supportedCapabilities };
}

/** Part of the context that all pools share. Each pool adds its own circuit breaker and result budget. */
type SharedContext = Omit<WorkerContext, "breaker" | "results">;

interface CallPoolParts {
  readonly lifecycle: Lifecycle;
  readonly cancels: Cancels;
  readonly continuation: RunContinuation;
  readonly markOf: MarkOf;
}

/** Starts a pool that serves calls: one runner per lane. */
function startCallPool(
  pool: CallPool,
  shared: SharedContext,
  { lifecycle, cancels, continuation, markOf }: CallPoolParts,
): Runner[] {
  const { config, log, metrics, database, work } = shared;
  const row = POOL_TABLE[pool];
  const breaker = openBreaker({ pool, connection: work, database, log, metrics, markOf });
  lifecycle.onStop(`breaker ${pool}`, () => breaker.close());
  const { catalogue, providers } = shared;
  const tests = openSourceTests({ pool, connection: work, catalogue, providers, secrets: config.secrets, log });
  lifecycle.onStop(`tests of sources ${pool}`, () => tests.close());
  const results = new ResultBudget({
    bytesMax: config.resultBytesMax,
    waitMs: RESULT_CAPACITY_WAIT_MS,
    gauge: metrics.resultBytes.at(pool),
  });
  const context: WorkerContext = { ...shared, breaker, results };
  const handler = row.createHandler(context);
  return LANES.map((lane) => {
    const slots = slotsOf(pool, lane, config);
    const durable = openDurableJobs({
      context,
      pool,
      lane,
      slots: Math.min(slots, row.capacity ?? slots),
      createHandler: row.createHandler,
      runMs: row.runMs(config),
      cancels,
      // Batch jobs are queued individually.
      continuation: lane === "live" ? continuation : undefined,
    });
    lifecycle.onStop(`durable jobs ${pool} ${lane}`, () => durable.close());
    const live = openLiveCalls({ context, handler, cancels });
    lifecycle.onStop(`live calls ${pool} ${lane}`, () => live.close());
    return startRunner({ context, pool, lane, slots, live, durable, cancels });
  });
}

/**
 * Stops all runners. Calls that still run shortly before the end of `allowedMs` are aborted and settled, so that the process ends in time.
 */
async function stopRunners(runners: readonly Runner[], hurry: AbortSignal, allowedMs: number): Promise<void> {
  const cut = new AbortController();
  const timer = setTimeout(() => cut.abort(), Math.max(allowedMs / 2, allowedMs - STOP_MARGIN_MS));
  try {
    const signal = AbortSignal.any([hurry, cut.signal]);
    // A runner that fails to stop does not prevent the abort of the others.
    const ends = await Promise.allSettled(runners.map((runner) => runner.stop(signal)));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Time between the abort of running calls and the end of the process, in milliseconds. Calls are settled and connections closed in it. It
 * is at most half of the grace period.
 */
const STOP_MARGIN_MS = 5_000;
