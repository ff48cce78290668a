/** Renders a dashboard of rows and panels to Grafana's classic JSON. */

export type Unit = "short" | "s" | "bytes" | "percentunit" | "reqps" | "ops";

export interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly unit: Unit;
  readonly lines: readonly Line[];
}

export interface Line {
  readonly expr: string;
  /** Legend of each series. Labels are written as `{{pool}}`. */
  readonly legend: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

const WIDTH = 24;
const HEIGHT = 8;
const SOURCE = { type: "prometheus", uid: "${datasource}" };

export function dashboardJson({ uid, title, rows }: Dashboard): object {
  let id = 0;
  let y = 0;
  const panels: object[] = [];
  for (const row of rows) {
    panels.push({
      id: ++id,
      type: "row",
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y: y++, w: WIDTH, h: 1 },
    });
    const width = Math.floor(WIDTH / Math.min(3, row.panels.length));
    for (const [at, panel] of row.panels.entries()) {
      const place = at % 3;
      if (at > 0 && place === 0) y += HEIGHT;
      panels.push(panelJson(panel, ++id, { x: place * width, y, w: width, h: HEIGHT }));
    }
    y += HEIGHT;
  }
  return {
    uid: `sluice-${uid}`,
    title: `Sluice: ${title}`,
    tags: ["sluice"],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    timezone: "browser",
    templating: { list: [{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus" }] },
    annotations: { list: [] },
    panels,
  };
}

function panelJson({ title, description, unit, lines }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type: "timeseries",
    title,
    ...(description === undefined ? {} : { description }),
    datasource: SOURCE,
    gridPos,
    fieldConfig: {
      defaults: { unit, min: 0, custom: { lineWidth: 1, fillOpacity: 8, showPoints: "never" } },
      overrides: [],
    },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
    targets: lines.map(({ expr, legend }, at) => ({
      refId: String.fromCodePoint(65 + at),
      datasource: SOURCE,
      expr,
      legendFormat: legend,
    })),
  };
}

const RATE = "[$__rate_interval]";

/** Returns the per-second rate of a counter, summed by these labels. */
export function rate(metric: string, by: string, matchers = ""): Line {
  const sum = by === "" ? "sum" : `sum by (${by})`;
  return { expr: `${sum} (rate(${metric}${braced(matchers)}${RATE}))`, legend: legendOf(by) };
}

/** Returns a quantile of a histogram, by these labels. */
export function quantile(q: number, metric: string, by: string, matchers = ""): Line {
  const labels = by === "" ? "le" : `${by}, le`;
  const buckets = `sum by (${labels}) (rate(${metric}_bucket${braced(matchers)}${RATE}))`;
  return { expr: `histogram_quantile(${q}, ${buckets})`, legend: `p${q * 100} ${legendOf(by)}`.trim() };
}

/** Returns the maximum of a gauge over the processes that set it. */
export function highest(metric: string, by: string, matchers = ""): Line {
  const max = by === "" ? "max" : `max by (${by})`;
  return { expr: `${max} (${metric}${braced(matchers)})`, legend: legendOf(by) };
}

/** Returns the sum of a gauge over processes that each report only their own value. */
export function total(metric: string, by: string, matchers = ""): Line {
  const sum = by === "" ? "sum" : `sum by (${by})`;
  return { expr: `${sum} (${metric}${braced(matchers)})`, legend: legendOf(by) };
}

function braced(matchers: string): string {
  return matchers === "" ? "" : `{${matchers}}`;
}

function legendOf(by: string): string {
  return by
    .split(", ")
    .filter((label) => label !== "")
    .map((label) => `{{${label}}}`)
    .join(" ");
}
