/**
 * Alerts on the metrics of shared/metrics/metrics.ts, as data. Every janitor sets the same gauges, so rules use their maximum. Each alert
 * has a section with its name in schemas/docs/operate/alerts.md.
 */

/** page: act at once. ticket: act during working hours. none: always fires; its absence is the alarm. */
export type Severity = "page" | "ticket" | "none";

export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** Time for which the expression must be true before the alert fires. */
  readonly for?: string;
  readonly severity: Severity;
  readonly summary: string;
}

interface Objective {
  readonly name: string;
  /** Share of calls that may miss the objective, from 0 to 1. */
  readonly budget: number;
  /** Returns the PromQL expression for the share of calls that missed the objective in a time range, such as `1h`. */
  readonly missed: (window: string) => string;
  readonly summary: string;
}

const OBJECTIVES: readonly (Objective & { readonly fast: Severity })[] = [
  {
    name: "AvailabilityBurn",
    budget: 0.001,
    fast: "page",
    missed: (window) =>
      `sum(rate(sluice_http_requests_total{route=~"/v1/.*",status=~"500|503"}[${window}])) / sum(rate(sluice_http_requests_total{route=~"/v1/.*",status!~"4.."}[${window}]))`,
    summary: "The error budget of 0.1 % of requests (500 or 503) burns too fast.",
  },
  {
    name: "OverheadBurn",
    budget: 0.01,
    fast: "ticket",
    missed: (window) =>
      `1 - sum(rate(sluice_gateway_overhead_seconds_bucket{le="0.05"}[${window}])) / sum(rate(sluice_gateway_overhead_seconds_count[${window}]))`,
    summary: "The budget of 1 % of calls with over 50 ms of our own time burns too fast.",
  },
];

/**
 * Burn-rate alerts after the Google SRE workbook. The long time range makes an alert significant, the short one ends it soon after the
 * problem.
 */
const BURNS = [
  { suffix: "", rate: 14.4, long: "1h", short: "5m", isFast: true },
  { suffix: "Slow", rate: 6, long: "6h", short: "30m", isFast: true },
  { suffix: "Creeping", rate: 1, long: "3d", short: "6h", isFast: false },
] as const;

function burnAlerts(): Alert[] {
  return OBJECTIVES.flatMap(({ name, budget, fast, missed, summary }) =>
    BURNS.map(({ suffix, rate, long, short, isFast }) => {
      const over = (window: string): string => `(${missed(window)}) > ${Number((rate * budget).toPrecision(6))}`;
      const severity = isFast ? fast : "ticket";
      const burn = `${over(long)} and ${over(short)}`;
      return { name: `${name}${suffix}`, expr: burn, severity, summary };
    }),
  );
}

const OTHERS: readonly Alert[] = [
  {
    name: "LedgerDifference",
    expr: "max(sluice_ledger_faults) > 0",
    severity: "page",
    summary: "The ledger audit found amounts that do not add up.",
  },
  {
    name: "AuditLate",
    expr: "time() - max(sluice_ledger_audited_timestamp_seconds) > 10800 or absent(sluice_ledger_audited_timestamp_seconds)",
    for: "30m",
    severity: "ticket",
    summary: "The hourly ledger audit has not finished for three hours.",
  },
  {
    name: "NoJanitor",
    expr: "absent(sluice_holds_oldest_seconds)",
    for: "5m",
    severity: "page",
    summary:
      "No janitor runs: holds stay open, due work does not begin, and alerts on the figures of janitors cannot fire.",
  },
  {
    name: "HoldsStuck",
    expr: "max(sluice_holds_oldest_seconds) > 900",
    for: "5m",
    severity: "page",
    summary: "Holds are open long after their deadline: no janitor closes them.",
  },
  {
    name: "SettleFaults",
    expr: "max(sluice_settle_faults) > 0",
    severity: "ticket",
    summary: "A hold was closed without being settled.",
  },
  {
    name: "CallsLost",
    expr: "sum(increase(sluice_calls_lost_total[10m])) > 0",
    severity: "ticket",
    summary: "A worker or ingress crashed while it processed a call.",
  },
  {
    name: "QueueWaiting",
    expr: 'histogram_quantile(0.95, sum by (pool, le) (rate(sluice_queue_wait_seconds_bucket{lane="live"}[5m]))) > 10',
    for: "5m",
    severity: "page",
    summary: "5 % of the calls of a pool wait longer than ten seconds for a worker.",
  },
  {
    name: "PoolWithoutWorkers",
    expr: 'max by (pool) (sluice_queue_depth{lane="live"}) > 0 unless on (pool) sum by (pool) (sluice_worker_slots{lane="live"}) > 0',
    for: "2m",
    severity: "page",
    summary: "Work waits in a pool that no worker serves.",
  },
  {
    name: "QueueUnacknowledged",
    expr: "max by (pool, lane) (sluice_queue_unacknowledged) > 0.8 * max by (pool, lane) (sluice_queue_unacknowledged_max)",
    for: "1m",
    severity: "page",
    summary: "A lane is about to stop: over 80 % of its unacknowledged messages are in use.",
  },
  {
    name: "DependencyDown",
    expr: 'min by (dependency) (sluice_dependency_up{dependency=~"database|queue"}) == 0',
    for: "1m",
    severity: "page",
    summary: "A process cannot use Postgres or NATS: nothing is served.",
  },
  {
    name: "StorageDown",
    expr: 'min by (dependency) (sluice_dependency_up{dependency="storage"}) == 0',
    for: "5m",
    severity: "ticket",
    summary: "A process cannot use the object store: files, media and large requests fail.",
  },
  {
    name: "ProviderFailing",
    expr: "sum by (provider) (rate(sluice_provider_errors_total[10m])) / sum by (provider) (rate(sluice_provider_seconds_count[10m])) > 0.2",
    for: "10m",
    severity: "ticket",
    summary: "More than 20 % of the attempts at a provider fail.",
  },
  {
    name: "ProviderKeyRefused",
    expr: "sum by (provider) (increase(sluice_provider_key_refusals_total[10m])) > 0",
    severity: "ticket",
    summary: "A provider refuses our key: its models are unavailable where no other provider serves them.",
  },
  {
    name: "BreakerOpen",
    expr: "max by (provider) (sluice_breaker_open_sources) > 0",
    for: "5m",
    severity: "ticket",
    summary: "Sources of a provider are disabled after errors.",
  },
  {
    name: "UsageEstimated",
    expr: "sum by (reason) (increase(sluice_usage_estimated_total[1h])) > 10",
    severity: "ticket",
    summary: "A provider reports no usable usage, so calls are billed by our own count.",
  },
  {
    name: "DeadLetters",
    expr: "max(sluice_dead_letters) > 0",
    for: "15m",
    severity: "ticket",
    summary: "Messages that no worker could finish wait for an operator.",
  },
  {
    name: "JobsUnknownOld",
    expr: "max(sluice_jobs_unknown_oldest_seconds) > 69120",
    severity: "ticket",
    summary: "A job at a provider has no result for 80 % of the time after which it is written off.",
  },
  {
    name: "OutboxStuck",
    expr: "max by (outbox) (sluice_outbox_oldest_seconds) > 60",
    for: "2m",
    severity: "ticket",
    summary: "Rows of an outbox wait longer than a minute to be sent.",
  },
  {
    name: "WebhookLate",
    expr: "max(sluice_deliveries_oldest_seconds) > 300",
    for: "5m",
    severity: "ticket",
    summary: "Notifications are five minutes late.",
  },
  {
    name: "RunsStalled",
    expr: "max(sluice_runs_stalled_oldest_seconds) > 300",
    for: "10m",
    severity: "ticket",
    summary: "Workflow runs make no progress although they wait for nothing.",
  },
  {
    name: "BatchesStalled",
    expr: "max(sluice_batches_stalled_oldest_seconds) > 3600",
    for: "10m",
    severity: "ticket",
    summary: "A batch has finished no line for an hour, although it has lines left.",
  },
  {
    name: "UsageBehind",
    expr: "max(sluice_usage_behind_seconds) > 900",
    for: "5m",
    severity: "ticket",
    summary: "The hourly usage sums are 15 minutes behind.",
  },
  {
    name: "SweepPutOff",
    expr: "max by (sweep) (sluice_sweep_put_off) > 0",
    for: "1h",
    severity: "ticket",
    summary: "A sweep of the janitor fails on a row again and again.",
  },
  {
    name: "CreditsWrittenOff",
    expr: "sum(increase(sluice_credits_written_off_total[1h])) > 0",
    severity: "ticket",
    summary: "Holds were released for work that a provider may have charged.",
  },
  {
    name: "DatabasePoolWaiting",
    expr: "max by (role, instance) (sluice_database_pool_waiting) > 0",
    for: "2m",
    severity: "ticket",
    summary: "Statements of a process wait for a connection to Postgres.",
  },
  {
    name: "LoopLag",
    expr: "max by (role, instance) (sluice_event_loop_lag_seconds) > 1",
    for: "1m",
    severity: "ticket",
    summary: "A process is overloaded or blocked; its heartbeats are late.",
  },
  {
    name: "MemoryGrowth",
    expr: "deriv(process_resident_memory_bytes[6h]) * 3600 > 20e6",
    for: "1h",
    severity: "ticket",
    summary: "The memory of a process has grown by more than 20 MB an hour for six hours.",
  },
  {
    name: "CatalogueRefused",
    expr: 'sum(increase(sluice_catalogue_reloads_total{result="refused"}[15m])) > 0',
    severity: "ticket",
    summary: "A catalogue file was refused; the previous catalogue stays active.",
  },
  {
    name: "CapabilityEngineDown",
    expr: "max by (engine) (sluice_capability_engine_up) == 0",
    for: "5m",
    severity: "ticket",
    summary: "No worker can run the capabilities of an engine.",
  },
  {
    name: "SpansDropped",
    expr: "sum by (reason) (increase(sluice_spans_dropped_total[15m])) > 0",
    for: "30m",
    severity: "ticket",
    summary: "Spans do not reach the collector.",
  },
  {
    name: "Watchdog",
    expr: "vector(1)",
    severity: "none",
    summary: "Always fires. Its absence means that alerts do not reach you.",
  },
];

export const ALERTS: readonly Alert[] = [...burnAlerts(), ...OTHERS];
