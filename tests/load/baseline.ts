/** Costs of a call as an earlier run found them, and the rises since: what a call costs shows also where its speed does not. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

import { figures } from "./figures.ts";
import type { RunResult } from "./report.ts";
import { loadsOf, machineName } from "./report.ts";

/** Costs of one call of Sluice under one load, all of its processes and servers together. */
export interface CallCost {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  /** CPU of a call of Portkey on Node in the same run: how fast the machine was then. Absent: it was not measured. */
  readonly rivalMicroseconds?: number;
  readonly writeTransactions: number;
  readonly natsMessages: number;
}

export interface Baseline {
  readonly at: string;
  /** CPU time is compared on the same machine only. */
  readonly machine: string;
  readonly isQuick: boolean;
  /** Time that the upstream takes for a plain answer. */
  readonly delayMs: number;
  /** By the name of the load. */
  readonly loads: Readonly<Record<string, CallCost>>;
}

/** A cost that is higher than this multiple of an earlier one is reported. */
export const RISE_MAX = 1.1;
/** Processes that measure, and so are not counted. */
const MEASURING = new Set(["driver", "upstream"]);
const COSTS = {
  cpuMicroseconds: "µs of CPU",
  writeTransactions: "write transactions",
  natsMessages: "NATS messages",
} as const;

/** Returns the costs of this run in the form in which they are kept. */
export function baselineOf(run: RunResult, plan: Pick<Baseline, "isQuick" | "delayMs">): Baseline {
  const loads = loadsOf(run).flatMap(([name, turns]): [string, CallCost][] => {
    const { calls, perSecond, cpuPerCall, counters } = figures(turns, "sluice");
    if (counters === null || !(calls > 0)) return [];
    const rival = figures(turns, "portkey on node").cpuPerCall["gateway"] ?? 0;
    const ours = Object.entries(cpuPerCall).filter(([process]) => !MEASURING.has(process));
    return [
      [
        name,
        {
          perSecond: round(perSecond),
          cpuMicroseconds: round(ours.reduce((sum, [, milliseconds]) => sum + milliseconds * 1_000, 0)),
          ...(rival > 0 && { rivalMicroseconds: round(rival * 1_000) }),
          writeTransactions: round(counters.writeTransactions / calls),
          natsMessages: round((counters.natsInMsgs + counters.natsOutMsgs) / calls),
        },
      ],
    ];
  });
  return { at: new Date().toISOString(), machine: machineName(), ...plan, loads: Object.fromEntries(loads) };
}

/**
 * Returns one line for each cost that has risen by more than a tenth. CPU time is compared with that of Portkey in the same run where both
 * runs have it: one machine may take twice as long for the same in another hour.
 */
export function findRises(now: Baseline, before: Baseline): string[] {
  return Object.entries(now.loads).flatMap(([load, cost]) =>
    Object.entries(COSTS).flatMap(([name, unit]) => {
      const key = name as keyof typeof COSTS;
      const then = before.loads[load];
      if (then === undefined || (key === "cpuMicroseconds" && now.machine !== before.machine)) return [];
      const slowness =
        key === "cpuMicroseconds" && cost.rivalMicroseconds && then.rivalMicroseconds
          ? cost.rivalMicroseconds / then.rivalMicroseconds
          : 1;
      if (cost[key] <= then[key] * slowness * RISE_MAX) return [];
      const aside = slowness === 1 ? "" : `; Portkey takes ${slowness.toFixed(2)} times what it took`;
      return [`${load}: ${cost[key]} ${unit} a call, ${then[key]} before${aside}`];
    }),
  );
}

/** Section of the report: how this run compares with the baseline, or that none of the same plan is kept. */
export function renderComparison(now: Baseline, before: Baseline | null): string {
  if (before === null || before.isQuick !== now.isQuick || before.delayMs !== now.delayMs) {
    return "\n## Against the baseline\n\nNo run of this plan is kept: `--save` keeps this one.\n";
  }
  const rises = findRises(now, before);
  const where = now.machine === before.machine ? "" : ", another machine, so CPU time is not compared";
  const verdict = rises.length === 0 ? "No cost of a call has risen by more than a tenth." : "";
  return [
    "",
    `## Against the baseline of ${before.at.slice(0, 10)}${where}`,
    "",
    ...(verdict === "" ? rises.map((rise) => `- RISEN: ${rise}`) : [verdict]),
    "",
  ].join("\n");
}

/** Returns null where there is no such file. */
export function readBaseline(path: string): Baseline | null {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Baseline) : null;
}

export function saveBaseline(path: string, baseline: Baseline): void {
  writeFileSync(path, `${JSON.stringify(baseline, null, 2)}\n`);
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
