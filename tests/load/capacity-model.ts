/** Capacity: calculates the processes, cores and connections that a wanted rate needs from the cost of one call. Pure. */
import type { UpstreamProtocol } from "./targets.ts";

export const PROCESSES = ["ingress", "worker", "janitor", "postgres", "nats"] as const;
export type ProcessName = (typeof PROCESSES)[number];

/** Costs of one call under one load. */
export interface CallCost {
  readonly perSecond: number;
  /** Microseconds. */
  readonly cpu: Readonly<Record<ProcessName, number>>;
  readonly writeTransactions: number;
  readonly walBytes: number;
  readonly walSyncs: number;
  readonly storedBytes: number;
  readonly natsMessages: number;
  readonly natsBytes: number;
}

/** Costs of a machine: they say nothing about another one. */
export interface Costs {
  readonly at: string;
  readonly machine: string;
  readonly upstream: UpstreamProtocol;
  readonly plain: CallCost;
  readonly stream: CallCost;
}

export interface Wanted {
  /** Calls a second at the peak. */
  readonly rate: number;
  /** Seconds that a call takes at its provider, the mean. */
  readonly latency: number;
  /** Share of streams among the calls. */
  readonly streams: number;
  /** Share of a core, and of a worker's slots, that is used at the peak. */
  readonly busy: number;
  /** SLUICE_WORKER_SLOTS. */
  readonly slots: number;
  /** SLUICE_DATABASE_POOL_MAX. */
  readonly pool: number;
}

/** Slots and pool are the settings' defaults. */
export const USUAL: Wanted = { rate: 1_000, latency: 2, streams: 0.5, busy: 0.75, slots: 224, pool: 8 };

export interface Need {
  readonly ingresses: number;
  readonly workers: number;
  readonly janitors: number;
  /** The bound that sets the number of workers. */
  readonly workersBy: "slots" | "processor";
  readonly postgresCores: number;
  readonly natsCores: number;
  readonly callsInFlight: number;
  readonly postgresConnections: number;
  readonly natsConnections: number;
  readonly transactionsPerSecond: number;
  readonly walSyncsPerSecond: number;
  readonly walBytesPerSecond: number;
  readonly storedBytesPerDay: number;
  readonly natsMessagesPerSecond: number;
  readonly natsBytesPerSecond: number;
}

/** Connections to Postgres beside the pool that a process has at most: groups of admissions and settles, the intake of batches, audits. */
export const BESIDE_POOL = { ingress: 9, worker: 2, janitor: 4 };
/** An ingress and a janitor have one connection to NATS, a worker has two. */
const NATS_CONNECTIONS = { ingress: 1, worker: 2, janitor: 1 };
/** One that is lost leaves another. */
const SPARE_MIN = 2;
const MICROS = 1_000_000;
const DAY_SECONDS = 86_400;

/** Returns the costs of the mean call where this share of the calls are streams. */
export function mixCosts({ plain, stream }: Costs, streams: number): CallCost {
  const mix = (of: (cost: CallCost) => number): number => of(plain) * (1 - streams) + of(stream) * streams;
  return {
    perSecond: mix(({ perSecond }) => perSecond),
    cpu: Object.fromEntries(PROCESSES.map((name) => [name, mix(({ cpu }) => cpu[name])])) as CallCost["cpu"],
    writeTransactions: mix((cost) => cost.writeTransactions),
    walBytes: mix((cost) => cost.walBytes),
    walSyncs: mix((cost) => cost.walSyncs),
    storedBytes: mix((cost) => cost.storedBytes),
    natsMessages: mix((cost) => cost.natsMessages),
    natsBytes: mix((cost) => cost.natsBytes),
  };
}

/** Returns the calls a second that one core of a process carries at this share of it. */
export function callsPerCore(cost: CallCost, process: ProcessName, busy: number): number {
  return (busy * MICROS) / cost.cpu[process];
}

export function needFor(costs: Costs, { rate, latency, streams, busy, slots, pool }: Wanted): Need {
  const cost = mixCosts(costs, streams);
  const cores = (name: ProcessName): number => rate / callsPerCore(cost, name, busy);
  const callsInFlight = rate * latency;
  const bySlots = Math.ceil(callsInFlight / (slots * busy));
  // A process of ours computes on one core.
  const byProcessor = Math.ceil(cores("worker"));
  const ingresses = Math.max(SPARE_MIN, Math.ceil(cores("ingress")));
  const workers = Math.max(SPARE_MIN, bySlots, byProcessor);
  const janitors = SPARE_MIN;
  return {
    ingresses,
    workers,
    janitors,
    workersBy: bySlots >= byProcessor ? "slots" : "processor",
    postgresCores: cores("postgres"),
    natsCores: cores("nats"),
    callsInFlight,
    postgresConnections:
      (ingresses + workers + janitors) * pool +
      ingresses * BESIDE_POOL.ingress +
      workers * BESIDE_POOL.worker +
      janitors * BESIDE_POOL.janitor,
    natsConnections:
      ingresses * NATS_CONNECTIONS.ingress + workers * NATS_CONNECTIONS.worker + janitors * NATS_CONNECTIONS.janitor,
    transactionsPerSecond: rate * cost.writeTransactions,
    walSyncsPerSecond: rate * cost.walSyncs,
    walBytesPerSecond: rate * cost.walBytes,
    storedBytesPerDay: rate * DAY_SECONDS * cost.storedBytes,
    natsMessagesPerSecond: rate * cost.natsMessages,
    natsBytesPerSecond: rate * cost.natsBytes,
  };
}
