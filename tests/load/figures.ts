/** Figures of a target's turns: rates, percentiles and costs of a call. */
import type { Counters } from "./counters.ts";
import { bucketPercentile, sum, sumBuckets } from "./counters.ts";
import { Histogram } from "./histogram.ts";
import type { Turn } from "./rounds.ts";
import type { TargetName } from "./targets.ts";

export interface Figures {
  readonly calls: number;
  readonly failed: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly firstTokenP50: number;
  readonly firstTokenP95: number;
  /** Milliseconds of CPU per call, by process. */
  readonly cpuPerCall: Readonly<Record<string, number>>;
  readonly counters: Counters | null;
  /** Milliseconds, from the gateway's own histogram; NaN where there is none. */
  readonly overheadP50: number;
  readonly overheadP99: number;
}

/** All turns of one target under one load, taken together. */
export function figures(turns: readonly Turn[], target: TargetName): Figures {
  const own = turns.filter((turn) => turn.target === target);
  const calls = total(own, (turn) => turn.drive.calls);
  const latency = Histogram.merge(own.map((turn) => turn.drive.latency));
  const firstToken = Histogram.merge(own.map((turn) => turn.drive.firstToken));
  const overhead = sumBuckets(own.map((turn) => turn.overhead ?? new Map<number, number>()));
  const counters = own.flatMap((turn) => turn.counters ?? []);
  const names = new Set(own.flatMap((turn) => Object.keys(turn.cpu)));
  return {
    calls,
    failed: total(own, (turn) => turn.drive.failed),
    perSecond: calls / total(own, (turn) => turn.drive.seconds),
    p50: latency.percentile(0.5),
    p99: latency.percentile(0.99),
    firstTokenP50: firstToken.percentile(0.5),
    firstTokenP95: firstToken.percentile(0.95),
    cpuPerCall: Object.fromEntries([...names].map((name) => [name, total(own, (turn) => turn.cpu[name] ?? 0) / calls])),
    counters: counters.length > 0 ? sum(counters) : null,
    overheadP50: bucketPercentile(overhead, 0.5) * 1_000,
    overheadP99: bucketPercentile(overhead, 0.99) * 1_000,
  };
}

/** Processes that measure. Their CPU is no cost of a gateway. */
const MEASURING: ReadonlySet<string> = new Set(["driver", "upstream"]);

/** Returns the milliseconds of CPU of a call without the driver and the upstream; NaN when those are all. */
export function ownCpu({ cpuPerCall }: Figures): number {
  const own = Object.entries(cpuPerCall).filter(([process]) => !MEASURING.has(process));
  return own.length === 0 ? Number.NaN : own.reduce((sum, [, spent]) => sum + spent, 0);
}

function total(turns: readonly Turn[], value: (turn: Turn) => number): number {
  return turns.reduce((sum, turn) => sum + value(turn), 0);
}
