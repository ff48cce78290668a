/** Alerts and dashboards speak of metrics and labels that there are, in expressions that Prometheus reads, and every alert has a section for operators. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Tree } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";
import { describe, expect, test } from "bun:test";

import { ALERTS } from "#deploy/alerts/rules.ts";
import { DASHBOARDS } from "#deploy/dashboards/dashboards.ts";
import { run } from "#deploy/embedded/process.mjs";
import { ALERTS_PAGE, monitoringFiles } from "#deploy/generate/monitoring.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

const DEPLOY = join(import.meta.dir, "../../deploy");
const alertsPage = await Bun.file(join(PROJECT_ROOT, ALERTS_PAGE)).text();

/** Labels that the scrape adds, beside the role of every metric. */
const ADDED = ["role", "instance", "job"];

interface Known {
  readonly type: string;
  readonly labels: ReadonlySet<string>;
}

function knownMetrics(): ReadonlyMap<string, Known> {
  const metrics = createMetrics("test");
  metrics.close();
  const known = new Map<string, Known>();
  for (const metric of metrics.registry.getMetricsAsArray()) {
    const { name, type, labelNames } = metric as unknown as { name: string; type: string; labelNames: string[] };
    const labels = new Set([...labelNames, ...ADDED]);
    if (type !== "histogram") known.set(name, { type, labels });
    else {
      known.set(`${name}_bucket`, { type: "counter", labels: new Set([...labels, "le"]) });
      for (const part of ["sum", "count"]) known.set(`${name}_${part}`, { type: "counter", labels });
    }
  }
  return known;
}

const KNOWN = knownMetrics();

/** Says what is wrong with an expression; nothing when it is right. */
function faultsOf(expr: string): string[] {
  const text = expr.replaceAll("$__rate_interval", "5m");
  const tree: Tree = parser.parse(text);
  const faults: string[] = [];
  const names = new Set<string>();
  const labels = new Set<string>();
  const counted = new Set<string>();
  tree.iterate({
    enter({ type, name, from, to, node }) {
      const word = text.slice(from, to);
      if (type.isError) faults.push(`cannot be read at ${from}: ${text.slice(from, from + 20)}`);
      if (name === "Identifier") {
        names.add(word);
        if (node.parent?.parent?.name === "MatrixSelector") counted.add(word);
      }
      if (name === "LabelName") labels.add(word);
    },
  });
  for (const metric of names) {
    const known = KNOWN.get(metric);
    if (!known) faults.push(`there is no metric ${metric}`);
    else if (known.type === "counter" && !counted.has(metric))
      faults.push(`${metric} only ever rises: ask for its rate`);
  }
  for (const label of labels) {
    if (![...names].some((metric) => KNOWN.get(metric)?.labels.has(label))) faults.push(`no metric has ${label}`);
  }
  return faults;
}

test.each([
  ["sum(rate(sluice_jobs_total[5m])", "cannot be read"],
  ["sluice_no_such_thing > 0", "there is no metric sluice_no_such_thing"],
  ["sum by (workspace) (sluice_queue_depth)", "no metric has workspace"],
  ['sluice_queue_depth{lan="live"}', "no metric has lan"],
  ["sluice_queue_wait_seconds > 1", "there is no metric sluice_queue_wait_seconds"],
  ["sum(sluice_jobs_total) > 1", "only ever rises"],
])("%s is refused", (expr, fault) => {
  expect(faultsOf(expr).join("; ")).toContain(fault);
});

describe("alerts", () => {
  test.each(ALERTS.map(({ name, expr }) => [name, expr]))("%s parses, and queries existing metrics", (_name, expr) => {
    expect(faultsOf(expr)).toEqual([]);
  });

  test("have unique names, and each a section with symptom, check and action, to which it links", () => {
    expect(new Set(ALERTS.map(({ name }) => name)).size).toBe(ALERTS.length);
    const sections = new Map(
      alertsPage
        .split(/^## /m)
        .slice(1)
        .map((section) => [section.slice(0, section.indexOf("\n")), section]),
    );
    expect([...sections.keys()]).toEqual(ALERTS.map(({ name }) => `Sluice${name}`));
    for (const [name, section] of sections) {
      const parts = Array.from(section.matchAll(/^- \*\*(\w+)\.\*\* \S/gm), (match) => match[1]);
      expect([name, parts]).toEqual([name, ["Symptom", "Check", "Action"]]);
    }
    const rows = Array.from(alertsPage.matchAll(/^\| \[`(\w+)`\]\(#(\w+)\) \| (\w+) \|$/gm), ([, ...cells]) => cells);
    const expected = ALERTS.map(({ name, severity }) => [`Sluice${name}`, `Sluice${name}`.toLowerCase(), severity]);
    expect(rows).toEqual(expected);
    const rules = monitoringFiles()["deploy/alerts/sluice.rules.yaml"] ?? "";
    const links = Array.from(rules.matchAll(/runbook_url: "?([^"\n]+)/g), ([, link]) => link);
    expect(links).toEqual(expected.map(([, anchor]) => `${ALERTS_PAGE}#${anchor}`));
  });

  test("are equal in both files", async () => {
    const read = async (file: string): Promise<object> =>
      Bun.YAML.parse(await Bun.file(join(DEPLOY, "alerts", file)).text()) as object;
    const plain = (await read("sluice.rules.yaml")) as { groups: { rules: { alert: string }[] }[] };
    expect(plain.groups[0]?.rules.map(({ alert }) => alert)).toEqual(ALERTS.map(({ name }) => `Sluice${name}`));
    expect(await read("prometheus-rule.yaml")).toMatchObject({ kind: "PrometheusRule", spec: plain });
  });
});

describe("dashboards", () => {
  const lines = DASHBOARDS.flatMap(({ uid, rows }) =>
    rows.flatMap(({ panels }) => panels.flatMap(({ title, lines: of }) => of.map(({ expr }) => [uid, title, expr]))),
  );
  test.each(lines)("%s: %s queries existing metrics", (_uid, _title, expr = "") => {
    expect(faultsOf(expr)).toEqual([]);
  });

  test("do not sum gauges that every janitor sets", () => {
    const ofJanitors =
      /\bsum\b[^(]*\((?:sluice_(?:queue|holds|deliveries|jobs_unknown|outbox|usage_behind|ledger|batches|batch_lines)_\w+)\b(?!.*rate)/;
    for (const [, title, expr = ""] of lines) expect([title, ofJanitors.test(expr)]).toEqual([title, false]);
  });

  test("have unique ids, and panels that do not overlap", async () => {
    expect(new Set(DASHBOARDS.map(({ uid }) => uid)).size).toBe(DASHBOARDS.length);
    for (const { uid } of DASHBOARDS) {
      const { panels } = (await Bun.file(join(DEPLOY, "dashboards", `${uid}.json`)).json()) as {
        panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
      };
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      for (const [at, { gridPos: one }] of panels.entries()) {
        expect(one.x + one.w).toBeLessThanOrEqual(24);
        for (const { gridPos: other } of panels.slice(at + 1)) {
          const isApart = one.x + one.w <= other.x || other.x + other.w <= one.x || one.y + one.h <= other.y || other.y + other.h <= one.y; // prettier-ignore
          expect(isApart).toBe(true);
        }
      }
    }
  });
});

const promtool = Bun.which("promtool");

/** Series over ten minutes, one value a minute, and alerts that they raise or do not. */
const RULE_TESTS = [
  { series: "sluice_ledger_faults", values: "0x4 1x5", raises: { SluiceLedgerDifference: ["4m", "6m"] } },
  {
    series: 'sluice_queue_depth{pool="chat",lane="live"}',
    values: "3x20",
    raises: { SluicePoolWithoutWorkers: ["1m", "3m"] },
  },
  { series: "sluice_holds_oldest_seconds", values: "800x5 1000x20", raises: { SluiceHoldsStuck: ["9m", "14m"] } },
  {
    series: 'sluice_http_requests_total{route="/v1/chat/completions",status="503"}',
    values: "0+10x120",
    raises: { SluiceAvailabilityBurn: ["0m", "60m"] },
  },
  {
    series: 'sluice_queue_wait_seconds_bucket{pool="chat",lane="live",le="+Inf"}',
    values: "0+60x30",
    raises: { SluiceQueueWaiting: ["2m", "15m"] },
  },
  {
    series: "sluice_batches_stalled_oldest_seconds",
    values: "3500x5 4000x20",
    raises: { SluiceBatchesStalled: ["14m", "20m"] },
  },
  {
    series: "sluice_ledger_audited_timestamp_seconds",
    values: "0x300",
    raises: { SluiceAuditLate: ["200m", "215m"] },
  },
  { series: "sluice_holds_oldest_seconds", values: "1x5 _x20", raises: { SluiceNoJanitor: ["12m", "18m"] } },
  { series: "sluice_dead_letters", values: "1x30", raises: { SluiceDeadLetters: ["10m", "20m"] } },
];

test.skipIf(promtool === null)("Prometheus reads the rules, and raises each alert for its test data", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-rules-"));
  try {
    const rules = join(DEPLOY, "alerts/sluice.rules.yaml");
    const file = join(folder, "tests.yaml");
    const tests = RULE_TESTS.flatMap(({ series, values, raises }) =>
      Object.entries(raises).map(([alertname, [before = "", after = ""]]) => ({
        interval: "1m",
        input_series: [
          { series, values },
          { series: 'sluice_queue_wait_seconds_bucket{pool="chat",lane="live",le="10"}', values: "0x30" },
          { series: 'sluice_queue_wait_seconds_bucket{pool="chat",lane="live",le="30"}', values: "0+60x30" },
        ],
        promql_expr_test: [before, after].map((eval_time, at) => ({
          expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"}) or vector(0)`,
          eval_time,
          exp_samples: [{ labels: "{}", value: at }],
        })),
      })),
    );
    writeFileSync(file, Bun.YAML.stringify({ rule_files: [rules], evaluation_interval: "1m", tests }, null, 2));
    for (const args of [
      ["check", "rules", rules],
      ["test", "rules", file],
    ]) {
      const name = `promtool ${args.join(" ")}`;
      const { code, stdout, stderr } = await run({ name, command: promtool ?? "", args, cwd: folder, env: {} });
      expect([code, stdout + stderr]).toEqual([0, expect.any(String)]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
