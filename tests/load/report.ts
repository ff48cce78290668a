/** The page of a load run, in markdown that is also readable in a terminal. */
import { cpus, totalmem } from "node:os";

import { figures } from "./figures.ts";
import { loadsOf, type RunResult } from "./result.ts";
import { renderSummary } from "./summary.ts";
import { fixed, micro, ms, type Row, section } from "./table.ts";
import { PROTOCOL_SENTENCES, SLUICE_NAMES } from "./targets.ts";
import type { Verification } from "./verify.ts";

/** The whole page. */
export function renderReport(run: RunResult): string {
  return [
    "# Load",
    "",
    machine(run),
    ...renderSummary(run),
    ...latency(run),
    ...openLoop(run),
    ...firstToken(run),
    ...cost(run),
    ...memory(run),
    ...books(run.verification),
    "",
  ].join("\n");
}

/** Returns the machine's processors and memory. */
export function machineName(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model ?? "unknown CPU"}, ${Math.round(totalmem() / 2 ** 30)} GB`;
}

/** Returns the short name of the commit, with `-dirty` when files differ from it. */
function commit(): string {
  const git = Bun.spawnSync(["git", "describe", "--always", "--dirty"], { cwd: import.meta.dir });
  return git.success ? git.stdout.toString().trim() : "unknown";
}

function machine({ plan: { rounds, roundSeconds, plainPace, streamPace }, upstream }: RunResult): string {
  return [
    `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, commit ${commit()}, ${machineName()}, Bun ${Bun.version}. `,
    `Driver, upstream, gateway and servers share the cores. ${PROTOCOL_SENTENCES[upstream]} `,
    `${rounds} × ${roundSeconds} s per figure, targets in turns. Plain answers: ${plainPace.delayMs} ms at the upstream. `,
    `Streams: first token after ${streamPace.delayMs} ms, ${streamPace.chunks} chunks, one every ${streamPace.intervalMs} ms.`,
  ].join("");
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
  const rows = [...open].flatMap(([name, { rate, turns }]) => {
    const base = figures(turns, "direct");
    return (["direct", name] as const).map((target): Row => {
      const own = figures(turns, target);
      const added = [own.p50 - base.p50, own.p99 - base.p99, own.overheadP50, own.overheadP99];
      return [Math.round(rate), target, ms(own.p50), ms(own.p99), ...added.map(ms), own.failed];
    });
  });
  const heads = [
    "calls a second",
    "target",
    "p50",
    "p99",
    "added p50",
    "added p99",
    "own histogram p50",
    "p99",
    "failed",
  ];
  return section("Latency in ms, open loop at half of the peak, from the intended start", heads, rows);
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
  const serverRows = loads.flatMap(([load, turns]) =>
    SLUICE_NAMES.flatMap((name): Row[] => {
      const { counters, calls } = figures(turns, name);
      if (counters === null) return [];
      const { writeTransactions, walBytes, natsInMsgs, natsOutMsgs, natsInBytes, natsOutBytes } = counters;
      const each = (value: number, digits: number): string => fixed(value / calls, digits);
      const messages = [natsInMsgs, natsOutMsgs].map((count) => each(count, 2));
      const bytes = [natsInBytes, natsOutBytes].map((count) => each(count, 0));
      return [[load, name, each(writeTransactions, 2), each(walBytes, 0), ...messages, ...bytes]];
    }),
  );
  return [
    ...section("CPU per call in µs, by process", ["load", "target", "sum", "parts"], cpuRows),
    ...section(
      "Postgres and NATS per call of Sluice",
      ["load", "target", "write transactions", "WAL bytes", "NATS messages in", "out", "NATS bytes in", "out"],
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
