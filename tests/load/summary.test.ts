/** The summary has a row for each figure, a column for each target, and an aim where there is one. */
import { expect, test } from "bun:test";

import type { Counters } from "./counters.ts";
import { Histogram } from "./histogram.ts";
import { FULL_PLAN } from "./plan.ts";
import type { RunResult } from "./result.ts";
import type { Load, Turn } from "./rounds.ts";
import { renderSummary } from "./summary.ts";
import type { TargetName } from "./targets.ts";

const COUNTERS: Counters = {
  writeTransactions: 300,
  walBytes: 0,
  walSyncs: 0,
  storedBytes: 0,
  natsInMsgs: 0,
  natsOutMsgs: 0,
  natsInBytes: 0,
  natsOutBytes: 0,
};

/** Returns a turn of a thousand calls that each took `milliseconds`, within `seconds`. */
function turnOf(target: TargetName, load: Load, seconds: number, milliseconds: number): Turn {
  const histogram = new Histogram();
  for (let call = 0; call < 1_000; call += 1) histogram.record(milliseconds);
  const data = histogram.toJSON();
  const drive = { calls: 1_000, failed: 0, statuses: {}, seconds, latency: data, firstToken: data, service: data, cpuMs: 50 }; // prettier-ignore
  const isOurs = target.startsWith("sluice");
  const cpu = { ...(target === "direct" ? {} : { gateway: 400 }), upstream: 900, driver: 50 };
  return { target, load, drive, cpu, counters: isOurs ? COUNTERS : null, overhead: null };
}

const lone = { isStream: false, seconds: 1, inFlight: 1 };
const crowd = { isStream: false, seconds: 1, inFlight: 64 };
const streams = { isStream: true, seconds: 1, inFlight: 64 };
const half = { isStream: false, seconds: 1, rate: 1_000 };
const run: RunResult = {
  plan: FULL_PLAN,
  upstream: "tls",
  targets: ["direct", "sluice", "sluice limited", "portkey on node"],
  plain: new Map([
    [1, [turnOf("direct", lone, 0.1, 1), turnOf("sluice", lone, 1, 2), turnOf("sluice limited", lone, 2, 5), turnOf("portkey on node", lone, 2, 3)]], // prettier-ignore
    [64, [turnOf("direct", crowd, 0.1, 1), turnOf("sluice", crowd, 0.5, 9), turnOf("sluice limited", crowd, 1, 9), turnOf("portkey on node", crowd, 2, 9)]], // prettier-ignore
  ]),
  open: new Map([
    ["sluice", { rate: 1_000, turns: [turnOf("direct", half, 1, 1), turnOf("sluice", half, 1, 4)] }],
    ["sluice limited", { rate: 500, turns: [turnOf("direct", half, 2, 2), turnOf("sluice limited", half, 2, 7)] }],
  ]),
  streams: new Map([[64, [turnOf("direct", streams, 1, 20), turnOf("sluice", streams, 1, 22), turnOf("sluice limited", streams, 1, 24), turnOf("portkey on node", streams, 1, 60)]]]), // prettier-ignore
  memory: {},
  idle: {},
  verification: null,
};

/** Returns the cells of the row of this name, with numbers rounded to whole ones, since histograms have buckets. */
function cellsOf(page: readonly string[], name: string): string[] | undefined {
  const row = page.map((line) => line.split("|").map((cell) => cell.trim())).find((cells) => cells[1] === name);
  return row?.slice(2, -1).map((cell) => cell.replace(/^\d+\.\d+/, (number) => String(Math.round(Number(number)))));
}

test.each<[name: string, cells: readonly string[]]>([
  ["figure", ["aim", "direct", "sluice", "sluice limited", "portkey on node"]],
  ["calls a second, 1 in flight", ["", "10000", "1000 (2.00 ×)", "500 (1.00 ×)", "500"]],
  ["calls a second, 64 in flight", ["at least 3.50 ×", "10000", "2000 (4.00 ×)", "1000 (2.00 ×)", "500"]],
  ["peak, calls a second", ["at least 4.00 ×", "10000", "2000 (4.00 ×)", "1000 (2.00 ×)", "500"]],
  ["added p50 at half of the peak, ms", ["at most 4", "", "3", "5", ""]],
  ["added p99 at half of the peak, ms", ["at most 25", "", "3", "5", ""]],
  ["CPU of a call, 64 in flight, µs", ["", "", "400 (1.00 ×)", "400 (1.00 ×)", "400"]],
  ["write transactions a call, 64 in flight", ["", "", "0", "0", ""]],
])("%s", (name, cells) => {
  expect(cellsOf(renderSummary(run), name)).toEqual([...cells]);
});

test("the targets of latencies are multiples of Portkey's, and each target has its row", () => {
  const page = renderSummary(run);
  const [aim, direct, ...others] = cellsOf(page, "added p50 of a lone call, ms") ?? [];
  expect([aim, direct]).toEqual(["at most 1.00 ×", "0"]);
  expect(others[0]).toMatch(/^1 \(0\.[45]\d ×\)$/);
  expect(others[1]).toMatch(/^4 \((1\.9|2\.0)\d ×\)$/);
  expect(cellsOf(page, "first token added p95, 64 streams, ms")?.[0]).toBe("at most 0.40 ×");
  expect(page.filter((line) => /at (least|most)/.test(line))).toHaveLength(6);
});

test("a run without Portkey has no multiples, and one without Sluice has its other rows", () => {
  const alone = renderSummary({ ...run, targets: ["direct", "sluice"] });
  expect(cellsOf(alone, "peak, calls a second")).toEqual(["at least 4.00 ×", "10000", "2000"]);
  const rival = renderSummary({ ...run, targets: ["direct", "portkey on node"], open: new Map() });
  expect(cellsOf(rival, "peak, calls a second")).toEqual(["at least 4.00 ×", "10000", "500"]);
});
