/** Grafana dashboards for two purposes: first diagnosis of a problem, and the normal figures of a day. */
import { type Dashboard, type Line, highest, type Panel, quantile, rate, total, type Unit } from "./panels.ts";

const named = (legend: string, line: Line): Line => ({ ...line, legend });

const panel = (title: string, unit: Unit, lines: readonly Line[], description?: string): Panel => ({
  title,
  unit,
  lines,
  ...(description === undefined ? {} : { description }),
});

const PARTS = ["admit", "queue", "provider", "settle"].map((part) =>
  named(part, quantile(0.95, "sluice_call_part_seconds", "part", `part="${part}"`)),
);

const overview: Dashboard = {
  uid: "overview",
  title: "Overview",
  rows: [
    {
      title: "Calls",
      panels: [
        panel("Responses by status", "reqps", [rate("sluice_http_requests_total", "status", 'route=~"/v1/.*"')]),
        panel("Admissions by verdict", "reqps", [rate("sluice_admissions_total", "verdict")]),
        panel("Servers available", "short", [
          { expr: "min by (dependency) (sluice_dependency_up)", legend: "{{dependency}}" },
        ]),
      ],
    },
    {
      title: "Latency",
      panels: [
        panel("Gateway overhead", "s", [
          quantile(0.5, "sluice_gateway_overhead_seconds", ""),
          quantile(0.99, "sluice_gateway_overhead_seconds", ""),
        ]),
        panel("Parts of a call, p95", "s", PARTS),
        panel("Time to first token", "s", [
          quantile(0.5, "sluice_time_to_first_token_seconds", ""),
          quantile(0.95, "sluice_time_to_first_token_seconds", ""),
        ]),
      ],
    },
    {
      title: "Routes",
      panels: [
        panel("Responses by route", "reqps", [rate("sluice_http_requests_total", "route")]),
        panel("Time to first byte, p95 by route", "s", [quantile(0.95, "sluice_http_request_seconds", "route")]),
        panel("Streams", "short", [
          named("open", total("sluice_streams_active", "")),
          named("aborted per second, {{reason}}", rate("sluice_stream_aborts_total", "reason")),
        ]),
      ],
    },
  ],
};

const money: Dashboard = {
  uid: "money",
  title: "Credits",
  rows: [
    {
      title: "Credits",
      panels: [
        panel("Credits settled per second", "short", [
          named("settled", rate("sluice_credits_settled_total", "")),
          named("settled late", rate("sluice_credits_settled_late_total", "")),
        ]),
        panel("Credits lost per second", "short", [
          named("not covered", rate("sluice_credits_uncollected_total", "")),
          named("not billed", rate("sluice_credits_unbilled_total", "")),
          named("written off", rate("sluice_credits_written_off_total", "")),
        ]),
        panel("Tokens per second", "short", [rate("sluice_tokens_total", "kind")]),
      ],
    },
    {
      title: "Ledger",
      panels: [
        panel("Open holds", "short", [named("holds", highest("sluice_holds_open", ""))]),
        panel("Oldest hold of a call", "s", [named("oldest", highest("sluice_holds_oldest_seconds", ""))]),
        panel("Ledger faults and dead letters", "short", [
          named("differences", highest("sluice_ledger_faults", "")),
          named("settle faults", highest("sluice_settle_faults", "")),
          named("dead letters", highest("sluice_dead_letters", "")),
        ]),
      ],
    },
    {
      title: "Usage",
      panels: [
        panel("Delay of the usage sums", "s", [named("behind", highest("sluice_usage_behind_seconds", ""))]),
        panel("Calls with estimated usage", "ops", [rate("sluice_usage_estimated_total", "reason")]),
        panel("Reached budgets", "ops", [rate("sluice_budgets_fired_total", "stops_calls")]),
        panel("Refusals not stored", "ops", [named("dropped", rate("sluice_refusals_dropped_total", ""))]),
      ],
    },
  ],
};

const pools: Dashboard = {
  uid: "pools",
  title: "Pools",
  rows: [
    {
      title: "Waiting",
      panels: [
        panel("Wait for a worker, p95", "s", [quantile(0.95, "sluice_queue_wait_seconds", "pool, lane")]),
        panel("Oldest queued message", "s", [highest("sluice_queue_oldest_seconds", "pool")]),
        panel("Messages queued or in progress", "short", [highest("sluice_queue_depth", "pool, lane")]),
      ],
    },
    {
      title: "Workers",
      panels: [
        panel("Busy slots", "percentunit", [
          {
            expr: "sum by (pool, lane) (sluice_worker_slots_busy) / sum by (pool, lane) (sluice_worker_slots)",
            legend: "{{pool}} {{lane}}",
          },
        ]),
        panel("Slots", "short", [total("sluice_worker_slots", "pool, lane")]),
        panel("Unacknowledged messages, share of the maximum", "percentunit", [
          {
            expr: "max by (pool, lane) (sluice_queue_unacknowledged) / max by (pool, lane) (sluice_queue_unacknowledged_max)",
            legend: "{{pool}} {{lane}}",
          },
        ]),
      ],
    },
    {
      title: "Jobs",
      panels: [
        panel("Finished jobs", "ops", [rate("sluice_jobs_total", "pool, outcome")]),
        panel("Duration of a job, p95", "s", [quantile(0.95, "sluice_job_seconds", "pool")]),
        panel("Waiting for capacity", "short", [
          named("jobs {{pool}} {{lane}}", highest("sluice_jobs_waiting", "pool, lane")),
          named("calls {{pool}}", total("sluice_calls_waiting", "pool")),
        ]),
        panel("Jobs with an unknown result", "short", [named("jobs", highest("sluice_jobs_unknown", ""))]),
        panel("Dispatches", "ops", [rate("sluice_jobs_dispatched_total", "pool, reason")]),
        panel("Batch messages", "ops", [rate("sluice_batch_messages_total", "outcome")]),
      ],
    },
    {
      title: "Batches",
      panels: [
        panel("Lines of open batches", "short", [highest("sluice_batch_lines_open", "state")]),
        panel("Oldest open batch", "s", [
          named("age", highest("sluice_batches_oldest_seconds", "")),
          named("without a finished line", highest("sluice_batches_stalled_oldest_seconds", "")),
        ]),
        panel("Finished batches and lines", "ops", [
          named("batches, {{outcome}}", rate("sluice_batches_total", "outcome")),
          named("lines, {{outcome}}", rate("sluice_batch_lines_total", "outcome")),
        ]),
      ],
    },
  ],
};

const providers: Dashboard = {
  uid: "providers",
  title: "Providers",
  rows: [
    {
      title: "Attempts",
      panels: [
        panel("Attempts", "ops", [rate("sluice_provider_seconds_count", "provider")]),
        panel("Errors by kind", "ops", [rate("sluice_provider_errors_total", "provider, kind")]),
        panel("Error rate", "percentunit", [
          {
            expr: "sum by (provider) (rate(sluice_provider_errors_total[$__rate_interval])) / sum by (provider) (rate(sluice_provider_seconds_count[$__rate_interval]))",
            legend: "{{provider}}",
          },
        ]),
      ],
    },
    {
      title: "Latency and disabled sources",
      panels: [
        panel("Duration of an attempt, p95", "s", [quantile(0.95, "sluice_provider_seconds", "provider, mode")]),
        panel("Disabled sources", "short", [highest("sluice_breaker_open_sources", "provider")]),
        panel("Rescued streams", "ops", [rate("sluice_streams_rescued_total", "outcome")]),
      ],
    },
  ],
};

const workflows: Dashboard = {
  uid: "workflows",
  title: "Workflows and webhooks",
  rows: [
    {
      title: "Runs",
      panels: [
        panel("Finished runs", "ops", [rate("sluice_workflow_runs_total", "outcome")]),
        panel("Finished attempts of steps", "ops", [rate("sluice_workflow_steps_total", "type, outcome")]),
        panel("Oldest stalled run", "s", [named("age", highest("sluice_runs_stalled_oldest_seconds", ""))]),
      ],
    },
    {
      title: "Notifications",
      panels: [
        panel("Attempts", "ops", [rate("sluice_delivery_attempts_total", "type, result")]),
        panel("Delay of deliveries", "s", [named("oldest due", highest("sluice_deliveries_oldest_seconds", ""))]),
        panel("Failed deliveries in a day", "short", [named("deliveries", highest("sluice_deliveries_failed", ""))]),
      ],
    },
    {
      title: "Outboxes",
      panels: [
        panel("Rows waiting", "short", [highest("sluice_outbox_depth", "outbox")]),
        panel("Oldest row", "s", [highest("sluice_outbox_oldest_seconds", "outbox")]),
      ],
    },
  ],
};

const processes: Dashboard = {
  uid: "processes",
  title: "Processes",
  rows: [
    {
      title: "Each process",
      panels: [
        panel("CPU, cores", "short", [rate("process_cpu_seconds_total", "role, instance")]),
        panel("Resident memory", "bytes", [highest("process_resident_memory_bytes", "role, instance")]),
        panel("Event loop delay", "s", [highest("sluice_event_loop_lag_seconds", "role, instance")]),
        panel("Open files", "short", [highest("process_open_fds", "role, instance")]),
        panel("Versions", "short", [total("sluice_build_info", "role, version")]),
        panel("Results in memory and on disk", "bytes", [highest("sluice_result_bytes", "pool")]),
      ],
    },
    {
      title: "Servers",
      panels: [
        panel("Statements waiting for a connection", "short", [
          highest("sluice_database_pool_waiting", "role, instance"),
        ]),
        panel("Object store, p95", "s", [quantile(0.95, "sluice_storage_seconds", "operation")]),
        panel("Reconnects to NATS", "ops", [rate("sluice_nats_reconnects_total", "role")]),
        panel("Calls per grouped statement, p50", "short", [quantile(0.5, "sluice_group_size", "group")]),
        panel("Duration of an admission", "s", [
          quantile(0.5, "sluice_admission_seconds", ""),
          quantile(0.99, "sluice_admission_seconds", ""),
        ]),
        panel("Spans", "ops", [
          named("exported", rate("sluice_spans_exported_total", "")),
          named("dropped, {{reason}}", rate("sluice_spans_dropped_total", "reason")),
        ]),
      ],
    },
  ],
};

export const DASHBOARDS: readonly Dashboard[] = [overview, money, pools, providers, workflows, processes];
