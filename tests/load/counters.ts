/** Cost of a call for the servers behind the gateway: readings taken before and after a round, and their difference. */
import type { Query } from "../support/postgres.ts";

/** Running totals, or the growth between two readings. */
export interface Counters {
  /** Transactions that wrote; read from the transaction counter, which unlike the statistics views has no delay. */
  readonly writeTransactions: number;
  readonly walBytes: number;
  /** Times that Postgres waited for the disk to have its log; 0 of a server that does not count them. */
  readonly walSyncs: number;
  /** Bytes of the tables with their indexes. Files of the server, such as its cache of the catalogue, do not count. */
  readonly storedBytes: number;
  readonly natsInMsgs: number;
  readonly natsOutMsgs: number;
  readonly natsInBytes: number;
  readonly natsOutBytes: number;
}

interface Varz {
  readonly in_msgs: number;
  readonly out_msgs: number;
  readonly in_bytes: number;
  readonly out_bytes: number;
}

/** `monitorUrl` is the NATS server's HTTP monitoring address. */
export async function readCounters(query: Query, monitorUrl: string): Promise<Counters> {
  const [row] = await query<{ xid: string; wal: string; syncs: string; stored: string }>(
    `select pg_snapshot_xmax(pg_current_snapshot())::text as xid, (pg_current_wal_insert_lsn() - '0/0')::text as wal,
            (select coalesce(sum(fsyncs), 0)::text from pg_stat_io where object = 'wal') as syncs,
            (select sum(pg_total_relation_size(oid))::text from pg_class
              where relkind = 'r' and relnamespace = 'public'::regnamespace) as stored`,
  );
  const varz = (await (await fetch(`${monitorUrl}/varz`)).json()) as Varz;
  return {
    writeTransactions: Number(row?.xid),
    walBytes: Number(row?.wal),
    walSyncs: Number(row?.syncs),
    storedBytes: Number(row?.stored),
    natsInMsgs: varz.in_msgs,
    natsOutMsgs: varz.out_msgs,
    natsInBytes: varz.in_bytes,
    natsOutBytes: varz.out_bytes,
  };
}

/** Member by member: `later` minus `earlier`. */
export function growth(earlier: Counters, later: Counters): Counters {
  return combine(later, earlier, -1);
}

export function sum(parts: readonly Counters[]): Counters {
  return parts.reduce((total, part) => combine(total, part, 1), ZERO);
}

const ZERO: Counters = {
  writeTransactions: 0,
  walBytes: 0,
  walSyncs: 0,
  storedBytes: 0,
  natsInMsgs: 0,
  natsOutMsgs: 0,
  natsInBytes: 0,
  natsOutBytes: 0,
};

function combine(a: Counters, b: Counters, factor: 1 | -1): Counters {
  return {
    writeTransactions: a.writeTransactions + factor * b.writeTransactions,
    walBytes: a.walBytes + factor * b.walBytes,
    walSyncs: a.walSyncs + factor * b.walSyncs,
    storedBytes: a.storedBytes + factor * b.storedBytes,
    natsInMsgs: a.natsInMsgs + factor * b.natsInMsgs,
    natsOutMsgs: a.natsOutMsgs + factor * b.natsOutMsgs,
    natsInBytes: a.natsInBytes + factor * b.natsInBytes,
    natsOutBytes: a.natsOutBytes + factor * b.natsOutBytes,
  };
}

/** Cumulative bucket counts of one Prometheus histogram, by upper bound in seconds; label sets are added up. */
export type Buckets = ReadonlyMap<number, number>;

/** Reads a histogram from a page of metrics; empty when it is not there. */
export function parseBuckets(page: string, name: string): Buckets {
  const buckets = new Map<number, number>();
  for (const [, labels = "", count] of page.matchAll(new RegExp(`^${name}_bucket\\{(.*)\\} (\\S+)`, "gm"))) {
    const bound = /le="([^"]+)"/.exec(labels)?.[1];
    const key = bound === "+Inf" ? Infinity : Number(bound);
    buckets.set(key, (buckets.get(key) ?? 0) + Number(count));
  }
  return buckets;
}

export function bucketGrowth(earlier: Buckets, later: Buckets): Buckets {
  return new Map([...later].map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)]));
}

export function sumBuckets(parts: readonly Buckets[]): Buckets {
  const total = new Map<number, number>();
  for (const part of parts) for (const [bound, count] of part) total.set(bound, (total.get(bound) ?? 0) + count);
  return total;
}

/** Seconds below which the share lies, read off a straight line inside the bucket, as Prometheus does; NaN when empty. */
export function bucketPercentile(buckets: Buckets, share: number): number {
  const bounds = [...buckets].toSorted(([a], [b]) => a - b);
  const wanted = share * (bounds.at(-1)?.[1] ?? 0);
  if (wanted === 0) return Number.NaN;
  let [lower, below] = [0, 0];
  for (const [bound, count] of bounds) {
    if (count >= wanted) {
      return bound === Infinity ? lower : lower + ((bound - lower) * (wanted - below)) / Math.max(1, count - below);
    }
    [lower, below] = [bound, count];
  }
  return Number.NaN;
}
