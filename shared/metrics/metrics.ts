/**
 * Every metric of the service. Label values come from our own lists (routes, pools, decisions, catalogue slugs), never from a caller. A
 * user's text as a label would grow without bound and could contain a secret.
 */
import { readdirSync } from "node:fs";

import { AggregatorRegistry, Registry } from "prom-client";

import manifest from "../../package.json" with { type: "json" };

import { watchEventLoop } from "./event-loop.ts";
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

/** Metrics of a process that do not depend on its roles. */
export interface ProcessMetrics {
  readonly registry: Registry;
  readonly spansExported: Counter<[]>;
  /** Number of dropped trace spans. `reason`: full, refused or failed. */
  readonly spansDropped: Counter<[reason: string]>;
  /** 1 if the last check of the dependency succeeded, otherwise 0. */
  readonly dependencyUp: Gauge<[dependency: string]>;
  /** Returns the last measured delay of the event loop, in seconds. */
  eventLoopLag(): number;
  /** Stops the measurement of the event loop's delay. */
  close(): void;
}

export interface Metrics extends ProcessMetrics {
  /** Number of HTTP requests. `route` is the route pattern, not the URL path; "unmatched" for requests without a route. */
  readonly httpRequests: Counter<[route: string, method: string, status: string]>;
  /** Time until the response headers are sent. A stream may continue much longer. */
  readonly httpRequestSeconds: Histogram<[route: string]>;
  readonly socketMessagesRefused: Counter<[]>;
  readonly admissions: Counter<[verdict: string]>;
  readonly admissionSeconds: Histogram<[]>;
  /** Total time of a call minus the time that its provider took. */
  readonly gatewayOverheadSeconds: Histogram<[]>;
  /**
   * Duration of each phase of a call with a waiting caller. `part`: `admit` until the call is queued, `queue` until a worker has it,
   * `provider`, `settle`.
   */
  readonly callPartSeconds: Histogram<[part: string]>;
  readonly groupSize: Histogram<[group: string]>;
  readonly jobs: Counter<[pool: string, outcome: string]>;
  readonly jobSeconds: Histogram<[pool: string]>;
  readonly workerSlots: Gauge<[pool: string, lane: string]>;
  readonly workerSlotsBusy: Gauge<[pool: string, lane: string]>;
  /** Duration of provider requests. `mode`: complete or stream. `model`: a slug of the catalogue. */
  readonly providerSeconds: Histogram<[provider: string, model: string, mode: string]>;
  readonly providerErrors: Counter<[provider: string, kind: string]>;
  readonly providerKeyRefusals: Counter<[provider: string]>;
  /** Number of disabled sources, as known to this process. */
  readonly breakerOpen: Gauge<[provider: string]>;
  /** Number of circuit changes that this process decided, without those of other workers. `change`: opened, lengthened or closed. */
  readonly breakerChanges: Counter<[provider: string, change: string]>;
  readonly timeToFirstTokenSeconds: Histogram<[]>;
  /** Number of tokens. `kind`: a unit of the usage record that counts tokens. */
  readonly tokens: Counter<[kind: string]>;
  readonly creditsSettled: CreditsCounter;
  readonly creditsUncollected: CreditsCounter;
  readonly creditsSettledLate: CreditsCounter;
  readonly creditsUnbilled: CreditsCounter;
  /** Credits of holds whose jobs ended without a known outcome. */
  readonly creditsWrittenOff: CreditsCounter;
  readonly holdsOpen: Gauge<[]>;
  readonly holdsOldestSeconds: Gauge<[]>;
  readonly queueDepth: Gauge<[pool: string, lane: string]>;
  readonly queueOldestSeconds: Gauge<[pool: string]>;
  readonly queueWaitSeconds: Histogram<[pool: string, lane: string]>;
  readonly queueUnacknowledged: Gauge<[pool: string, lane: string]>;
  readonly queueUnacknowledgedMax: Gauge<[pool: string, lane: string]>;
  readonly deadLetters: Gauge<[]>;
  /** Number of holds closed without charging the actual usage that no operator has resolved yet. */
  readonly settleFaults: Gauge<[]>;
  /** Number of items that failed in a janitor sweep and are retried later. */
  readonly sweepPutOff: Gauge<[sweep: string]>;
  /** Number of differences that the last audit of new ledger entries found. */
  readonly ledgerFaults: Gauge<[]>;
  /** Unix time at which the last audit of the ledger ended, in seconds, regardless of its result. */
  readonly ledgerAuditedAt: Gauge<[]>;
  readonly creditLines: Gauge<[]>;
  readonly creditLineCalls: Counter<[]>;
  readonly callsLost: Counter<[]>;
  readonly refusalsDropped: Counter<[]>;
  readonly answersSettledByIngress: Counter<[]>;
  readonly streamsActive: Gauge<[]>;
  readonly streamAborts: Counter<[reason: string]>;
  readonly usageEstimated: Counter<[reason: string]>;
  /** Number of interrupted streams that another model could continue. `outcome`: continued or failed. */
  readonly streamsRescued: Counter<[outcome: string]>;
  readonly catalogueReloads: Counter<[result: string]>;
  /** Number of batch messages. `outcome`: queued, refused, repeated, waiting or failed. */
  readonly batchMessages: Counter<[outcome: string]>;
  readonly batchRepliesIgnored: Counter<[]>;
  /** Number of ended batches. `outcome`: completed, expired, cancelled or failed. */
  readonly batches: Counter<[outcome: string]>;
  /** Number of ended batch lines. `outcome`: as for batches. `failed` includes rejected calls; the others were never called. */
  readonly batchLines: Counter<[outcome: string]>;
  /** Number of unfinished lines of open batches. `state`: waiting or running. */
  readonly batchLinesOpen: Gauge<[state: string]>;
  readonly batchesOldestSeconds: Gauge<[]>;
  /** Longest time since the last line of a batch ended, among batches with open lines, in seconds. */
  readonly batchesStalledOldestSeconds: Gauge<[]>;
  /** Number of publisher logins. `outcome`: admitted, refused, busy or failed. */
  readonly publisherLogins: Counter<[outcome: string]>;
  /** Number of job messages sent. `reason`: admitted, released or repeated. */
  readonly jobsDispatched: Counter<[pool: string, lane: string, reason: string]>;
  readonly callsWaiting: Gauge<[pool: string]>;
  readonly jobsWaiting: Gauge<[pool: string, lane: string]>;
  /** Number of jobs with unknown outcome, for which paid work may exist at a provider. */
  readonly jobsUnknown: Gauge<[]>;
  readonly jobsUnknownOldestSeconds: Gauge<[]>;
  /** Number of delivery attempts, by type of channel and result: an AttemptFault, or `ok`. */
  readonly deliveryAttempts: Counter<[type: string, result: string]>;
  readonly deliveriesDue: Gauge<[]>;
  readonly deliveriesOldestSeconds: Gauge<[]>;
  readonly deliveriesFailed: Gauge<[]>;
  /** Number of rows in an outbox: jobs whose message the queue has not confirmed, or events without a delivery. */
  readonly outboxDepth: Gauge<[outbox: string]>;
  readonly outboxOldestSeconds: Gauge<[outbox: string]>;
  readonly workflowRuns: Counter<[outcome: string]>;
  /** Number of ended workflow steps. `type`: type of the step. */
  readonly workflowSteps: Counter<[type: string, outcome: string]>;
  /** Age of the oldest run that neither progresses nor waits for anything, in seconds. */
  readonly runsStalledOldestSeconds: Gauge<[]>;
  /** Time between the newest record in the hourly usage sums and now, in seconds. */
  readonly usageBehindSeconds: Gauge<[]>;
  /** Number of reached budgets. `stopsCalls`: true or false. */
  readonly budgetsFired: Counter<[stopsCalls: string]>;
  readonly cacheLookups: Counter<[result: string]>;
  readonly bodiesKept: Counter<[outcome: string]>;
  /** Bytes of media results that a worker keeps in memory and on disk. */
  readonly resultBytes: Gauge<[pool: string]>;
  readonly natsReconnects: Counter<[]>;
  /** Time until the headers of the object store's response, including all retries. `operation`: an S3 command. */
  readonly storageSeconds: Histogram<[operation: string]>;
  /** 1 if capabilities of this engine can run, otherwise 0. */
  readonly capabilityEngineUp: Gauge<[engine: string]>;
}

// 0.25 ms to 10 s: our share of a call is measured in fractions of a millisecond.
const OVERHEAD_BUCKETS = [
  0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const WORK_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800];
const GROUP_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/**
 * Histogram buckets for the phases of a call, in seconds. Our own phases take fractions of a millisecond; the provider's may take minutes.
 */
const PART_BUCKETS = [...OVERHEAD_BUCKETS, 30, 60, 120, 300, 600];

/** Functions that return values of other modules, called at each scrape. */
export interface MetricSources {
  /** Returns the number of statements that wait for a connection to Postgres. */
  readonly databaseWaiting?: () => number;
}

/** Creates the metrics of a process. Its name is the label `role`. */
export function createProcessMetrics(name: string, sources: MetricSources = {}): ProcessMetrics {
  return addProcessMetrics(openRegistry(name), sources);
}

/**
 * Creates the metrics of one role in a separate registry, under the label `role`.
 * @param ofProcess metrics of the process, which have their own page; if absent, the registry contains them too
 */
export function createMetrics(role: string, ofProcess?: ProcessMetrics): Metrics {
  const registry = openRegistry(role);
  const make = makerOf(registry);
  const { seconds, total, level } = make;
  return {
    ...(ofProcess ?? addProcessMetrics(registry, {})),
    registry,
    httpRequests: total(
      "http_requests",
      "Number of HTTP responses on the public port, by route pattern, method and status.",
      ["route", "method", "status"],
    ),
    httpRequestSeconds: seconds(
      "http_request",
      "Time from an HTTP request to its response headers, in seconds, by route pattern.",
      ["route"],
    ),
    socketMessagesRefused: total(
      "socket_messages_refused",
      "Number of WebSocket messages rejected because too many turns of their connection were waiting.",
      [],
    ),
    admissions: total("admissions", "Number of admission requests, by verdict.", ["verdict"]),
    admissionSeconds: seconds(
      "admission",
      "Time from an admission request to its verdict, in seconds.",
      [],
      OVERHEAD_BUCKETS,
    ),
    gatewayOverheadSeconds: seconds(
      "gateway_overhead",
      "Total time of a call minus the time of its provider, in seconds.",
      [],
      OVERHEAD_BUCKETS,
    ),
    callPartSeconds: seconds(
      "call_part",
      "Time of each part of a call (admit, queue, provider, settle), in seconds.",
      ["part"],
      PART_BUCKETS,
    ),
    groupSize: histogram(
      registry,
      "sluice_group_size",
      "Number of calls in one grouped statement, by group.",
      ["group"],
      GROUP_BUCKETS,
    ),
    jobs: total("jobs", "Number of ended jobs, by pool and outcome.", ["pool", "outcome"]),
    jobSeconds: seconds("job", "Time from the claim to the end of a job, in seconds, by pool.", ["pool"]),
    workerSlots: level("worker_slots", "Maximum number of concurrent jobs of this process, by pool and lane.", [
      "pool",
      "lane",
    ]),
    workerSlotsBusy: level("worker_slots_busy", "Number of slots with a running job, by pool and lane.", [
      "pool",
      "lane",
    ]),
    providerSeconds: seconds(
      "provider",
      "Duration of one attempt at a provider, in seconds, by provider, model and mode.",
      ["provider", "model", "mode"],
    ),
    providerErrors: total("provider_errors", "Number of failed attempts at a provider, by provider and error class.", [
      "provider",
      "kind",
    ]),
    providerKeyRefusals: total(
      "provider_key_refusals",
      "Number of attempts that a provider answered with 401 or 403, by provider.",
      ["provider"],
    ),
    breakerOpen: level("breaker_open_sources", "Number of sources disabled after errors, by provider.", ["provider"]),
    breakerChanges: total(
      "breaker_changes",
      "Number of sources that this process disabled, kept disabled or enabled, by provider and change.",
      ["provider", "change"],
    ),
    timeToFirstTokenSeconds: seconds(
      "time_to_first_token",
      "Time from a request to its first token sent, in seconds.",
      [],
    ),
    tokens: total("tokens", "Number of tokens of settled calls, by kind.", ["kind"]),
    creditsSettled: credits(registry, "sluice_credits_settled_total", "Credits charged by settlements."),
    creditsUncollected: credits(
      registry,
      "sluice_credits_uncollected_total",
      "Credits that settlements could not charge because the balance did not cover them.",
    ),
    creditsSettledLate: credits(
      registry,
      "sluice_credits_settled_late_total",
      "Credits of delivered responses that were charged after their hold had been released.",
    ),
    creditsUnbilled: credits(
      registry,
      "sluice_credits_unbilled_total",
      "Credits of delivered responses that could not be charged because their hold had been released.",
    ),
    creditsWrittenOff: credits(
      registry,
      "sluice_credits_written_off_total",
      "Credits of released holds whose job had an unknown outcome; the provider may have charged for it.",
    ),
    holdsOpen: level("holds_open", "Number of open holds; an estimate above 10000.", []),
    holdsOldestSeconds: level("holds_oldest_seconds", "Age of the oldest open hold, in seconds.", []),
    ...queueMetrics(make),
    ...faultMetrics(make),
    ...workMetrics(make),
  };
}

/** Combines several registries into one metrics page. Each metric appears once, with the samples of every role. */
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

/** Metrics of the queue. */
function queueMetrics({ level, seconds }: Maker) {
  return {
    queueDepth: level("queue_depth", "Number of work messages that are queued or in progress, by pool and lane.", [
      "pool",
      "lane",
    ]),
    queueOldestSeconds: level(
      "queue_oldest_seconds",
      "Age of the oldest work message that no worker has received, in seconds, by pool.",
      ["pool"],
    ),
    queueWaitSeconds: seconds(
      "queue_wait",
      "Time that a work message waited in the queue, in seconds, by pool and lane.",
      ["pool", "lane"],
    ),
    queueUnacknowledged: level(
      "queue_unacknowledged",
      "Number of messages delivered to workers and not acknowledged, by pool and lane.",
      ["pool", "lane"],
    ),
    queueUnacknowledgedMax: level(
      "queue_unacknowledged_max",
      "Number of unacknowledged messages at which a lane stops, by pool and lane.",
      ["pool", "lane"],
    ),
  };
}

/** Creates the metrics of faults and anomalies. */
function faultMetrics({ total, level }: Maker) {
  return {
    settleFaults: level(
      "settle_faults",
      "Number of unresolved settle faults: holds closed without settlement at actual usage.",
      [],
    ),
    sweepPutOff: level("sweep_put_off", "Number of items that failed in a sweep and are retried later, by sweep.", [
      "sweep",
    ]),
    ledgerFaults: level("ledger_faults", "Number of differences found by the last ledger audit.", []),
    ledgerAuditedAt: level(
      "ledger_audited_timestamp_seconds",
      "Unix time at which the last ledger audit ended, in seconds.",
      [],
    ),
    deadLetters: level("dead_letters", "Number of dead letters that wait for an operator.", []),
    creditLines: level("credit_lines", "Number of open credit lines of this ingress; a workspace has at most one.", []),
    creditLineCalls: total("credit_line_calls", "Number of calls admitted on a credit line.", []),
    callsLost: total("calls_lost", "Number of calls whose worker died before it reported an end.", []),
    refusalsDropped: total("refusals_dropped", "Number of refused calls that were not stored for their owners.", []),
    answersSettledByIngress: total(
      "answers_settled_by_ingress",
      "Number of delivered responses that the ingress settled because their worker did not report a settlement.",
      [],
    ),
    streamsActive: level("streams_active", "Number of streams that this ingress relays now.", []),
    cacheLookups: total("cache_lookups", "Number of lookups in the response cache, by result.", ["result"]),
    bodiesKept: total("bodies_kept", "Number of calls whose bodies were stored or dropped, by outcome.", ["outcome"]),
    streamAborts: total("stream_aborts", "Number of streams that ended before their last frame, by reason.", [
      "reason",
    ]),
    streamsRescued: total(
      "streams_rescued",
      "Number of interrupted streams that another model could continue, by outcome.",
      ["outcome"],
    ),
    usageEstimated: total("usage_estimated", "Number of calls charged by our own usage estimate, by reason.", [
      "reason",
    ]),
    catalogueReloads: total("catalogue_reloads", "Number of catalogue reloads, by result.", ["result"]),
    batchMessages: total("batch_messages", "Number of processed batch messages, by outcome.", ["outcome"]),
    batchRepliesIgnored: total(
      "batch_replies_ignored",
      "Number of ignored reply addresses outside the workspace of their publisher.",
      [],
    ),
    publisherLogins: total("publisher_logins", "Number of logins of batch publishers to NATS, by outcome.", [
      "outcome",
    ]),
  };
}

/** Creates the metrics of jobs, runs, notifications and dependencies. */
function workMetrics({ total, level, seconds }: Maker) {
  return {
    jobsDispatched: total("jobs_dispatched", "Number of durable jobs put on the queue, by pool, lane and reason.", [
      "pool",
      "lane",
      "reason",
    ]),
    callsWaiting: level(
      "calls_waiting",
      "Number of synchronous calls that wait because their workspace has used its share of the queue, by pool.",
      ["pool"],
    ),
    jobsWaiting: level(
      "jobs_waiting",
      "Number of durable jobs that wait for capacity on the queue, by pool and lane.",
      ["pool", "lane"],
    ),
    jobsUnknown: level("jobs_unknown", "Number of jobs with an unknown outcome.", []),
    jobsUnknownOldestSeconds: level(
      "jobs_unknown_oldest_seconds",
      "Age of the oldest job with an unknown outcome, in seconds.",
      [],
    ),
    deliveryAttempts: total(
      "delivery_attempts",
      "Number of attempts to send a notification, by channel type and result.",
      ["type", "result"],
    ),
    deliveriesDue: level("deliveries_due", "Number of deliveries whose next attempt is due.", []),
    deliveriesOldestSeconds: level(
      "deliveries_oldest_seconds",
      "Time since the oldest due delivery became due, in seconds.",
      [],
    ),
    deliveriesFailed: level(
      "deliveries_failed",
      "Number of deliveries that failed their last attempt within 24 hours.",
      [],
    ),
    outboxDepth: level("outbox_depth", "Number of unsent rows of an outbox, at most 10000, by outbox.", ["outbox"]),
    outboxOldestSeconds: level(
      "outbox_oldest_seconds",
      "Age of the oldest unsent row of an outbox, in seconds, by outbox.",
      ["outbox"],
    ),
    workflowRuns: total("workflow_runs", "Number of ended workflow runs, by outcome.", ["outcome"]),
    workflowSteps: total("workflow_steps", "Number of ended attempts of workflow steps, by step type and outcome.", [
      "type",
      "outcome",
    ]),
    runsStalledOldestSeconds: level(
      "runs_stalled_oldest_seconds",
      "Time without progress of the oldest stalled run, which waits for nothing, in seconds.",
      [],
    ),
    batches: total("batches", "Number of ended batches, by outcome.", ["outcome"]),
    batchLines: total("batch_lines", "Number of ended batch lines, by outcome.", ["outcome"]),
    batchLinesOpen: level("batch_lines_open", "Number of lines of open batches, by state (waiting, running).", [
      "state",
    ]),
    batchesOldestSeconds: level("batches_oldest_seconds", "Age of the oldest open batch, in seconds.", []),
    batchesStalledOldestSeconds: level(
      "batches_stalled_oldest_seconds",
      "Longest time since the last ended line among open batches with unfinished lines, in seconds.",
      [],
    ),
    usageBehindSeconds: level(
      "usage_behind_seconds",
      "Age of the newest usage record in the hourly sums, in seconds.",
      [],
    ),
    budgetsFired: total(
      "budgets_fired",
      "Number of budget alerts whose threshold was reached, by whether they stop calls.",
      ["stops_calls"],
    ),
    resultBytes: level(
      "result_bytes",
      "Size of media results in memory and on disk that are not stored yet, in bytes, by pool.",
      ["pool"],
    ),
    capabilityEngineUp: level(
      "capability_engine_up",
      "1 if this worker can run the capabilities of an engine, else 0, by engine.",
      ["engine"],
    ),
    natsReconnects: total("nats_reconnects", "Number of connections to NATS restored after a loss.", []),
    storageSeconds: seconds(
      "storage",
      "Time of a request to the object store over all retries, in seconds, by operation.",
      ["operation"],
    ),
  };
}

/**
 * Adds the metrics of the process. The default set of prom-client is not used, because it is wrong on Bun 1.4.4. Its event loop minimum is
 * 9·10⁹ s and its heap value is virtual memory. Its handle, request and collection metrics stay empty.
 */
function addProcessMetrics(registry: Registry, { databaseWaiting = () => 0 }: MetricSources): ProcessMetrics {
  const { total, level } = makerOf(registry);
  const lag = watchEventLoop();
  gauge(
    registry,
    "sluice_event_loop_lag_seconds",
    "Longest event loop delay of the last ten seconds, in seconds.",
    [],
    lag.worst,
  );
  gauge(
    registry,
    "sluice_database_pool_waiting",
    "Number of statements that wait for a connection to Postgres.",
    [],
    databaseWaiting,
  );
  level("build_info", "Always 1; the labels contain the versions of Sluice and Bun.", ["version", "bun"]).set(
    1,
    manifest.version,
    Bun.version,
  );
  const started = Date.now() / 1_000 - process.uptime();
  observedCounter(
    registry,
    "process_cpu_seconds_total",
    "User and system CPU time of this process, in seconds.",
    () => {
      const used = process.cpuUsage();
      return (used.user + used.system) / 1e6;
    },
  );
  gauge(registry, "process_resident_memory_bytes", "Resident memory of this process, in bytes.", [], () =>
    process.memoryUsage.rss(),
  );
  gauge(
    registry,
    "process_heap_used_bytes",
    "JavaScript heap in use, in bytes.",
    [],
    () => process.memoryUsage().heapUsed,
  );
  gauge(
    registry,
    "process_start_time_seconds",
    "Unix time at which this process started, in seconds.",
    [],
    () => started,
  );
  gauge(
    registry,
    "process_open_fds",
    "Number of open files and sockets; -1 if the system does not report it.",
    [],
    openFiles,
  );
  return {
    registry,
    spansExported: total("spans_exported", "Number of trace spans that the collector accepted.", []),
    spansDropped: total("spans_dropped", "Number of trace spans that were not delivered, by reason.", ["reason"]),
    dependencyUp: level("dependency_up", "1 if the last check of a required server succeeded, else 0, by dependency.", [
      "dependency",
    ]),
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
