/** Ingresses with credit lines beside one database, for tests of them. */
import { expect } from "bun:test";

import { type Database, openDatabase, type Queryable } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { type CallAdmission, createCallAdmission, type HoldRequest } from "#shared/ledger/call-admission.ts";
import { type CreditLines, endLine, openCreditLines } from "#shared/ledger/credit-lines.ts";
import type { CreditLineHold } from "#shared/ledger/credit-line-calls.ts";
import { type Ledger, openLedger, type Settled } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { CREDIT, settlementOf } from "../accounts.ts";

export const log = createLogger({ level: "silent", role: "test" });

export interface Ingress {
  readonly calls: CallAdmission;
  readonly lines: CreditLines;
}

/** Arguments of `renew_credit_line`. */
interface Renewal {
  readonly drawn?: bigint;
  /** Absent: more than it has. */
  readonly most?: bigint;
  readonly calls?: number;
  readonly more?: bigint;
  readonly lifeMs?: number;
  readonly givesBack?: boolean;
  /** Absent: one more than the last. */
  readonly turn?: number;
}

const FAR = 10n ** 15n;

export class LinesBench {
  readonly db: TestDatabase;
  readonly database: Database;
  readonly ledger: Ledger;
  readonly metrics: Metrics = createMetrics("test");
  private readonly opened: CreditLines[] = [];
  private turn = 0;

  constructor(db: TestDatabase) {
    this.db = db;
    this.database = openDatabase({ url: db.url, poolMax: 8, log });
    this.ledger = openLedger({ database: this.database, log, retryMs: 20_000 });
  }

  static async open(): Promise<LinesBench> {
    return new LinesBench(await createTestDatabase());
  }

  /** Ends the ingresses of a test, behind which the books are exact. */
  async end(): Promise<void> {
    await this.ledger.idle();
    await Promise.all(this.opened.splice(0).map((lines) => lines.close()));
    expect(await auditLedger(this.db.database)).toEqual([]);
  }

  async close(): Promise<void> {
    this.metrics.close();
    await this.database.close();
    await this.db.drop();
  }

  /** An ingress process, with connections of its own where one is given. */
  startIngress(on: Database = this.database, { barredMs }: { readonly barredMs?: number } = {}): Ingress {
    const { ledger, metrics } = this;
    const lines = openCreditLines({ database: on, log, metrics, callMs: 1_000, barredMs });
    this.opened.push(lines);
    return { lines, calls: createCallAdmission({ database: on, log, ledger, lines, metrics }) };
  }

  /** Calls until one is admitted on a line: the workspace is busy then. */
  async openLine(ingress: Ingress, workspaceId: string, amountNano = CREDIT): Promise<CreditLineHold> {
    const first = await this.callOften(ingress, workspaceId, { changes: { amountNano }, rounds: 100 });
    if (!first) throw new Error("no call was admitted on a line");
    return first;
  }

  /**
   * Makes 12 calls at once, which two rounds of make a workspace busy, and again until one is admitted on a line. A busy workspace has
   * its line by the third or fourth round. Undefined: no call of any round was.
   */
  async callOften(
    { calls, lines }: Ingress,
    workspaceId: string,
    {
      limit = null,
      changes = {},
      rounds = 12,
    }: { readonly limit?: number | null; readonly changes?: Partial<HoldRequest>; readonly rounds?: number } = {},
  ): Promise<CreditLineHold | undefined> {
    const call = async (): Promise<CreditLineHold | undefined> => {
      const of = hold(CREDIT, changes);
      const lined = await calls.place(workspaceId, limit, of);
      await this.settle(workspaceId, of.jobId, null, lined);
      lines.forget(of.jobId);
      return lined;
    };
    for (let round = 0; round < rounds; round++) {
      const first = (await Promise.all(Array.from({ length: 12 }, call))).find((lined) => lined !== undefined);
      if (first) return first;
    }
    return undefined;
  }

  settle(
    workspaceId: string,
    jobId: string,
    usedNano: bigint | null,
    creditLineHold?: CreditLineHold,
  ): Promise<Settled> {
    return this.ledger.settle(settlementOf(workspaceId, jobId, usedNano, { creditLineHold }));
  }

  /** Settles calls on lines in one statement. Returns what each took, as the statement says it. */
  async settleTogether(
    workspaceId: string,
    calls: readonly {
      readonly jobId: string;
      readonly lineId: string;
      readonly used: bigint | null;
      readonly drawn?: bigint;
      readonly mayExceed?: boolean;
    }[],
    skips = true,
  ): Promise<(bigint | null)[] | undefined> {
    const of = <T>(value: (call: (typeof calls)[number]) => T): T[] => calls.map(value);
    const [row] = await this.db.query<{ taken: (bigint | null)[] }>(
      `select settle_lined_calls($1::uuid[], $2::uuid[], $3::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::boolean[], $7::bigint[],
         $8::bigint[], $4::text[], $4::text[], $9::jsonb[], $10::boolean[], $7::bigint[], $11) as taken`,
      [
        of(() => workspaceId),
        of(({ lineId }) => lineId),
        of(({ jobId }) => jobId),
        of(({ used }) => (used === null ? "failed" : "succeeded")),
        of(({ drawn = CREDIT }) => drawn),
        of(({ mayExceed = false }) => mayExceed),
        of(() => 0n),
        of(({ used }) => used),
        of(() => "{}"),
        of(() => false),
        skips,
      ],
    );
    return row?.taken;
  }

  /** Returns amount, closed, and whether it is to be given back; null when there is no such line. */
  async renew(workspaceId: string, lineId: string, of: Renewal, isNew = false): Promise<bigint[] | null> {
    const { drawn = 0n, most = drawn + FAR, calls = 0, more = 0n, lifeMs = 60_000, givesBack = false, turn = ++this.turn } = of; // prettier-ignore
    const [row] = await this.db.query<{ renewed: bigint[] | null }>(
      "select renew_credit_line($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) as renewed",
      [workspaceId, lineId, turn, isNew, drawn, most, calls, more, lifeMs, givesBack],
    );
    return row?.renewed ?? null;
  }

  /** A line that no process knows of, as a dead ingress leaves it. @param more arguments of its last renewal */
  async leaveLine(workspaceId: string, nano: bigint, more: Pick<Renewal, "lifeMs" | "most"> = {}): Promise<string> {
    const id = newId();
    expect(await this.renew(workspaceId, id, { more: nano, ...more }, true)).toEqual([nano, 0n, 0n]);
    return id;
  }

  /** Amount of the workspace's line. */
  async lineOf(workspaceId: string): Promise<bigint | undefined> {
    const rows = await this.db.query<{ amount: bigint }>("select amount from credit_line where workspace_id = $1", [
      workspaceId,
    ]);
    return rows[0]?.amount;
  }

  /** Dates the last renewal of the workspace's lines back, in seconds. */
  async age(workspaceId: string, seconds: number): Promise<void> {
    const back = "update credit_line set renewed_at = renewed_at - $2 * interval '1 second' where workspace_id = $1";
    await this.db.query(back, [workspaceId, seconds]);
  }

  /** Waits until the workspace's lines are recalled, and dates the recall back by the longest time that calls wait for a line. */
  async passRecall(workspaceId: string): Promise<void> {
    const back = "update credit_line set recalled_at = recalled_at - interval '3 seconds' where workspace_id = $1 and recalled_at is not null returning id"; // prettier-ignore
    await eventually("a line is recalled", async () => (await this.db.query(back, [workspaceId])).length > 0);
  }

  /** Ends the workspace's lines a moment after they were recalled, as an ingress does. */
  async giveBackWhenRecalled(workspaceId: string): Promise<void> {
    const recalled = () => this.db.query<{ id: string }>("select id from credit_line where workspace_id = $1 and recalled_at is not null", [workspaceId]); // prettier-ignore
    const [line] = await eventually("a line is recalled", async () => {
      const rows = await recalled();
      return rows.length > 0 && rows;
    });
    await endLine(this.db.database, line?.id ?? "");
  }

  /** The database, with statements told by their names. */
  through(change: (name: string | undefined, run: () => Promise<unknown>) => Promise<unknown>): Database {
    const { database } = this;
    const tell = (on: Queryable): Queryable => ({
      query: ((text: string, values?: Parameters<Queryable["query"]>[1], name?: string) =>
        change(name, () => on.query(text, values, name))) as Queryable["query"],
    });
    return { ...database, ...tell(database), reserve: (name) => tell(database.reserve(name)) };
  }
}

export function hold(
  amountNano = CREDIT,
  changes: Partial<HoldRequest> = {},
): HoldRequest & { readonly canUseCreditLine: true } {
  return {
    jobId: newId(),
    keyId: newId(),
    model: "test-model",
    amountNano,
    mayExceed: false,
    tokensMax: 100,
    dailyTokens: null,
    lifeMs: 60_000,
    canUseCreditLine: true,
    ...changes,
  };
}

export const shareOf = (lineId: string, amountNano = CREDIT, mayExceed = false): CreditLineHold => ({
  lineId,
  keyId: newId(),
  model: "test-model",
  amountNano,
  mayExceed,
  deadlineMs: Date.now() + 1_000,
});
