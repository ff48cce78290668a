/** Figures → one markdown page that also reads well in a terminal. */
import { cpus, totalmem } from "node:os";

import type { Figures } from "./figures.ts";
import { figures } from "./figures.ts";
import type { Plan } from "./plan.ts";
import type { Turn } from "./rounds.ts";
import type { TargetName } from "./targets.ts";
import type { Verification } from "./verify.ts";

export interface RunResult {
  readonly plan: Plan;
  readonly targets: readonly TargetName[];
  /** Closed loop, plain answers, by calls in flight. */
  readonly plain: ReadonlyMap<number, readonly Turn[]>;
  /** Open loop at half of Sluice's peak. */
  readonly open: { readonly rate: number; readonly turns: readonly Turn[] } | null;
  readonly streams: ReadonlyMap<number, readonly Turn[]>;
  /** Target and process → resident megabytes after warm-up and at the end. */
  readonly memory: Readonly<Record<string, { readonly before: number; readonly after: number }>>;
  /** Target and process → CPU milliseconds a second without load. */
  readonly idle: Readonly<Record<string, number>>;
  readonly verification: Verification | null;
}

type Row = readonly (string | number)[];

/** The whole page. */
export function renderReport(run: RunResult): string {
  return [
    "# Load",
    "",
    machine(run.plan),
    ...throughput(run),
    ...latency(run),
    ...openLoop(run),
    ...firstToken(run),
    ...cost(run),
    ...memory(run),
    ...books(run.verification),
    "",
  ].join("\n");
}

/** Calls a second at the best level. */
export function peak(plain: RunResult["plain"], target: TargetName): number {
  return Math.max(...[...plain.values()].map((turns) => figures(turns, target).perSecond));
}

/** Returns the machine's processors and memory. */
export function machineName(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model ?? "unknown CPU"}, ${Math.round(totalmem() / 2 ** 30)} GB`;
}

function machine({ rounds, roundSeconds, plainPace, streamPace }: Plan): string {
  return [
    `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, ${machineName()}, `,
    `Bun ${Bun.version}; driver, upstream, gateway and its servers share the cores. `,
    `${rounds} × ${roundSeconds} s per figure, targets in alternation. Upstream delay for plain answers ${plainPace.delayMs} ms; `,
    `streams: first token after ${streamPace.delayMs} ms, ${streamPace.chunks} chunks, one every ${streamPace.intervalMs} ms.`,
  ].join("");
}

function throughput({ plain, targets }: RunResult): string[] {
  const rivals = targets.filter((name) => name.startsWith("portkey"));
  const rows: Row[] = [...plain].map(([level, turns]) => {
    const rate = (name: TargetName): number => figures(turns, name).perSecond;
    const ratios = targets.includes("sluice") ? rivals.map((name) => `${fixed(rate("sluice") / rate(name), 2)} ×`) : [];
    return [level, ...targets.map((name) => Math.round(rate(name))), ...ratios];
  });
  if (targets.includes("sluice")) {
    const best = targets.map((name) => peak(plain, name));
    const ours = peak(plain, "sluice");
    rows.push(["peak", ...best.map(Math.round), ...rivals.map((name) => `${fixed(ours / peak(plain, name), 2)} ×`)]);
  }
  const ratioHeads = targets.includes("sluice") ? rivals.map((name) => `sluice ÷ ${name}`) : [];
  return section("Calls a second, closed loop, plain answers", ["in flight", ...targets, ...ratioHeads], rows);
}

function latency({ plain, targets }: RunResult): string[] {
  const rows = [...plain].flatMap(([level, turns]) => {
    const base = figures(turns, "direct");
    return targets.map((name): Row => {
      const own = figures(turns, name);
      return [
        level,
        name,
        ms(own.p50),
        ms(own.p99),
        ms(own.p50 - base.p50),
        ms(own.p99 - base.p99),
        ms(own.overheadP50),
        ms(own.overheadP99),
        own.failed,
      ];
    });
  });
  const heads = ["in flight", "target", "p50", "p99", "added p50", "added p99", "own histogram p50", "p99", "failed"];
  return section("Latency in ms, closed loop, plain answers (added: minus the upstream called directly)", heads, rows);
}

function openLoop({ open }: RunResult): string[] {
  if (open === null) return [];
  const base = figures(open.turns, "direct");
  const own = figures(open.turns, "sluice");
  return section(
    `Latency in ms, open loop at half of Sluice's peak (${Math.round(open.rate)} calls a second, measured from the intended start)`,
    ["target", "p50", "p99", "added p50", "added p99", "own histogram p50", "p99", "failed"],
    [
      ["direct", ms(base.p50), ms(base.p99), "", "", "", "", base.failed],
      [
        "sluice",
        ms(own.p50),
        ms(own.p99),
        ms(own.p50 - base.p50),
        ms(own.p99 - base.p99),
        ms(own.overheadP50),
        ms(own.overheadP99),
        own.failed,
      ],
    ],
  );
}

function firstToken({ streams, targets }: RunResult): string[] {
  const rows = [...streams].flatMap(([level, turns]) => {
    const base = figures(turns, "direct");
    return targets.map((name): Row => {
      const own = figures(turns, name);
      const added = [own.firstTokenP50 - base.firstTokenP50, own.firstTokenP95 - base.firstTokenP95];
      return [
        level,
        name,
        Math.round(own.perSecond),
        ms(own.firstTokenP50),
        ms(own.firstTokenP95),
        ...added.map(ms),
        own.failed,
      ];
    });
  });
  const heads = ["in flight", "target", "streams/s", "TTFT p50", "TTFT p95", "added p50", "added p95", "failed"];
  return section("Time to first token in ms, streams", heads, rows);
}

/** Returns all turns of a run, by the name of their load. */
export function loadsOf({ plain, streams, open }: RunResult): (readonly [string, readonly Turn[]])[] {
  return [
    ...[...plain].map(([level, turns]) => [`plain, ${level}`, turns] as const),
    ...(open ? [[`plain, open loop`, open.turns] as const] : []),
    ...[...streams].map(([level, turns]) => [`stream, ${level}`, turns] as const),
  ];
}

function cost(run: RunResult): string[] {
  const { targets } = run;
  const loads = loadsOf(run);
  const cpuRows = loads.flatMap(([load, turns]) =>
    targets.flatMap((name): Row[] => {
      const { cpuPerCall, calls } = figures(turns, name);
      if (!(calls > 0)) return [];
      const parts = Object.entries(cpuPerCall).map(([process, spent]) => `${process} ${micro(spent)}`);
      return [[load, name, micro(Object.values(cpuPerCall).reduce((a, b) => a + b, 0)), parts.join(", ")]];
    }),
  );
  const serverRows = loads.flatMap(([load, turns]): Row[] => {
    const own: Figures = figures(turns, "sluice");
    if (own.counters === null) return [];
    const each = (value: number, digits = 2): string => fixed(value / own.calls, digits);
    const { writeTransactions, walBytes, natsInMsgs, natsOutMsgs, natsInBytes, natsOutBytes } = own.counters;
    return [
      [
        load,
        each(writeTransactions),
        each(walBytes, 0),
        each(natsInMsgs),
        each(natsOutMsgs),
        each(natsInBytes, 0),
        each(natsOutBytes, 0),
      ],
    ];
  });
  return [
    ...section("CPU per call in µs, by process", ["load", "target", "sum", "parts"], cpuRows),
    ...section(
      "Postgres and NATS per call of Sluice",
      ["load", "write transactions", "WAL bytes", "NATS messages in", "out", "NATS bytes in", "out"],
      serverRows,
    ),
  ];
}

function memory({ memory, idle }: RunResult): string[] {
  const rows = Object.entries(memory).map(([name, { before, after }]): Row => {
    const idling = idle[name];
    return [name, Math.round(before), Math.round(after), idling === undefined ? "" : fixed(idling, 0)];
  });
  return section(
    "Resident memory in MB (shared pages of Postgres count once per backend), idle CPU in ms a second",
    ["process", "after warm-up", "at the end", "idle CPU"],
    rows,
  );
}

function books(verification: Verification | null): string[] {
  if (verification === null) return [];
  const { faults, settledCalls, settledNano } = verification;
  const verdict =
    faults.length === 0 ? "Every check of the books passed." : faults.map((fault) => `\n- WRONG: ${fault}`).join("");
  return ["", "## Books", "", `${settledCalls} calls settled, ${settledNano} nano-credits. ${verdict}`];
}

/** Lines of a heading and a table. */
export function section(title: string, heads: readonly string[], rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const cells = [heads, ...rows].map((row) => row.map(String));
  const widths = heads.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [head = [], ...body] = cells;
  return ["", `## ${title}`, "", line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)];
}

function ms(value: number): string {
  return Number.isNaN(value) ? "" : fixed(value, Math.abs(value) < 10 ? 2 : 1);
}

function micro(value: number): string {
  return fixed(value * 1_000, 0);
}

function fixed(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : "";
}
