/** Costs of a call in an earlier run, and the rises since. Costs show changes that the speed of a run hides. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

import { figures, ownCpu } from "./figures.ts";
import { machineName } from "./report.ts";
import { loadsOf, type RunResult } from "./result.ts";
import { PROTOCOL_SENTENCES, SLUICE_NAMES, type UpstreamProtocol } from "./targets.ts";

/** Costs of one call of Sluice under one load, all of its processes and servers together. */
export interface CallCost {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  /** CPU of a call of Portkey on Node in the same run: how fast the machine was then. Absent: it was not measured. */
  readonly rivalMicroseconds?: number;
  readonly writeTransactions: number;
  readonly natsMessages: number;
}

/** Properties that two runs must share to be compared. */
export interface RunKind {
  readonly isQuick: boolean;
  readonly upstream: UpstreamProtocol;
  /** Time that the upstream takes for a plain answer. */
  readonly delayMs: number;
}

export interface Baseline extends RunKind {
  readonly at: string;
  /** CPU time is compared on the same machine only. */
  readonly machine: string;
  /** By the name of the load, with `, limited` for keys that have a limit a minute. */
  readonly loads: Readonly<Record<string, CallCost>>;
}

/** A cost that is higher than this multiple of an earlier one is reported. */
export const RISE_MAX = 1.1;
const COSTS = {
  cpuMicroseconds: "µs of CPU",
  writeTransactions: "write transactions",
  natsMessages: "NATS messages",
} as const;

/** Returns the costs of this run in the form of the baseline files. */
export function baselineOf(run: RunResult, kind: Pick<RunKind, "isQuick" | "delayMs">): Baseline {
  const loads = loadsOf(run).flatMap(([name, turns]) =>
    SLUICE_NAMES.flatMap((target): [string, CallCost][] => {
      const own = figures(turns, target);
      const { calls, perSecond, counters } = own;
      if (counters === null || !(calls > 0)) return [];
      const rival = figures(turns, "portkey on node").cpuPerCall["gateway"] ?? 0;
      return [
        [
          target === "sluice" ? name : `${name}, limited`,
          {
            perSecond: round(perSecond),
            cpuMicroseconds: round(ownCpu(own) * 1_000),
            ...(rival > 0 && { rivalMicroseconds: round(rival * 1_000) }),
            writeTransactions: round(counters.writeTransactions / calls),
            natsMessages: round((counters.natsInMsgs + counters.natsOutMsgs) / calls),
          },
        ],
      ];
    }),
  );
  const [at, machine, { upstream }] = [new Date().toISOString(), machineName(), run];
  return { at, machine, upstream, ...kind, loads: Object.fromEntries(loads) };
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

/** Returns one sentence for each reason why two runs cannot be compared. */
function findDifferences(now: RunKind, before: RunKind): string[] {
  return [
    ...(now.isQuick === before.isQuick ? [] : [before.isQuick ? "It ran with --quick." : "It ran without --quick."]),
    ...(now.upstream === before.upstream ? [] : [PROTOCOL_SENTENCES[before.upstream]]),
    ...(now.delayMs === before.delayMs ? [] : [`Its upstream takes ${before.delayMs} ms for a plain answer.`]),
  ];
}

/** Returns the report's section that compares a run with the baseline, or says why the two are not compared. */
export function renderComparison(now: Baseline, before: Baseline | null): string {
  const differences = before === null ? [] : findDifferences(now, before);
  if (before === null || differences.length > 0) {
    const reason =
      before === null ? "There is no baseline." : `The baseline is of another kind: ${differences.join(" ")}`;
    return `\n## Against the baseline\n\nNot compared. ${reason} \`--save\` makes this run the baseline.\n`;
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
