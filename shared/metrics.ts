/**
 * Every metric of the service. Label values come from our own lists (routes, pools, verdicts, catalogue slugs), never from a caller: a
 * user's text as a label would grow without bound and could contain a secret.
 */
import { readdirSync } from "node:fs";

import { AggregatorRegistry, Registry } from "prom-client";

import manifest from "../package.json" with { type: "json" };

import {
  counter,
  credits,
  gauge,
  histogram,
  observedCounter,
  type Counter,
  type CreditsCounter,
  type Gauge,
  type Histogram,
} from "./metric-handles.ts";

/** Metrics of a process, independent of its roles. */
export interface ProcessMetrics {
  readonly registry: Registry;
  readonly spansExported: Counter<[]>;
  /** reason: full, refused or failed. */
  readonly spansDropped: Counter<[reason: string]>;
  /** 1 if the last check succeeded. */
  readonly dependencyUp: Gauge<[dependency: string]>;
  /** Returns the last measured delay of the event loop, in seconds. */
  eventLoopLag(): number;
  /** Stops the lag measurement. */
  close(): void;
}

export interface Metrics extends ProcessMetrics {
  /** route is the pattern, not the path; "unmatched" for other requests. */
  readonly httpRequests: Counter<[route: string, method: string, status: string]>;
  /** Time until the response headers; a stream may continue much longer. */
  readonly httpRequestSeconds: Histogram<[route: string]>;
  readonly socketMessagesRefused: Counter<[]>;
  readonly admissions: Counter<[verdict: string]>;
  readonly admissionSeconds: Histogram<[]>;
  /** Total time of a call minus the time of its provider. */
  readonly gatewayOverheadSeconds: Histogram<[]>;
  /** Parts of a call with a waiting caller. part: `admit` until it is queued, `queue` until a worker has it, `provider`, `settle`. */
  readonly callPartSeconds: Histogram<[part: string]>;
  readonly groupSize: Histogram<[group: string]>;
  readonly jobs: Counter<[pool: string, outcome: string]>;
  readonly jobSeconds: Histogram<[pool: string]>;
  readonly workerSlots: Gauge<[pool: string, lane: string]>;
  readonly workerSlotsBusy: Gauge<[pool: string, lane: string]>;
  /** mode: complete or stream. model: a slug of the catalogue. */
  readonly providerSeconds: Histogram<[provider: string, model: string, mode: string]>;
  readonly providerErrors: Counter<[provider: string, kind: string]>;
  readonly providerKeyRefusals: Counter<[provider: string]>;
  /** Sources out of rotation, as known to this process. */
  readonly breakerOpen: Gauge<[provider: string]>;
  /** Changes decided by this process, without those of other workers. change: opened, lengthened or closed. */
  readonly breakerChanges: Counter<[provider: string, change: string]>;
  readonly timeToFirstTokenSeconds: Histogram<[]>;
  /** kind: a unit of the usage record that counts tokens. */
  readonly tokens: Counter<[kind: string]>;
  readonly creditsSettled: CreditsCounter;
  readonly creditsUncollected: CreditsCounter;
  readonly creditsSettledLate: CreditsCounter;
  readonly creditsUnbilled: CreditsCounter;
  /** Holds of jobs that ended without a verdict. */
  readonly creditsWrittenOff: CreditsCounter;
  readonly holdsOpen: Gauge<[]>;
  readonly holdsOldestSeconds: Gauge<[]>;
  readonly queueDepth: Gauge<[pool: string, lane: string]>;
  readonly queueOldestSeconds: Gauge<[pool: string]>;
  readonly queueWaitSeconds: Histogram<[pool: string, lane: string]>;
  readonly queueUnacknowledged: Gauge<[pool: string, lane: string]>;
  readonly queueUnacknowledgedMax: Gauge<[pool: string, lane: string]>;
  readonly deadLetters: Gauge<[]>;
  /** Holds closed without settlement at actual usage, not yet handled by an operator. */
  readonly settleFaults: Gauge<[]>;
  /** Items that failed in a sweep and are retried later. */
  readonly sweepPutOff: Gauge<[sweep: string]>;
  /** Differences found by the last audit of new entries. */
  readonly ledgerFaults: Gauge<[]>;
  /** Unix time, in seconds, at which the last audit of the ledger ended, regardless of its result. */
  readonly ledgerAuditedAt: Gauge<[]>;
  readonly creditLines: Gauge<[]>;
  readonly linedCalls: Counter<[]>;
  readonly callsLost: Counter<[]>;
  readonly answersSettledByIngress: Counter<[]>;
  readonly streamsActive: Gauge<[]>;
  readonly streamAborts: Counter<[reason: string]>;
  readonly usageEstimated: Counter<[reason: string]>;
  /** outcome: continued, or failed. */
  readonly streamsRescued: Counter<[outcome: string]>;
  readonly catalogueReloads: Counter<[result: string]>;
  /** outcome: queued, refused, repeated, waiting or failed. */
  readonly batchMessages: Counter<[outcome: string]>;
  readonly batchRepliesIgnored: Counter<[]>;
  /** outcome: completed, expired, cancelled or failed. */
  readonly batches: Counter<[outcome: string]>;
  /** outcome of a line: as above; failed includes refused calls; expired and cancelled lines were never called. */
  readonly batchLines: Counter<[outcome: string]>;
  /** Lines of open batches. state: waiting or running. */
  readonly batchLinesOpen: Gauge<[state: string]>;
  readonly batchesOldestSeconds: Gauge<[]>;
  /** Longest time since the last ended line, of batches with open lines. */
  readonly batchesStalledOldestSeconds: Gauge<[]>;
  /** outcome: admitted, refused, busy or failed. */
  readonly publisherLogins: Counter<[outcome: string]>;
  /** reason: admitted, released or repeated. */
  readonly jobsDispatched: Counter<[pool: string, lane: string, reason: string]>;
  readonly callsWaiting: Gauge<[pool: string]>;
  readonly jobsWaiting: Gauge<[pool: string, lane: string]>;
  /** Jobs of unknown outcome: paid work may exist. */
  readonly jobsUnknown: Gauge<[]>;
  readonly jobsUnknownOldestSeconds: Gauge<[]>;
  /** By type of channel and AttemptFault, or ok. */
  readonly deliveryAttempts: Counter<[type: string, result: string]>;
  readonly deliveriesDue: Gauge<[]>;
  readonly deliveriesOldestSeconds: Gauge<[]>;
  readonly deliveriesFailed: Gauge<[]>;
  /** outbox: jobs whose message the queue has not confirmed, or events without a delivery. */
  readonly outboxDepth: Gauge<[outbox: string]>;
  readonly outboxOldestSeconds: Gauge<[outbox: string]>;
  readonly workflowRuns: Counter<[outcome: string]>;
  /** type: of the step. */
  readonly workflowSteps: Counter<[type: string, outcome: string]>;
  /** Age of the oldest run that neither progresses nor waits for anything. */
  readonly runsStalledOldestSeconds: Gauge<[]>;
  /** Time between the newest record in the hourly sums and now. */
  readonly usageBehindSeconds: Gauge<[]>;
  /** stops_calls: true or false. */
  readonly budgetsFired: Counter<[stopsCalls: string]>;
  readonly cacheLookups: Counter<[result: string]>;
  /** Bytes of media results in memory and on disk. */
  readonly resultBytes: Gauge<[pool: string]>;
  readonly natsReconnects: Counter<[]>;
  /** Time until the headers of the store's response, over all retries. operation: an S3 command. */
  readonly storageSeconds: Histogram<[operation: string]>;
  /** 1 if capabilities of this engine can run. */
  readonly capabilityEngineUp: Gauge<[engine: string]>;
}

// 0.25 ms to 10 s: our share of a call is measured in fractions of a millisecond.
const OVERHEAD_BUCKETS = [
  0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const WORK_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800];
const GROUP_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Bounds of the parts of a call: our parts take fractions of a millisecond, a provider's may take minutes. */
const PART_BUCKETS = [...OVERHEAD_BUCKETS, 30, 60, 120, 300, 600];

/** Values of other modules, read at each scrape. */
export interface MetricSources {
  /** Returns the number of statements that wait for a connection to Postgres. */
  readonly databaseWaiting?: () => number;
}

/** Creates the metrics of a process, with its name as label `role`. */
export function createProcessMetrics(name: string, sources: MetricSources = {}): ProcessMetrics {
  return addProcessMetrics(openRegistry(name), sources);
}

/**
 * Creates the metrics of one role in its own registry, under the label `role`.
 * @param ofProcess metrics of the process, which has its own page; absent: the registry contains them too
 */
export function createMetrics(role: string, ofProcess?: ProcessMetrics): Metrics {
  const registry = openRegistry(role);
  const make = makerOf(registry);
  const { seconds, total, level } = make;
  return {
    ...(ofProcess ?? addProcessMetrics(registry, {})),
    registry,
    httpRequests: total("http_requests", "Answers given on the public port.", ["route", "method", "status"]),
    httpRequestSeconds: seconds("http_request", "Time from a request to the head of its answer.", ["route"]),
    socketMessagesRefused: total(
      "socket_messages_refused",
      "Messages of WebSocket connections refused because too many turns of theirs waited.",
      [],
    ),
    admissions: total("admissions", "Admission verdicts.", ["verdict"]),
    admissionSeconds: seconds("admission", "Time from asking for admission to the verdict.", [], OVERHEAD_BUCKETS),
    gatewayOverheadSeconds: seconds("gateway_overhead", "Call time minus provider time.", [], OVERHEAD_BUCKETS),
    callPartSeconds: seconds("call_part", "Time of a call, by its parts.", ["part"], PART_BUCKETS),
    groupSize: histogram(registry, "sluice_group_size", "Calls per grouped statement.", ["group"], GROUP_BUCKETS),
    jobs: total("jobs", "Jobs that ended, by outcome.", ["pool", "outcome"]),
    jobSeconds: seconds("job", "Time from claim to end of a job.", ["pool"]),
    workerSlots: level("worker_slots", "Jobs that this process takes at once.", ["pool", "lane"]),
    workerSlotsBusy: level("worker_slots_busy", "Slots whose job runs.", ["pool", "lane"]),
    providerSeconds: seconds("provider", "Time a provider took for one attempt.", ["provider", "model", "mode"]),
    providerErrors: total("provider_errors", "Failed provider attempts, by error class.", ["provider", "kind"]),
    providerKeyRefusals: total("provider_key_refusals", "Attempts answered with 401 or 403.", ["provider"]),
    breakerOpen: level("breaker_open_sources", "Sources that are given no calls for a while.", ["provider"]),
    breakerChanges: total("breaker_changes", "Sources taken out of rotation, kept out, put back.", [
      "provider",
      "change",
    ]),
    timeToFirstTokenSeconds: seconds("time_to_first_token", "Request received to first token sent.", []),
    tokens: total("tokens", "Tokens of settled calls, by kind.", ["kind"]),
    creditsSettled: credits(registry, "sluice_credits_settled_total", "Credits taken by settles."),
    creditsUncollected: credits(registry, "sluice_credits_uncollected_total", "Credits owed but not covered."),
    creditsSettledLate: credits(
      registry,
      "sluice_credits_settled_late_total",
      "Credits of delivered answers that were taken after their holds had been released.",
    ),
    creditsUnbilled: credits(
      registry,
      "sluice_credits_unbilled_total",
      "Credits of delivered answers that nothing was left to take from.",
    ),
    creditsWrittenOff: credits(
      registry,
      "sluice_credits_written_off_total",
      "Credits held for work at providers that ended without a verdict and that they may have charged.",
    ),
    holdsOpen: level("holds_open", "Holds neither settled nor released; beyond 10000 an estimate.", []),
    holdsOldestSeconds: level("holds_oldest_seconds", "Age of the oldest open hold.", []),
    queueDepth: level("queue_depth", "Work messages waiting or under way.", ["pool", "lane"]),
    queueOldestSeconds: level("queue_oldest_seconds", "Age of the oldest work message that no worker was handed.", [
      "pool",
    ]),
    queueWaitSeconds: seconds("queue_wait", "Time that work messages lay in the queue.", ["pool", "lane"]),
    queueUnacknowledged: level("queue_unacknowledged", "Messages that workers have and have not acknowledged.", [
      "pool",
      "lane",
    ]),
    queueUnacknowledgedMax: level("queue_unacknowledged_max", "Unacknowledged messages at which a lane halts.", [
      "pool",
      "lane",
    ]),
    ...faultMetrics(make),
    ...workMetrics(make),
  };
}

/** Returns one page of several registries: each metric appears once, with the samples of every role. */
export function joinRegistries(registries: readonly Registry[]): Pick<Registry, "metrics" | "contentType"> {
  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    metrics: async () => {
      const pages = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
      return AggregatorRegistry.aggregate(pages).metrics();
    },
  };
}

function openRegistry(role: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  return registry;
}

type Maker = ReturnType<typeof makerOf>;

function makerOf(registry: Registry) {
  return {
    registry,
    seconds: <L extends readonly string[]>(name: string, help: string, names: L, buckets = WORK_BUCKETS) =>
      histogram(registry, `sluice_${name}_seconds`, help, names, buckets),
    total: <L extends readonly string[]>(name: string, help: string, names: L) =>
      counter(registry, `sluice_${name}_total`, help, names),
    level: <L extends readonly string[]>(name: string, help: string, names: L) =>
      gauge(registry, `sluice_${name}`, help, names),
  };
}

/** Metrics of faults and anomalies. */
function faultMetrics({ total, level }: Maker) {
  return {
    settleFaults: level("settle_faults", "Holds closed without being settled at what was used.", []),
    sweepPutOff: level("sweep_put_off", "Items that a sweep failed on and tries again later.", ["sweep"]),
    ledgerFaults: level("ledger_faults", "Differences that the last audit of the ledger found.", []),
    ledgerAuditedAt: level("ledger_audited_timestamp_seconds", "Time of the last audit of the ledger.", []),
    deadLetters: level("dead_letters", "Dead letters waiting for an operator.", []),
    creditLines: level("credit_lines", "Credit lines that this ingress has, of as many workspaces.", []),
    linedCalls: total("lined_calls", "Calls that were admitted on a credit line.", []),
    callsLost: total("calls_lost", "Calls whose worker died before it could report.", []),
    answersSettledByIngress: total(
      "answers_settled_by_ingress",
      "Answers that went out before they were settled and whose worker never said that they are.",
      [],
    ),
    streamsActive: level("streams_active", "Streams being relayed.", []),
    cacheLookups: total("cache_lookups", "Look-ups in the response cache, by result.", ["result"]),
    streamAborts: total("stream_aborts", "Streams that ended early, by reason.", ["reason"]),
    streamsRescued: total("streams_rescued", "Streams that broke off where another model might go on.", ["outcome"]),
    usageEstimated: total("usage_estimated", "Calls billed by our own count.", ["reason"]),
    catalogueReloads: total("catalogue_reloads", "Reloads of the catalogue.", ["result"]),
    batchMessages: total("batch_messages", "Batch messages taken in, by outcome.", ["outcome"]),
    batchRepliesIgnored: total("batch_replies_ignored", "Reply addresses outside the publisher's workspace.", []),
    publisherLogins: total("publisher_logins", "Logins of batch publishers to NATS, by outcome.", ["outcome"]),
  };
}

/** Metrics of jobs, runs, notifications and dependencies. */
function workMetrics({ total, level, seconds }: Maker) {
  return {
    jobsDispatched: total("jobs_dispatched", "Durable jobs put on the queue.", ["pool", "lane", "reason"]),
    callsWaiting: level("calls_waiting", "Live calls beyond their workspace's share of the queue.", ["pool"]),
    jobsWaiting: level("jobs_waiting", "Durable jobs that wait for room on the queue.", ["pool", "lane"]),
    jobsUnknown: level("jobs_unknown", "Jobs that nobody can say the outcome of yet.", []),
    jobsUnknownOldestSeconds: level("jobs_unknown_oldest_seconds", "How long the oldest of them has been so.", []),
    deliveryAttempts: total("delivery_attempts", "Attempts to send a notification.", ["type", "result"]),
    deliveriesDue: level("deliveries_due", "Deliveries whose next attempt is due.", []),
    deliveriesOldestSeconds: level("deliveries_oldest_seconds", "How long the oldest of them has been due.", []),
    deliveriesFailed: level("deliveries_failed", "Deliveries that ran out of attempts in the last day.", []),
    outboxDepth: level("outbox_depth", "What was written and not passed on yet; beyond 10000 not counted.", ["outbox"]),
    outboxOldestSeconds: level("outbox_oldest_seconds", "How long the oldest of it has waited.", ["outbox"]),
    workflowRuns: total("workflow_runs", "Runs that ended, by outcome.", ["outcome"]),
    workflowSteps: total("workflow_steps", "Attempts of steps that ended, by outcome.", ["type", "outcome"]),
    runsStalledOldestSeconds: level(
      "runs_stalled_oldest_seconds",
      "How long the oldest run has stood still that waits for nothing.",
      [],
    ),
    batches: total("batches", "Batches that ended, by outcome.", ["outcome"]),
    batchLines: total("batch_lines", "Lines of batches that ended, by outcome.", ["outcome"]),
    batchLinesOpen: level("batch_lines_open", "Lines that wait, and lines under way, of batches that go on.", [
      "state",
    ]),
    batchesOldestSeconds: level("batches_oldest_seconds", "Age of the oldest batch that has not ended.", []),
    batchesStalledOldestSeconds: level(
      "batches_stalled_oldest_seconds",
      "How long it is that a line of a batch with lines left has ended, at the longest.",
      [],
    ),
    usageBehindSeconds: level("usage_behind_seconds", "How far the hourly sums of usage lag behind its records.", []),
    budgetsFired: total("budgets_fired", "Budget alerts whose threshold was reached.", ["stops_calls"]),
    resultBytes: level("result_bytes", "Bytes of results on their way into the file store.", ["pool"]),
    capabilityEngineUp: level("capability_engine_up", "Whether an engine of capabilities works in this worker.", [
      "engine",
    ]),
    natsReconnects: total("nats_reconnects", "Connections to NATS that came back after a loss.", []),
    storageSeconds: seconds("storage", "Time of a request to the object store.", ["operation"]),
  };
}

/**
 * Adds the metrics of the process itself. prom-client's default set is not used: on Bun 1.4.4 its event loop minimum is 9·10⁹ s, its heap
 * value is virtual memory, and its handle, request and collection metrics stay empty.
 */
function addProcessMetrics(registry: Registry, { databaseWaiting = () => 0 }: MetricSources): ProcessMetrics {
  const { total, level } = makerOf(registry);
  const lag = watchEventLoop();
  gauge(registry, "sluice_event_loop_lag_seconds", "Worst event loop delay of the last ten seconds.", [], lag.worst);
  gauge(registry, "sluice_database_pool_waiting", "Waits for a connection to Postgres.", [], databaseWaiting);
  level("build_info", "1, with the version of this process.", ["version", "bun"]).set(1, manifest.version, Bun.version);
  const started = Date.now() / 1_000 - process.uptime();
  observedCounter(registry, "process_cpu_seconds_total", "User and system time of this process.", () => {
    const used = process.cpuUsage();
    return (used.user + used.system) / 1e6;
  });
  gauge(registry, "process_resident_memory_bytes", "Resident memory.", [], () => process.memoryUsage.rss());
  gauge(registry, "process_heap_used_bytes", "JavaScript heap in use.", [], () => process.memoryUsage().heapUsed);
  gauge(registry, "process_start_time_seconds", "Start of this process, Unix time.", [], () => started);
  gauge(registry, "process_open_fds", "Open files and sockets; -1 where the system does not tell.", [], openFiles);
  return {
    registry,
    spansExported: total("spans_exported", "Spans of traces that the collector took.", []),
    spansDropped: total("spans_dropped", "Spans of traces that were not delivered.", ["reason"]),
    dependencyUp: level("dependency_up", "Whether a server that this process needs can be used.", ["dependency"]),
    eventLoopLag: lag.latest,
    close: lag.stop,
  };
}

function openFiles(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return -1;
  }
}

const LAG_EVERY_MS = 250;
const LAG_SAMPLES = 40;

/** Starts a timer that measures its own delay. The timer is unreferenced and never keeps a process alive. */
function watchEventLoop(): { latest: () => number; worst: () => number; stop: () => void } {
  const samples = new Float64Array(LAG_SAMPLES);
  let next = 0;
  let due = performance.now() + LAG_EVERY_MS;
  // Includes a delay that has not ended yet.
  const overdue = (): number => Math.max(0, performance.now() - due) / 1_000;
  const timer = setInterval(() => {
    samples[next] = overdue();
    next = (next + 1) % LAG_SAMPLES;
    due = performance.now() + LAG_EVERY_MS;
  }, LAG_EVERY_MS);
  timer.unref();
  return {
    latest: () => Math.max(overdue(), samples[(next + LAG_SAMPLES - 1) % LAG_SAMPLES] ?? 0),
    worst: () => Math.max(overdue(), ...samples),
    stop: () => clearInterval(timer),
  };
}
