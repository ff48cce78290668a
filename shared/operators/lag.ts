/** Reports the load of the pools to autoscalers such as KEDA: `GET /lag` on a janitor's admin port. All janitors return the same. */
import { timingSafeEqual } from "node:crypto";

import { beforeAbort } from "#shared/base/abortable.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { isDatabaseAway, type Database } from "#shared/database/client.ts";
import { readPoolsWithin } from "#shared/database/pools.ts";
import { POOLS, type Pool } from "#shared/queue/subjects.ts";
import { hashKey } from "#shared/secrets/api-keys.ts";

import { type PoolLoad, poolLoads, wantedSlots } from "./pools.ts";

/** Load of a pool, of both lanes together. */
export interface Lag {
  readonly pool: Pool;
  readonly queued: number;
  readonly running: number;
  /** Number of slots needed for the whole load: calls with a waiting caller, jobs and runs. */
  readonly wanted_slots: number;
  /** Longest wait of a job or run, in seconds; 0 if none waits. */
  readonly oldest_waiting_seconds: number;
  readonly slots: number;
  readonly processes: number;
}

/** Time for which a result is cached, in milliseconds. Postgres is queried at most once in this time. */
const KEPT_MS = 1_000;
const STATEMENT_MS = 2_000;
/** Timeout of a query including the wait for a connection, in milliseconds. */
const ANSWER_MS = 4_000;

interface LagOptions {
  readonly database: Database;
  readonly catalogue: () => Pick<Catalogue, "models">;
  /** Secret that a request must contain. */
  readonly token: string;
  readonly now?: () => number;
}

/**
 * Creates the handler of `/lag`. The handler returns the load of one pool for `?pool=`, otherwise of all pools. Requests without the secret
 * receive 401.
 */
export function createLagPage(options: LagOptions): (url: URL, request: Request) => Promise<Response> {
  const expected = hashKey(options.token);
  const read = rememberLags(options);
  return async ({ searchParams }, request) => {
    const token = /^Bearer ([\x21-\x7e]{1,256})$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (token === undefined || !timingSafeEqual(hashKey(token), expected)) {
      return Response.json({ error: "expected the token of SLUICE_LAG_TOKEN" }, UNAUTHORIZED);
    }
    const pool = searchParams.get("pool");
    if (pool !== null && !POOLS.some((one) => one === pool)) {
      return Response.json({ error: `pool is one of ${POOLS.join(", ")}` }, { status: 404 });
    }
    try {
      const lags = await beforeAbort(read(), AbortSignal.timeout(ANSWER_MS));
      return Response.json(pool === null ? { pools: lags } : lags.find((lag) => lag.pool === pool));
    } catch (error) {
      if (!isDatabaseAway(error) && (error as Error).name !== "TimeoutError") throw error;
      return Response.json({ error: "Postgres does not answer" }, { status: 503 });
    }
  };
}

const UNAUTHORIZED = { status: 401, headers: { "www-authenticate": "Bearer" } };

/** Returns a function that reads the load of all pools, with one database query at a time. It caches a failed query as long as a result. */
function rememberLags({ database, catalogue, now = () => performance.now() }: LagOptions): () => Promise<Lag[]> {
  let asked: { readonly at: number; readonly lags: Promise<Lag[]> } | undefined;
  let isAsking = false;
  const ask = async (): Promise<Lag[]> => {
    isAsking = true;
    try {
      return sumLanes(poolLoads(await readPoolsWithin(database, STATEMENT_MS), catalogue()));
    } finally {
      isAsking = false;
    }
  };
  return () => {
    if (asked === undefined || (!isAsking && now() - asked.at >= KEPT_MS)) {
      asked = { at: now(), lags: ask() };
    }
    return asked.lags;
  };
}

export function sumLanes(loads: readonly PoolLoad[]): Lag[] {
  return POOLS.map((pool) => {
    const lanes = loads.filter((load) => load.pool === pool);
    const sum = (read: (load: PoolLoad) => number): number => lanes.reduce((all, load) => all + read(load), 0);
    const most = (read: (load: PoolLoad) => number): number => Math.max(0, ...lanes.map(read));
    return {
      pool,
      queued: sum(({ queued }) => queued),
      running: sum(({ running }) => running),
      wanted_slots: sum(wantedSlots),
      oldest_waiting_seconds: Math.round(most((load) => load.oldest_waiting_seconds) * 10) / 10,
      slots: sum(({ slots }) => slots),
      // A process serves both lanes.
      processes: most(({ processes }) => processes),
    };
  });
}
