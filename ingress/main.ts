/** Composition root of the ingress: opens the dependencies of the routes, starts to listen, and stops everything in reverse order. */
import { randomBytes } from "node:crypto";

import type { NatsConnection } from "nats";

import { createCallAdmission } from "#shared/ledger/call-admission.ts";
import { findActiveKeys } from "#shared/access/active-keys.ts";
import { openKeyWatch } from "#shared/access/key-watch.ts";
import { createAuthenticator, openPublishers, type Publishers } from "#shared/access/authenticate.ts";
import { createIpNet } from "#shared/access/ip-net.ts";
import { openCatalogue } from "#shared/calls/catalogue/open.ts";
import { GROUPED_CONNECTIONS } from "#shared/database/grouped.ts";
import { serviceSecret } from "#shared/database/service-secrets.ts";
import { createFileLinks, recognizeLinks } from "#shared/files/links.ts";
import { newId } from "#shared/base/ids.ts";
import { type CreditLines, openCreditLines } from "#shared/ledger/credit-lines.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { createJobDispatcher } from "#shared/jobs/dispatcher.ts";
import { openUploads } from "#shared/files/uploads.ts";
import { BODIES_STOP_MS, openBodyKeeper } from "#shared/kept-bodies/keeper.ts";
import { openMediaProbes } from "#shared/media/media-probes.ts";
import { openFailureLog } from "#shared/ledger/failure-log.ts";
import { openLedger } from "#shared/ledger/settle.ts";
import { onLink } from "#shared/queue/connection.ts";
import { createPublisher } from "#shared/queue/publish.ts";
import { openReplyInbox } from "#shared/queue/reply.ts";
import { awaitTopology } from "#shared/queue/topology.ts";
import type { Role } from "#shared/process/role.ts";
import { createJobTokens } from "#shared/secrets/job-token.ts";
import { createConversationStore } from "#shared/responses/conversations.ts";
import { createResponseStore } from "#shared/responses/store.ts";
import { openSealer } from "#shared/secrets/open-sealer.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";
import { paced } from "#shared/config/pace.ts";
import { openStorage } from "#shared/storage/client.ts";
import { loadTemplates } from "#shared/workflows/templates.ts";

import { takePermit } from "./nats-intake/admit.ts";
import { startIntake } from "./nats-intake/intake.ts";
import { type Issuer, openIssuer } from "./routes/console/issuer.ts";
import { startBatchLeader } from "./routes/batches/leader.ts";
import type { IngressContext } from "./context.ts";
import { startKeyUse } from "./core/key-use.ts";
import { openBodyRecorder } from "./kept-bodies/recorder.ts";
import { listen, type Listening } from "./listen.ts";
import { callbackOf } from "./routes/console/sign-in.ts";
import { openRefusalLog } from "./core/refusal-log.ts";
import { openMinuteBound } from "./core/minute-bound.ts";
import { createOperators } from "./core/authenticate-operator.ts";
import { createCancel } from "./wait/cancel.ts";
import { openJobWaiter } from "./wait/job-waiter.ts";
import { openAvailableCapabilities } from "#shared/calls/capabilities/available.ts";
import { type FleetLink, openFleet } from "./wait/fleet.ts";
import { createLiveShares } from "./wait/live-shares.ts";
import { createRelay } from "./wait/relay.ts";
import { openPendingSettlements } from "./wait/pending-settlements.ts";
import { createRunFollower } from "./routes/workflows/run-follower.ts";
import { LAST_ANSWER_MS } from "./core/serve.ts";

/**
 * Maximum time of retries to release the hold of a call that was not dispatched, in milliseconds. After that, the janitor releases the
 * hold.
 */
const FINISH_RETRY_MS = 20_000;
/** Part of the shutdown time reserved for closing dependencies, after waiting callers were answered and streams closed, in milliseconds. */
const STOP_MARGIN_MS = 3_000;
/**
 * Time after which connections that are still sending or reading a body are closed, in milliseconds. It starts during shutdown, once the
 * last responses have been sent.
 */
const CUT_MS = LAST_ANSWER_MS + 1_000;

/**
 * Postgres connections of the ingress. `reserved`: for admission of calls and jobs, settlements, and look-ups of the NATS intake. `slow`:
 * for audits by operators.
 */
export const INGRESS_CONNECTIONS = { reserved: 3 * GROUPED_CONNECTIONS + 1, slow: 2 };

/** Starts the ingress. @throws Error with a one-sentence message when a dependency is missing or the port is in use */
export async function startIngress(role: Role): Promise<{ readonly port: number }> {
  const { config, log, metrics, lifecycle, database } = role;
  const connection = await role.connectQueue("ingress", "ingress");
  await awaitTopology(connection, { replicas: config.streamReplicas, waitMs: config.startWaitMs, log });
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
    retryMs: FINISH_RETRY_MS,
    metrics,
  });
  lifecycle.onStop("ledger", () => ledger.idle());
  const lines = config.creditLines
    ? openCreditLines({ database, log, metrics, callMs: config.calls.totalMs })
    : undefined;
  if (lines) lifecycle.onStop("credit lines", () => lines.close());
  const ipNet = createIpNet(config.ipLimit, config.trustedProxies);
  const { publisher, cancel, fleet, relay } = await openRelay(role, connection, { storage, ledger, ipNet, lines });

  const uploads = openUploads({ database, storage, log, limits: config });
  lifecycle.onStop("uploads", () => uploads.close());

  const dispatcher = createJobDispatcher({ database, publisher, metrics, log });
  lifecycle.onStop("dispatches", () => dispatcher.idle());
  const jobs = createJobAdmission({ database, metrics });
  const waiter = openJobWaiter({ connection, database, log });
  lifecycle.onStop("waiting calls", () => waiter.close());
  const links = createFileLinks(await serviceSecret(database, "links", randomBytes(32)), config);
  recognizeLinks(links);
  const callbackTokens = createJobTokens(await serviceSecret(database, "callbacks", randomBytes(32)));

  const availableCapabilities = await openAvailableCapabilities({ database, catalogue, log });
  lifecycle.onStop("capabilities offered", () => availableCapabilities.close());
  const probes = openMediaProbes();
  lifecycle.onStop("media probes", () => probes.close());

  role.watchStorage(storage);
  const sealer = await openSealer(config, database);
  const bodyKeeper = openBodyKeeper({
    database,
    storage,
    sealer,
    log,
    metrics,
    hoursMax: config.bodyRetentionHoursMax,
  });
  lifecycle.onStop("kept bodies", () => bodyKeeper.close(BODIES_STOP_MS), BODIES_STOP_MS + STOP_MARGIN_MS);
  const authenticator = createAuthenticator({ database, catalogue, log });
  lifecycle.onStop("key use", startKeyUse({ keys: authenticator, database, log }));
  const keyWatch = openKeyWatch({ activeKeys: (ids) => findActiveKeys(database, ids), log });
  lifecycle.onStop("key watch", () => keyWatch.close());
  const refusals = openRefusalLog({ database, log, metrics, catalogue });
  lifecycle.onStop("refused calls", () => refusals.close());
  const closing = new AbortController();
  const context: IngressContext = {
    config,
    log,
    metrics,
    catalogue,
    authenticator,
    keyWatch,
    operators: createOperators({ database, config }),
    issuer: issuerOf(config, sealer, log),
    ipNet,
    calls: createCallAdmission({ database, ledger, lines, metrics, log }),
    uncounted: openMinuteBound(),
    refusals,
    ledger,
    publisher,
    storage,
    uploads,
    database,
    relay,
    routes: new Map(),
    connection,
    fleet,
    cancel,
    jobs,
    dispatcher,
    probes,
    availableCapabilities,
    waiter,
    templates: await loadTemplates(),
    runs: createRunFollower(connection, log),
    closing: closing.signal,
    stopping: lifecycle.stopping,
    links,
    bodies: openBodyRecorder(bodyKeeper),
    bodyKeeper,
    sealer,
    responses: createResponseStore({ database, storage, sealer, log }),
    conversations: createConversationStore({ database, storage, sealer, log }),
    callbackTokens,
    isReady: async (required) => (await role.dependencies.readiness(required)).ok,
    readiness: () => role.dependencies.readiness(),
  };
  await fleet.ready;
  const server = openPort(context, config.host, config.port);
  lifecycle.onStop(
    "public port",
    (hurry, allowedMs) => stopPort(server, context, { closing, hurry, allowedMs }),
    config.graceMs,
  );
  const lookups = database.reserve("batch intake");
  const publishers = openPublishers({ database: lookups, catalogue: context.catalogue });
  const intake = startIntake({ ...context, database: lookups, publishers }, connection);
  lifecycle.onStop("batch intake", () => intake.stop());
  startBatches(context, publishers, lifecycle);
  return { port: server.port };
}

/** Returns the OpenID issuer for people's sign-in; undefined if the operator has configured none. */
function issuerOf({ oidc, publicUrl = "" }: Role["config"], sealer: Sealer, log: Role["log"]): Issuer | undefined {
  const { issuer, clientId, clientSecret } = oidc;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return openIssuer({ issuer, clientId, clientSecret, redirectUri: callbackOf(publicUrl) }, { sealer, log });
}

/**
 * Maximum size of an output file of a batch, in bytes. The file has one line per call of an input of up to 200 MB, and responses are longer
 * than requests.
 */
const BATCH_FILE_BYTES_MAX = 16 * 1_073_741_824;

/**
 * Starts to process batches in this process. Their output files have a separate uploader, which allows larger files than callers may
 * upload.
 */
function startBatches(context: IngressContext, publishers: Publishers, lifecycle: Role["lifecycle"]): void {
  const { database, storage, log, config } = context;
  const limits = { fileBytesMax: BATCH_FILE_BYTES_MAX, storageBytesMax: config.storageBytesMax };
  const uploads = openUploads({ database, storage, log, limits });
  lifecycle.onStop("uploads of batches", () => uploads.close());
  const permit = (workspaceId: string) => () => takePermit(workspaceId);
  const leader = startBatchLeader({ ...context, uploads, publishers, takePermit: permit });
  lifecycle.onStop("batches", () => leader.stop());
}

/** Time for which notices of received responses are collected before they are sent together, in milliseconds. */
const TAKEN_LINGER_MS = 5;

/**
 * Opens the relay, which sends calls to workers and receives their responses. Also connects this ingress to the other processes that share
 * fleet-wide limits.
 */
async function openRelay(
  { database, lifecycle, log, metrics }: Role,
  connection: NatsConnection,
  {
    storage,
    ledger,
    ipNet,
    lines,
  }: Pick<IngressContext, "storage" | "ledger" | "ipNet"> & { readonly lines: CreditLines | undefined },
): Promise<Pick<IngressContext, "publisher" | "cancel" | "relay"> & { readonly fleet: FleetLink }> {
  const ingressId = newId();
  const pendingSettlements = openPendingSettlements({
    lingerMs: TAKEN_LINGER_MS,
    ledger,
    metrics,
    log,
    connection,
    onSettled: (jobId) => lines?.forget(jobId),
  });
  onLink(connection, { lost: () => void pendingSettlements.settleAll() });
  lifecycle.onStop("unsettled answers", async (hurry, allowedMs) => {
    await pendingSettlements.drain(hurry, allowedMs);
    pendingSettlements.close();
  });
  const inbox = openReplyInbox(connection, ingressId, log, pendingSettlements);
  const publisher = createPublisher(connection, "ingress");
  const cancelTokens = createJobTokens(await serviceSecret(database, "cancels", randomBytes(32)));
  const cancel = createCancel(connection, cancelTokens);
  const shares = createLiveShares();
  const fleet = await openFleet({ connection, database, ingressId, shares, ipNet, metrics, log });
  lifecycle.onStop("fleet", () => fleet.close());
  const relay = createRelay({
    cancel,
    inbox,
    pendingSettlements,
    lines,
    database,
    failures: openFailureLog({ database, sealer: undefined, secrets: [], log }),
    ledger,
    log,
    metrics,
    publisher,
    shares,
    storage,
  });
  lifecycle.onStop("relay", () => relay.close());
  return { publisher, cancel, fleet, relay };
}

function openPort(context: IngressContext, hostname: string, port: number): Listening {
  try {
    return listen(context, { hostname, port });
  } catch (error) {
    throw new Error(`port ${port} cannot be opened; is something else listening there?`, { cause: error });
  }
}

/**
 * Interval of checks for new requests during shutdown, in milliseconds. The shutdown counts checks instead of time, because a paused
 * process has not read its sockets.
 */
const CHECK_INTERVAL_MS = paced(50);
/**
 * Number of consecutive checks without a request after which the port closes. Load balancers and idle clients have stopped sending by then.
 */
const QUIET_CHECKS = 10;
/** Maximum number of checks before the port closes in any case, even if a load balancer keeps sending requests. */
const CHECKS_MAX = 60;

/**
 * Serves requests until no more arrive, because load balancers send requests until their next readiness check. Readiness is already off,
 * and each response closes its connection.
 */
async function drainPort(server: Listening, hurry: AbortSignal): Promise<void> {
  for (let checks = 0, quiet = 0; checks < CHECKS_MAX && quiet < QUIET_CHECKS && !hurry.aborted; checks += 1) {
    const before = server.askedAt();
    await Bun.sleep(CHECK_INTERVAL_MS);
    quiet = server.askedAt() === before ? quiet + 1 : 0;
  }
}

/**
 * Stops listening and waits for running calls. Waiting callers get a response shortly before `allowedMs` have passed, or on `hurry`.
 * Connections that are still sending or reading a body after that are closed.
 */
async function stopPort(
  server: Listening,
  { relay, waiter, probes }: Pick<IngressContext, "relay" | "waiter" | "probes">,
  { closing, hurry, allowedMs }: { closing: AbortController; hurry: AbortSignal; allowedMs: number },
): Promise<void> {
  let cut: ReturnType<typeof setTimeout> | undefined;
  const endAll = (): void => {
    closing.abort();
    relay.endAll();
    waiter.endAll();
    void probes.close();
    cut ??= setTimeout(() => void server.stop(true), CUT_MS);
  };
  const timer = setTimeout(endAll, Math.max(0, allowedMs - STOP_MARGIN_MS));
  hurry.addEventListener("abort", endAll, { once: true });
  await drainPort(server, hurry);
  await server.stop();
  clearTimeout(timer);
  clearTimeout(cut);
}
