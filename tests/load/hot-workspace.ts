/**
 * Calls a second of one workspace over 1, 2, 8 and 64 ingresses and as many workers, with credit lines and without, where all of them write its
 * balance. `npm run load:hot`, or `-- 8 64` for those. Admission and settle alone, in this process; a provider takes 20 ms, and 192 calls are in flight at a time
 * over all of them. Postgres waits for its disk.
 */
import { closeReaper } from "#deploy/embedded/reaper.mjs";
import { openDatabase } from "#shared/database/client.ts";
import { GROUPED_CONNECTIONS } from "#shared/database/grouped.ts";
import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { type CallAdmission, createCallAdmission } from "#shared/ledger/call-admission.ts";
import { type CreditLines, openCreditLines } from "#shared/ledger/credit-lines.ts";
import { type Ledger, openLedger } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";

import { createWorkspace, CREDIT, settlementOf } from "../shared/accounts.ts";
import { createTestDatabase, startOwnPostgres, type TestDatabase } from "../support/postgres.ts";
import { DURABLE } from "./sluice-target.ts";

const INGRESSES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 2, 8, 64];
const IN_FLIGHT = 192;
const PROVIDER_MS = 20;
/** Lines are open, and the code is compiled, after the first of these. */
const WARM_UP_MS = 5_000;
const MEASURED_MS = 4_000;
const HOLD_NANO = CREDIT / 1_000n;
/** An ingress has so many connections to reserve, and a few for what goes beside them. */
const CONNECTIONS = { reservedMax: 2 * GROUPED_CONNECTIONS, poolMax: 2, slowMax: 1 };

process.env["SLUICE_PACE"] = "1";
const log = createLogger({ level: "silent", role: "load" });
const metrics = createMetrics("load");

/** An ingress and the worker that does its calls, on connections of their own. */
interface Pair {
  readonly calls: CallAdmission;
  readonly ledger: Ledger;
  readonly lines: CreditLines | undefined;
  close(): Promise<void>;
}

function openPair(url: string, isLined: boolean): Pair {
  const database = openDatabase({ url, ...CONNECTIONS, log });
  const ledger = openLedger({ database, log, retryMs: 5_000 });
  const lines = isLined ? openCreditLines({ database, log, metrics, callMs: 60_000 }) : undefined;
  return {
    calls: createCallAdmission({ database, log, ledger, lines, metrics }),
    ledger,
    lines,
    async close() {
      await ledger.idle();
      await lines?.close();
      await database.close();
    },
  };
}

interface Measured {
  readonly perSecond: number;
  /** Share of the calls that were admitted on a line. */
  readonly onLine: number;
  /** Longest wait for an admission of all but a hundredth, in milliseconds. */
  readonly p99: number;
  /** Calls whose settle was given up: the janitor closes their holds. */
  readonly unsettled: number;
}

async function measure(db: TestDatabase, ingresses: number, isLined: boolean): Promise<Measured> {
  const workspaceId = await createWorkspace(db.database, 1_000_000n * CREDIT);
  const pairs = Array.from({ length: ingresses }, () => openPair(db.url, isLined));
  const from = performance.now() + WARM_UP_MS;
  const until = from + MEASURED_MS;
  const waits: number[] = [];
  let [onLine, unsettled] = [0, 0];
  const settles = new Set<Promise<unknown>>();
  const callInTurn = async ({ calls, ledger, lines }: Pair): Promise<void> => {
    while (performance.now() < until) {
      const jobId = newId();
      const askedAt = performance.now();
      const hold = {
        jobId,
        keyId: newId(),
        model: "load",
        amountNano: HOLD_NANO,
        mayExceed: false,
        tokensMax: 1,
        dailyTokens: null,
        lifeMs: 60_000,
        canUseCreditLine: true,
      };
      const creditLineHold = await calls.place(workspaceId, null, hold);
      if (askedAt > from) {
        waits.push(performance.now() - askedAt);
        if (creditLineHold) onLine += 1;
      }
      await Bun.sleep(PROVIDER_MS);
      // Answers go out before they are settled.
      const settle = ledger.settle(settlementOf(workspaceId, jobId, HOLD_NANO / 2n, { creditLineHold })).then(
        () => lines?.forget(jobId),
        () => (unsettled += 1),
      );
      settles.add(settle);
      void settle.then(() => settles.delete(settle));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, (_, at) => callInTurn(pairs[at % ingresses] as Pair)));
  await Promise.all(settles);
  await Promise.all(pairs.map((pair) => pair.close()));
  waits.sort((one, other) => one - other);
  return {
    perSecond: (waits.length / MEASURED_MS) * 1_000,
    onLine: onLine / waits.length,
    p99: waits[Math.floor(waits.length * 0.99)] ?? 0,
    unsettled,
  };
}

const postgres = await startOwnPostgres({ settings: { ...DURABLE, max_connections: "700" } });
process.env["TEST_POSTGRES_URL"] = postgres.url;
let isWell = false;
try {
  const db = await createTestDatabase();
  say(
    "| ingresses and workers | | calls a second | on a line | admission p99, ms | not settled |\n|---|---|---|---|---|---|",
  );
  for (const ingresses of INGRESSES) {
    for (const isLined of [true, false]) {
      const { perSecond, onLine, p99, unsettled } = await measure(db, ingresses, isLined);
      const name = isLined ? "credit lines" : "none";
      say(
        `| ${ingresses} | ${name} | ${perSecond.toFixed(0)} | ${(onLine * 100).toFixed(0)} % | ${p99.toFixed(1)} | ${unsettled} |`,
      );
    }
  }
  const faults = await auditLedger(db.database);
  isWell = faults.length === 0;
  say(isWell ? "The books are exact." : `The books are wrong: ${Bun.inspect(faults.slice(0, 3))}`);
  await db.drop();
} finally {
  metrics.close();
  await postgres.close();
  await closeReaper();
}
process.exit(isWell ? 0 : 1);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
