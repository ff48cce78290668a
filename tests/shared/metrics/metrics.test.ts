import { afterEach, describe, expect, test } from "bun:test";

import { Registry } from "prom-client";

import { counter, gauge, histogram } from "#shared/metrics/metric-handles.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";

const open: Metrics[] = [];

function metricsOf(role: string): Metrics {
  const metrics = createMetrics(role);
  open.push(metrics);
  return metrics;
}

afterEach(() => {
  for (const metrics of open.splice(0)) metrics.close();
});

/** Samples of a page by their full name with labels. */
async function samples(registry: Registry): Promise<Map<string, number>> {
  const page = await registry.metrics();
  const lines = page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}

describe("the page", () => {
  test("contains every metric that dashboards and operators' pages use", async () => {
    const page = await metricsOf("worker").registry.metrics();
    const types = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    expect(types.toSorted()).toMatchInlineSnapshot(`
      [
        "process_cpu_seconds_total counter",
        "process_heap_used_bytes gauge",
        "process_open_fds gauge",
        "process_resident_memory_bytes gauge",
        "process_start_time_seconds gauge",
        "sluice_admission_seconds histogram",
        "sluice_admissions_total counter",
        "sluice_answers_settled_by_ingress_total counter",
        "sluice_batch_lines_open gauge",
        "sluice_batch_lines_total counter",
        "sluice_batch_messages_total counter",
        "sluice_batch_replies_ignored_total counter",
        "sluice_batches_oldest_seconds gauge",
        "sluice_batches_stalled_oldest_seconds gauge",
        "sluice_batches_total counter",
        "sluice_bodies_kept_total counter",
        "sluice_breaker_changes_total counter",
        "sluice_breaker_open_sources gauge",
        "sluice_budgets_fired_total counter",
        "sluice_build_info gauge",
        "sluice_cache_lookups_total counter",
        "sluice_call_part_seconds histogram",
        "sluice_calls_lost_total counter",
        "sluice_calls_waiting gauge",
        "sluice_capability_engine_up gauge",
        "sluice_catalogue_reloads_total counter",
        "sluice_credit_line_calls_total counter",
        "sluice_credit_lines gauge",
        "sluice_credits_settled_late_total counter",
        "sluice_credits_settled_total counter",
        "sluice_credits_unbilled_total counter",
        "sluice_credits_uncollected_total counter",
        "sluice_credits_written_off_total counter",
        "sluice_database_pool_waiting gauge",
        "sluice_dead_letters gauge",
        "sluice_deliveries_due gauge",
        "sluice_deliveries_failed gauge",
        "sluice_deliveries_oldest_seconds gauge",
        "sluice_delivery_attempts_total counter",
        "sluice_dependency_up gauge",
        "sluice_event_loop_lag_seconds gauge",
        "sluice_gateway_overhead_seconds histogram",
        "sluice_group_size histogram",
        "sluice_holds_oldest_seconds gauge",
        "sluice_holds_open gauge",
        "sluice_http_request_seconds histogram",
        "sluice_http_requests_total counter",
        "sluice_job_seconds histogram",
        "sluice_jobs_dispatched_total counter",
        "sluice_jobs_total counter",
        "sluice_jobs_unknown gauge",
        "sluice_jobs_unknown_oldest_seconds gauge",
        "sluice_jobs_waiting gauge",
        "sluice_ledger_audited_timestamp_seconds gauge",
        "sluice_ledger_faults gauge",
        "sluice_nats_reconnects_total counter",
        "sluice_outbox_depth gauge",
        "sluice_outbox_oldest_seconds gauge",
        "sluice_provider_errors_total counter",
        "sluice_provider_key_refusals_total counter",
        "sluice_provider_seconds histogram",
        "sluice_publisher_logins_total counter",
        "sluice_queue_depth gauge",
        "sluice_queue_oldest_seconds gauge",
        "sluice_queue_unacknowledged gauge",
        "sluice_queue_unacknowledged_max gauge",
        "sluice_queue_wait_seconds histogram",
        "sluice_refusals_dropped_total counter",
        "sluice_result_bytes gauge",
        "sluice_runs_stalled_oldest_seconds gauge",
        "sluice_settle_faults gauge",
        "sluice_socket_messages_refused_total counter",
        "sluice_spans_dropped_total counter",
        "sluice_spans_exported_total counter",
        "sluice_storage_seconds histogram",
        "sluice_stream_aborts_total counter",
        "sluice_streams_active gauge",
        "sluice_streams_rescued_total counter",
        "sluice_sweep_put_off gauge",
        "sluice_time_to_first_token_seconds histogram",
        "sluice_tokens_total counter",
        "sluice_usage_behind_seconds gauge",
        "sluice_usage_estimated_total counter",
        "sluice_worker_slots gauge",
        "sluice_worker_slots_busy gauge",
        "sluice_workflow_runs_total counter",
        "sluice_workflow_steps_total counter",
      ]
    `);
  });

  test("labels each sample with the role of its process", async () => {
    const metrics = metricsOf("ingress");
    metrics.httpRequests.inc("/v1/models", "GET", "200");
    const found = await samples(metrics.registry);
    expect(found.get('sluice_http_requests_total{route="/v1/models",method="GET",status="200",role="ingress"}')).toBe(
      1,
    );
  });

  test("of one process contains no samples of another", async () => {
    const [one, two] = [metricsOf("a"), metricsOf("a")];
    one.callsLost.inc();
    expect((await samples(one.registry)).get('sluice_calls_lost_total{role="a"}')).toBe(1);
    expect((await samples(two.registry)).get('sluice_calls_lost_total{role="a"}')).toBe(0);
  });

  test("escapes label values", async () => {
    const metrics = metricsOf("a");
    metrics.streamAborts.inc('say "no"\n\\');
    expect(await metrics.registry.metrics()).toContain('{reason="say \\"no\\"\\n\\\\",role="a"} 1');
  });

  test("omits gauges that this process never set", async () => {
    const metrics = metricsOf("ingress");
    const names = [...(await samples(metrics.registry)).keys()];
    expect(names.filter((name) => /holds|queue|dead_letters/.test(name))).toEqual([]);
    metrics.holdsOpen.set(0);
    expect((await samples(metrics.registry)).get('sluice_holds_open{role="ingress"}')).toBe(0);
  });

  test("contains metrics of the process itself", async () => {
    const found = await samples(metricsOf("a").registry);
    expect(found.get('process_resident_memory_bytes{role="a"}')).toBeGreaterThan(1_000_000);
    expect(found.get('process_heap_used_bytes{role="a"}')).toBeGreaterThan(0);
    expect(found.get('process_cpu_seconds_total{role="a"}')).toBeGreaterThan(0);
    expect(found.get('process_start_time_seconds{role="a"}')).toBeLessThanOrEqual(Date.now() / 1_000);
    expect(found.get('sluice_event_loop_lag_seconds{role="a"}')).toBeGreaterThanOrEqual(0);
  });
});

describe("credits", () => {
  test("are summed exactly in nano-credits and exported in credits", async () => {
    const metrics = metricsOf("worker");
    for (let index = 0; index < 10; index += 1) metrics.creditsSettled.addNano(100_000_001n);
    metrics.creditsUncollected.addNano(-5n);
    const found = await samples(metrics.registry);
    expect(found.get('sluice_credits_settled_total{role="worker"}')).toBe(1.00000001);
    expect(found.get('sluice_credits_uncollected_total{role="worker"}')).toBe(0);
  });
});

describe("event loop lag", () => {
  test("includes a delay that has not ended", () => {
    const metrics = metricsOf("a");
    const until = performance.now() + 400;
    while (performance.now() < until);
    expect(metrics.eventLoopLag()).toBeGreaterThan(0.1);
  });
});

describe("handles", () => {
  test("a counter never falls", async () => {
    const registry = new Registry();
    const handle = counter(registry, "c_total", "h", ["kind"]);
    handle.add(3, "x");
    handle.add(-2, "x");
    handle.add(Number.NaN, "x");
    handle.add(Number.POSITIVE_INFINITY, "x");
    handle.inc("x");
    expect((await samples(registry)).get('c_total{kind="x"}')).toBe(4);
  });

  test("a gauge is set and moved", async () => {
    const registry = new Registry();
    const handle = gauge(registry, "g", "h", ["pool", "lane"]);
    handle.set(5, "chat", "live");
    handle.add(-2, "chat", "live");
    handle.set(1, "chat", "batch");
    expect(await samples(registry)).toEqual(
      new Map([
        ['g{pool="chat",lane="live"}', 3],
        ['g{pool="chat",lane="batch"}', 1],
      ]),
    );
  });

  test("a histogram counts a value in its own bucket and all above, bounds included", async () => {
    const registry = new Registry();
    const handle = histogram(registry, "h_seconds", "h", ["pool"], [1, 2]);
    for (const value of [0.5, 1, 1.5, 3]) handle.observe(value, "chat");
    handle.at("chat").observe(2);
    handle.observe(Number.NaN, "chat");
    handle.observe(Number.POSITIVE_INFINITY, "chat");
    expect(Object.fromEntries(await samples(registry))).toEqual({
      'h_seconds_bucket{le="1",pool="chat"}': 2,
      'h_seconds_bucket{le="2",pool="chat"}': 4,
      'h_seconds_bucket{le="+Inf",pool="chat"}': 5,
      'h_seconds_sum{pool="chat"}': 8,
      'h_seconds_count{pool="chat"}': 5,
    });
  });

  test("label sets with equal joined values stay separate", async () => {
    const registry = new Registry();
    const handle = counter(registry, "c_total", "h", ["a", "b"]);
    handle.inc("x", "yz");
    handle.inc("xy", "z");
    expect((await samples(registry)).size).toBe(2);
  });

  test("label sets above a thousand are counted as other", async () => {
    const registry = new Registry();
    const handle = counter(registry, "c_total", "h", ["a", "b"]);
    handle.inc("other", "b");
    for (let index = 1; index < 5_000; index += 1) handle.inc(`a${index}`, "b");
    handle.inc("a3", "b");
    const found = await samples(registry);
    expect(found.size).toBe(1_001);
    expect(found.get('c_total{a="other",b="other"}')).toBe(4_000);
    expect(found.get('c_total{a="a3",b="b"}')).toBe(2);
  });
});
