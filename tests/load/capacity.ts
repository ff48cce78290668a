/**
 * `npm run bench:capacity -- [--quick] [--plain] [--save=<file>] [--costs=<file>] [--rate=1000] [--latency=2] [--streams=0.5] [--busy=0.75] [--slots=224] [--pool=8]`:
 * measures the cost of a call for each part of the service, and prints how many of each part a wanted rate needs. Measures nothing with --costs.
 * README.md explains the figures. Exits 1 when a call failed or the books are wrong.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import {
  type CallCost,
  callsPerCore,
  type Costs,
  mixCosts,
  needFor,
  PROCESSES,
  BESIDE_POOL,
  USUAL,
  type Wanted,
} from "./capacity-model.ts";
import { figures } from "./figures.ts";
import { keep, runToEnd, setPace, startBench, tellProgress } from "./parts.ts";
import { FULL_PLAN, type Plan, QUICK_PLAN } from "./plan.ts";
import { machineName } from "./report.ts";
import { alternate, type Turn, warmUp } from "./rounds.ts";
import { type SluiceTarget, startSluice } from "./sluice-target.ts";
import { section } from "./table.ts";
import { PROTOCOL_SENTENCES } from "./targets.ts";
import { verifyBooks } from "./verify.ts";

/** Enough that calls are written in groups, as they are at any rate for which capacity is asked, and the processes have work always. */
const IN_FLIGHT = 64;

/** Tells that everything can be measured; its figures mean nothing. */
const LOOK_PLAN: Plan = { ...QUICK_PLAN, roundSeconds: 0.5, warmSeconds: { plain: 0.5, streams: 0.5 } };

async function measure(
  plan: Plan,
  isPlain: boolean,
): Promise<{ readonly costs: Costs; readonly faults: readonly string[] }> {
  const { bench, address } = await startBench(isPlain);
  tellProgress("starting the service");
  const sluice = keep(await startSluice(address.port, address.certificate?.certFile));
  const costOf = async (isStream: boolean): Promise<CallCost> => {
    await setPace(address, isStream ? plan.streamPace : plan.plainPace);
    tellProgress(isStream ? "streams" : "plain answers");
    await warmUp(bench, sluice, isStream, isStream ? plan.warmSeconds.streams : plan.warmSeconds.plain);
    const load = { isStream, seconds: plan.roundSeconds, inFlight: IN_FLIGHT };
    return costOfTurns(await alternate(bench, [sluice], plan.rounds, load));
  };
  const costs = {
    at: new Date().toISOString(),
    machine: machineName(),
    upstream: isPlain ? ("plain" as const) : ("tls" as const),
    plain: await costOf(false),
    stream: await costOf(true),
  };
  tellProgress("checking the books");
  const good = bench.all.reduce((calls, { drive }) => calls + drive.calls - drive.failed, 0);
  const { faults } = await verifyBooks(sluice.stack, good);
  const failed = bench.all.reduce((count, { drive }) => count + drive.failed, 0);
  return { costs, faults: [...faults, ...(failed > 0 ? [`${failed} calls failed`] : []), ...(await crowding(sluice))] };
}

/** A sentence where processes have more connections than the model counts. */
async function crowding({ stack }: SluiceTarget): Promise<string[]> {
  const [row] = await stack.query<{ reserved: bigint }>(
    "select count(*) as reserved from pg_stat_activity where application_name like 'sluice %' and application_name not like 'sluice pool%' and datname = current_database()",
  );
  const { ingresses, workers, janitors } = stack;
  const most =
    BESIDE_POOL.ingress * ingresses.length +
    BESIDE_POOL.worker * workers.length +
    BESIDE_POOL.janitor * janitors.length;
  return Number(row?.reserved) > most ? [`${row?.reserved} reserved connections, ${most} are counted`] : [];
}

function costOfTurns(turns: readonly Turn[]): CallCost {
  const { calls, perSecond, cpuPerCall, counters } = figures(turns, "sluice");
  if (counters === null || !(calls > 0)) throw new Error("nothing was measured");
  return {
    perSecond,
    cpu: Object.fromEntries(PROCESSES.map((name) => [name, (cpuPerCall[name] ?? 0) * 1_000])) as CallCost["cpu"],
    writeTransactions: counters.writeTransactions / calls,
    walBytes: counters.walBytes / calls,
    walSyncs: counters.walSyncs / calls,
    storedBytes: counters.storedBytes / calls,
    natsMessages: (counters.natsInMsgs + counters.natsOutMsgs) / calls,
    natsBytes: (counters.natsInBytes + counters.natsOutBytes) / calls,
  };
}

function renderCosts(costs: Costs, busy: number): string[] {
  const loads = ["plain", "stream"] as const;
  const costRows = loads.map((load) => {
    const cost = costs[load];
    const cpu = PROCESSES.map((name) => cost.cpu[name].toFixed(0));
    return [load, cost.perSecond.toFixed(0), ...cpu, cost.writeTransactions.toFixed(2), cost.walBytes.toFixed(0), cost.walSyncs.toFixed(2), cost.storedBytes.toFixed(0), cost.natsMessages.toFixed(1), cost.natsBytes.toFixed(0)]; // prettier-ignore
  });
  const coreRows = loads.map((load) => [
    load,
    ...PROCESSES.map((name) => callsPerCore(costs[load], name, busy).toFixed(0)),
  ]);
  const cpuHeads = PROCESSES.map((name) => `${name} µs`);
  return [
    `# Capacity`,
    "",
    `${costs.at.slice(0, 16).replace("T", " ")} UTC, ${costs.machine}; all parts share its cores. ${PROTOCOL_SENTENCES[costs.upstream]}`,
    ...section(`What a call costs, ${IN_FLIGHT} in flight`, ["calls", "a second here", ...cpuHeads, "write transactions", "WAL bytes", "WAL syncs", "stored bytes", "NATS messages", "NATS bytes"], costRows), // prettier-ignore
    ...section(`Calls a second that one core carries, ${percent(busy)} busy`, ["calls", ...PROCESSES], coreRows),
  ];
}

function renderNeed(costs: Costs, wanted: Wanted): string[] {
  const need = needFor(costs, wanted);
  const { cpu } = mixCosts(costs, wanted.streams);
  const cores = (name: "ingress" | "worker" | "janitor"): string => ((wanted.rate * cpu[name]) / 1e6).toFixed(2);
  const mega = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const rows = [
    ["ingress", need.ingresses, `${cores("ingress")} cores at work`],
    [
      "worker of the pool chat",
      need.workers,
      `${cores("worker")} cores at work; ${need.callsInFlight.toFixed(0)} calls in flight, ${wanted.slots} slots each: set by ${need.workersBy}`,
    ],
    ["janitor", need.janitors, `${cores("janitor")} cores at work`],
    [
      "Postgres",
      `${need.postgresCores.toFixed(2)} cores`,
      `${need.postgresConnections} connections, ${need.transactionsPerSecond.toFixed(0)} write transactions, ${need.walSyncsPerSecond.toFixed(0)} waits for the disk and ${mega(need.walBytesPerSecond)} MB of WAL a second, ${mega(need.storedBytesPerDay)} MB of rows a day`,
    ],
    [
      "NATS",
      `${need.natsCores.toFixed(2)} cores`,
      `${need.natsConnections} connections, ${need.natsMessagesPerSecond.toFixed(0)} messages and ${mega(need.natsBytesPerSecond)} MB a second`,
    ],
  ];
  const { rate, latency, streams, busy } = wanted;
  return section(
    `For ${rate} calls a second of ${latency} s, ${percent(streams)} of them streams, everything at most ${percent(busy)} busy`,
    ["part", "needed", "why"],
    rows,
  );
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

function readWanted(given: Readonly<Partial<Record<string, unknown>>>): Wanted {
  const read = ([name, usual]: [string, number]): [string, number] => {
    const value = Number(given[name] ?? usual);
    const [least, most] = BOUNDS[name] ?? [Number.MIN_VALUE, Infinity];
    if (value >= least && value <= most) return [name, value];
    throw new Error(
      `--${name} takes a number ${most === Infinity ? "above 0" : "up to 1"}, got "${String(given[name])}"`,
    );
  };
  return Object.fromEntries(Object.entries(USUAL).map(read)) as unknown as Wanted;
}

const BOUNDS: Readonly<Record<string, readonly [number, number]>> = { streams: [0, 1], busy: [0.01, 1] };

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    plain: { type: "boolean", default: false },
    save: { type: "string" },
    costs: { type: "string" },
    rate: { type: "string" },
    latency: { type: "string" },
    streams: { type: "string" },
    busy: { type: "string" },
    slots: { type: "string" },
    pool: { type: "string" },
  },
});
await runToEnd(async () => {
  const wanted = readWanted(values);
  const known = values.costs === undefined ? undefined : (JSON.parse(readFileSync(values.costs, "utf8")) as Costs);
  const { costs, faults } = known
    ? { costs: known, faults: [] }
    : await measure(values.quick ? LOOK_PLAN : FULL_PLAN, values.plain);
  if (values.save !== undefined) writeFileSync(values.save, `${JSON.stringify(costs, null, 2)}\n`);
  process.stdout.write(`${[...renderCosts(costs, wanted.busy), ...renderNeed(costs, wanted), ""].join("\n")}\n`);
  for (const fault of faults) process.stderr.write(`capacity: ${fault}\n`);
  return faults.length === 0;
});
