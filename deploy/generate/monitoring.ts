/** Writes alerts and dashboards as files for Prometheus, its operator on Kubernetes, and Grafana. */
import { type Alert, ALERTS } from "../alerts/rules.ts";
import { DASHBOARDS } from "../dashboards/dashboards.ts";
import { type Dashboard, dashboardJson } from "../dashboards/panels.ts";

/** Path of the page that has a section for each alert. */
export const ALERTS_PAGE = "schemas/docs/operate/alerts.md";

const HEAD = "# Generated from deploy/alerts/rules.ts: npm run generate\n";

export function monitoringFiles(): Readonly<Record<string, string>> {
  const groups = [{ name: "sluice", rules: ALERTS.map(ruleOf) }];
  const resource = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "sluice", labels: { "app.kubernetes.io/name": "sluice", role: "alert-rules" } },
    spec: { groups },
  };
  return {
    "deploy/alerts/sluice.rules.yaml": `${HEAD}${Bun.YAML.stringify({ groups }, null, 2)}\n`,
    "deploy/alerts/prometheus-rule.yaml": `${HEAD}${Bun.YAML.stringify(resource, null, 2)}\n`,
    ...Object.fromEntries(DASHBOARDS.map(fileOf)),
  };
}

function ruleOf({ name, expr, for: duration, severity, summary }: Alert) {
  return {
    alert: `Sluice${name}`,
    expr,
    ...(duration === undefined ? {} : { for: duration }),
    labels: { severity },
    annotations: { summary, runbook_url: `${ALERTS_PAGE}#sluice${name.toLowerCase()}` },
  };
}

function fileOf(dashboard: Dashboard): [path: string, text: string] {
  return [`deploy/dashboards/${dashboard.uid}.json`, `${JSON.stringify(dashboardJson(dashboard), null, 1)}\n`];
}
