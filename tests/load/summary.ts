/** The summary of a load run: one row for each figure that RESULTS.md keeps, one column for each target, and the aims. */
import { type Figures, figures, ownCpu } from "./figures.ts";
import { peak, type RunResult } from "./result.ts";
import type { Turn } from "./rounds.ts";
import { fixed, micro, ms, type Row, section } from "./table.ts";
import { SLUICE_NAMES, type SluiceName, type TargetName } from "./targets.ts";

const RIVAL = "portkey on node";
/** Aims for `sluice`, by the name of the figure. A multiple is one of the figure of Portkey on Node. */
const AIMS: Readonly<Record<string, string>> = {
  "peak, calls a second": "at least 4.00 ×",
  "calls a second, 64 in flight": "at least 3.50 ×",
  "added p50 of a lone call, ms": "at most 1.00 ×",
  "added p50 at half of the peak, ms": "at most 4",
  "added p99 at half of the peak, ms": "at most 25",
  "first token added p95, 64 streams, ms": "at most 0.40 ×",
};

/** Returns the section's lines. A figure of Sluice is followed by its multiple of Portkey's on Node. */
export function renderSummary(run: RunResult): string[] {
  const { plain, streams, targets } = run;
  const row = (name: string, value: (target: TargetName) => number, format: (value: number) => string): Row => {
    const rival = targets.includes(RIVAL) ? value(RIVAL) : Number.NaN;
    const cell = (target: TargetName): string => {
      const own = format(value(target));
      const ratio = isSluice(target) ? fixed(value(target) / rival, 2) : "";
      return own === "" || ratio === "" ? own : `${own} (${ratio} ×)`;
    };
    return [name, AIMS[name] ?? "", ...targets.map(cell)];
  };
  const levelRow = (
    name: string,
    turns: readonly Turn[] | undefined,
    value: (own: Figures, base: Figures) => number,
    format: (value: number) => string,
  ): Row[] => {
    if (turns === undefined) return [];
    const base = figures(turns, "direct");
    return [row(name, (target) => value(figures(turns, target), base), format)];
  };
  const atHalf =
    (value: (own: Figures) => number) =>
    (target: TargetName): number => {
      const open = isSluice(target) ? run.open.get(target) : undefined;
      return open ? value(figures(open.turns, target)) - value(figures(open.turns, "direct")) : Number.NaN;
    };
  const rows = [
    ...[...plain].flatMap(([level, turns]) =>
      levelRow(`calls a second, ${level} in flight`, turns, (own) => own.perSecond, round),
    ),
    row("peak, calls a second", (target) => peak(plain, target), round),
    ...levelRow("added p50 of a lone call, ms", plain.get(1), (own, base) => own.p50 - base.p50, ms),
    row(
      "added p50 at half of the peak, ms",
      atHalf((own) => own.p50),
      ms,
    ),
    row(
      "added p99 at half of the peak, ms",
      atHalf((own) => own.p99),
      ms,
    ),
    ...[...streams]
      .map(([level, turns]) => [level === 1 ? "a lone stream" : `${level} streams`, turns] as const)
      .flatMap(([load, turns]) => [
        ...levelRow(`first token added p50, ${load}, ms`, turns, (own, base) => own.firstTokenP50 - base.firstTokenP50, ms), // prettier-ignore
        ...levelRow(`first token added p95, ${load}, ms`, turns, (own, base) => own.firstTokenP95 - base.firstTokenP95, ms), // prettier-ignore
      ]),
    ...levelRow("CPU of a lone call, µs", plain.get(1), ownCpu, micro),
    ...levelRow("CPU of a call, 64 in flight, µs", plain.get(64), ownCpu, micro),
    ...levelRow("CPU of a stream, 64 in flight, µs", streams.get(64), ownCpu, micro),
    ...levelRow("write transactions a call, 1 in flight", plain.get(1), writes, twoDigits),
    ...levelRow("write transactions a call, 64 in flight", plain.get(64), writes, twoDigits),
  ];
  return section("Summary", ["figure", "aim", ...targets], rows);
}

function isSluice(target: TargetName): target is SluiceName {
  return SLUICE_NAMES.some((name) => name === target);
}

function writes({ counters, calls }: Figures): number {
  return (counters?.writeTransactions ?? Number.NaN) / calls;
}

function round(value: number): string {
  return fixed(value, 0);
}

function twoDigits(value: number): string {
  return fixed(value, 2);
}
