/**
 * Credit lines: credits that a process reserves for a busy workspace. The process admits a call that the line covers without the database,
 * and the call is settled against the line. Neither step waits for the balance row of the workspace. Once a second, a renewal books the
 * settlements of the line into the balance.
 */
import { commonNow } from "#shared/base/clock.ts";
import { type Database, type Queryable, SQL, sqlState, waitingForLocks } from "#shared/database/client.ts";
import { freshAndDue } from "#shared/database/sweep-retries.ts";
import { LOCK_TIMEOUT_MS } from "#shared/database/retry.ts";
import { newId } from "#shared/base/ids.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { paced } from "#shared/config/pace.ts";

import { type CreditLineHold, UnlistedCalls } from "./credit-line-calls.ts";

/**
 * Finds expired credit lines. Returns none during the first `startedMs` milliseconds of the database server, so that processes can renew
 * first.
 */
export function findOverdueLines(
  target: Queryable,
  max: number,
  startedMs: number,
): Promise<{ readonly id: string; readonly workspace_id: string }[]> {
  return target.query(
    freshAndDue(
      "credit lines",
      "l.id::text",
      (condition) => `select id, workspace_id from credit_line l
       where ends_at < now() and pg_postmaster_start_time() < now() - $2 * interval '1 millisecond' and ${condition}
       order by ends_at
       limit $1`,
    ),
    [max, startedMs],
  );
}

/** Deletes call counts of credit lines that are older than the rate-limit window. */
export async function deleteOldCounts(target: Queryable): Promise<void> {
  await target.query(
    `delete from lined_calls where ctid = any (array(
       select ctid from lined_calls where at_ms < (extract(epoch from now()) - 60) * 1000 limit 10000 for update skip locked))`,
  );
}

/**
 * Ends a credit line whose process has crashed, and returns its credits to the balance.
 * @param how `isOverdue`: only if the line was not renewed meanwhile
 */
export async function endLine(
  target: Queryable,
  lineId: string,
  how: { readonly isOverdue?: boolean } = {},
): Promise<void> {
  await target.query("select end_credit_line($1, $2)", [lineId, how.isOverdue === true], "end_credit_line");
}

/** A call that a credit line may cover, because its key has no rate limit, daily token limit or spend limit. */
export interface CreditLineCall {
  readonly jobId: string;
  readonly keyId: string;
  readonly model: string;
  readonly amountNano: bigint;
  readonly mayExceed: boolean;
  /** Maximum time until the call has ended, in milliseconds. */
  readonly lifeMs: number;
  /** Labels of the call for usage reports, by name. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface CreditLines {
  /** Draws the amount of a call from the credit line of its workspace. Returns undefined if no line covers the call. */
  draw(workspaceId: string, call: CreditLineCall): CreditLineHold | undefined;
  /**
   * Records how long the admission of a call without a credit line took. Long admissions make a workspace count as busy even if this
   * ingress serves few of its calls.
   */
  noteWait(workspaceId: string, nano: bigint, waitMs: number): void;
  /** Removes a settled call from the calls without a hold row. */
  forget(jobId: string): void;
  /** Closes all credit lines and returns their credits to the balances. The janitor later returns amounts of calls that are still open. */
  close(): Promise<void>;
}

/**
 * Weighted number of calls from which a workspace counts as busy, about 20 calls a second. The calls of each `CHECK_INTERVAL_MS` count half
 * as much as those of the next interval.
 */
const BUSY_CALLS = 20;
/** Admission time that counts as one more call, in milliseconds. One wait of 400 ms therefore makes a workspace busy. */
const WAIT_MS = 20;
const CHECK_INTERVAL_MS = paced(500);
/** Time without calls after which a credit line is returned, in milliseconds. */
const IDLE_MS = paced(1_500);
/** Interval between renewals of a credit line, in milliseconds. A reclaimed line is returned at its next renewal. */
const RENEW_MS = paced(1_000);
/** Interval between renewals of a credit line that is nearly used up, in milliseconds. */
const RENEW_EARLY_MS = paced(100);
/** Time without renewal after which a credit line covers no further calls, in milliseconds. */
const FRESH_MS = paced(5_000);
/**
 * Additional lifetime of a credit line after the latest end of its last call, in milliseconds. The settlement may be retried during this
 * time.
 */
const SLACK_MS = paced(60_000);
const BARRED_MS = paced(10_000);
/** Time for booking the last settlements when the process stops, in milliseconds. */
const CLOSE_MS = paced(2_000);
/** Number of calls that a new credit line covers. Doubled when the line proves too small. */
const CALLS = 256n;
/** Number of renewal intervals that the credits of a line should last at its current usage. */
const REACH = 4;
/**
 * Number of calls that may be drawn from a credit line before its next renewal, each as large as the largest call so far. Applies to lines
 * with little usage. A crashed process therefore blocks no more credits than it may have drawn.
 */
const REACH_CALLS = 64n;
/** A limit in nano-credits that is larger than any balance. */
const NANO_MAX = 2n ** 62n;
/** Maximum number of credit lines of a process. */
const LINES_MAX = 1_000;
/** Maximum number of calls on credit lines that are neither settled nor have a hold row. Further calls get a separate hold. */
const UNLISTED_MAX = 20_000;

interface Line {
  readonly id: string;
  readonly workspaceId: string;
  /** True until the database has confirmed the credit line. */
  isNew: boolean;
  /** Sequence number of the last renewal. It is needed because a statement whose response was lost may execute after a later one. */
  renewalNumber: number;
  /**
   * Nano-credits and calls drawn since the line was opened. `closed` is the amount that the database has already booked as settled, in
   * nano-credits.
   */
  drawn: bigint;
  calls: number;
  closed: bigint;
  /** Nano-credits that calls can still draw, as far as known; never more than the actual amount. */
  free: bigint;
  /** Largest amount drawn by a single call, in nano-credits. */
  largest: bigint;
  /** Upper limit of `drawn` until the next renewal, in nano-credits. Never more than the limit that the database has recorded. */
  most: bigint;
  /** True while calls may draw on the line. */
  isOpen: boolean;
  /** True while the credit line is being returned. */
  isEnding: boolean;
  /** Times of the last use and the last renewal, and time until which the line covers calls, all as performance.now(). */
  usedAt: number;
  renewedAt: number;
  freshUntil: number;
  /** Value of `drawn` at the last renewal. */
  drawnBefore: bigint;
  /**
   * Undrawn amount that the line should have (`wanted`), and amount that calls may draw until the next renewal (`reach`), in nano-credits.
   */
  wanted: bigint;
  reach: bigint;
  /** Largest amount of a call since the last renewal that the line did not cover, in nano-credits; 0 if there was none. */
  missing: bigint;
  /** True while a SQL statement for this credit line is pending. */
  isAsking: boolean;
}

const RENEW_SQL = waitingForLocks("renew_credit_line($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) as renewed", "$11");
export function openCreditLines(options: {
  readonly database: Database;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "creditLines">;
  /** Maximum time from admission to the end of a call, in milliseconds. */
  readonly callMs: number;
  /** Time for which a workspace gets no credit line after a refusal, in milliseconds. Default: 10 s. */
  readonly barredMs?: number | undefined;
}): CreditLines {
  return new ProcessLines(options);
}

class ProcessLines implements CreditLines {
  private readonly options: Parameters<typeof openCreditLines>[0];
  /** Credit lines by workspace id. */
  private readonly lines = new Map<string, Line>();
  private readonly calls: UnlistedCalls;
  /**
   * Number of recent calls of workspaces without a credit line, by workspace. Each earlier interval counts half as much as the one after
   * it.
   */
  private readonly callsOf = new Map<string, number>();
  /** Time (performance.now()) until which no credit line is requested, by workspace id. */
  private readonly barred = new Map<string, number>();
  private readonly clock: ReturnType<typeof setInterval>;
  private isClosing = false;

  constructor(options: Parameters<typeof openCreditLines>[0]) {
    this.options = options;
    this.calls = new UnlistedCalls(options);
    this.clock = setInterval(() => this.checkLines(), CHECK_INTERVAL_MS);
  }

  draw(
    workspaceId: string,
    { jobId, keyId, model, amountNano: nano, mayExceed, lifeMs, labels }: CreditLineCall,
  ): CreditLineHold | undefined {
    if (nano <= 0n) return undefined;
    const line = this.lines.get(workspaceId);
    const now = performance.now();
    if (!line || line.isEnding) {
      this.countCalls(workspaceId, 1, nano, now);
      return undefined;
    }
    if (!line.isOpen || now > line.freshUntil || this.calls.size >= UNLISTED_MAX) return undefined;
    if (line.free < nano && nano > line.missing) line.missing = nano;
    line.largest = max(line.largest, nano);
    const isCovered = line.free >= nano && line.drawn + nano <= line.most;
    if (isCovered) {
      line.usedAt = now;
      line.free -= nano;
      line.drawn += nano;
      line.calls += 1;
    }
    const isLow = line.free < line.wanted / 2n || line.most - line.drawn < line.reach / 2n;
    if (isLow && now - line.renewedAt > RENEW_EARLY_MS) void this.renewLine(line);
    if (!isCovered) return undefined;
    const creditLineHold = {
      lineId: line.id,
      keyId,
      model,
      amountNano: nano,
      mayExceed,
      deadlineMs: commonNow() + lifeMs,
      ...(labels === undefined ? {} : { labels }),
    };
    this.calls.add({ workspaceId, jobId, creditLineHold, at: now });
    return creditLineHold;
  }

  noteWait(workspaceId: string, nano: bigint, waitMs: number): void {
    const line = this.lines.get(workspaceId);
    const more = Math.floor(waitMs / WAIT_MS);
    if (more > 0 && (!line || line.isEnding)) this.countCalls(workspaceId, more, nano, performance.now());
  }

  forget(jobId: string): void {
    this.calls.forget(jobId);
  }

  async close(): Promise<void> {
    clearInterval(this.clock);
    this.isClosing = true;
    for (const line of this.lines.values()) line.isOpen = false;
    for (const until = performance.now() + CLOSE_MS; performance.now() < until; await Bun.sleep(CLOSE_MS / 4)) {
      await Promise.all(Array.from(this.lines.values(), (line) => this.giveBack(line)));
      if (this.lines.size === 0) break;
    }
    await this.calls.listAll();
    this.options.metrics.creditLines.set(this.lines.size);
  }

  private countCalls(workspaceId: string, more: number, nano: bigint, now: number): void {
    const calls = (this.callsOf.get(workspaceId) ?? 0) + more;
    this.callsOf.set(workspaceId, calls);
    if (calls < BUSY_CALLS || this.isClosing || (this.barred.get(workspaceId) ?? 0) > now) return;
    let line = this.lines.get(workspaceId);
    if (line) line.isEnding = false;
    else {
      if (this.lines.size >= LINES_MAX) return;
      line = newLine(workspaceId);
      this.lines.set(workspaceId, line);
    }
    line.usedAt = now;
    line.missing = nano;
    line.largest = max(line.largest, nano);
    void this.renewLine(line);
  }

  /** Closes a credit line, and requests no new one for its workspace for a while. */
  private barWorkspace(line: Line): void {
    this.bar(line.workspaceId);
    void this.giveBack(line);
  }

  private bar(workspaceId: string): void {
    this.barred.set(workspaceId, performance.now() + (this.options.barredMs ?? BARRED_MS));
  }

  private checkLines(): void {
    const now = performance.now();
    for (const [workspaceId, calls] of this.callsOf) {
      if (calls < 2) this.callsOf.delete(workspaceId);
      else this.callsOf.set(workspaceId, calls / 2);
    }
    for (const [workspaceId, until] of this.barred) if (until <= now) this.barred.delete(workspaceId);
    for (const line of this.lines.values()) {
      const isDue = now - line.renewedAt >= RENEW_MS;
      if (line.isEnding) {
        if (isDue) void this.giveBack(line);
      } else if (now - line.usedAt > IDLE_MS) {
        // Calls arrived, and the line covered none of them.
        if (line.missing > 0n) this.barWorkspace(line);
        else void this.giveBack(line);
      } else if (line.missing > 0n || isDue) {
        void this.renewLine(line);
      }
    }
    this.options.metrics.creditLines.set(this.lines.size);
    void this.calls.listDue();
  }

  private async renewLine(line: Line): Promise<void> {
    if (line.isAsking) return;
    const now = performance.now();
    const { missing, drawn, drawnBefore, renewedAt } = line;
    const perRenewal = Number(drawn - drawnBefore) / Math.max(1, (now - renewedAt) / RENEW_MS);
    const used = BigInt(Math.ceil(perRenewal * REACH));
    const least = missing === 0n ? line.wanted / 2n : max(missing * CALLS, line.wanted * 2n);
    line.wanted = min(max(used, least), NANO_MAX);
    line.reach = min(max(used, line.largest * REACH_CALLS), NANO_MAX);
    const isLow = missing > 0n || line.free < line.wanted / 2n;
    const more = isLow ? max(line.wanted - line.free, 0n) : 0n;
    const renewed = await this.ask(line, { more, most: drawn + line.reach, givesBack: false });
    if (renewed === "gone") this.bar(line.workspaceId);
    if (renewed === "over" || (renewed === "renewed" && line.free === 0n && drawn === line.closed))
      this.barWorkspace(line);
    if (renewed !== "renewed") return;
    if (missing === line.missing) line.missing = 0n;
    // The line has all credits that it can get.
    if (isLow) line.wanted = min(line.wanted, line.free);
    line.freshUntil = now + FRESH_MS;
    // The line may have been closed meanwhile.
    line.isOpen = !this.isClosing && !line.isEnding;
  }

  /** Closes a credit line. Returns its undrawn credits immediately, and the remaining ones after its calls are settled. */
  private async giveBack(line: Line): Promise<void> {
    line.isOpen = false;
    line.isEnding = true;
    await this.ask(line, { more: 0n, most: line.drawn, givesBack: true });
  }

  /**
   * Sends one renewal of a credit line to the database. Returns `over` if the line must be returned. Returns undefined if the result is
   * unknown, or if another renewal is running.
   */
  private async ask(
    line: Line,
    { more, most, givesBack }: { readonly more: bigint; readonly most: bigint; readonly givesBack: boolean },
  ): Promise<"renewed" | "over" | "gone" | undefined> {
    if (line.isAsking) return undefined;
    line.isAsking = true;
    // Until the response arrives, the statement may or may not have been executed.
    line.most = min(line.most, most);
    const { database, log, callMs } = this.options;
    const { id, workspaceId, drawn, calls } = line;
    line.renewedAt = performance.now();
    line.drawnBefore = drawn;
    line.renewalNumber += 1;
    let renewed: readonly bigint[] | null | undefined;
    try {
      const lifeMs = FRESH_MS + callMs + SLACK_MS;
      const renewalValues = [drawn, most, calls, more, lifeMs, givesBack];
      const values = [workspaceId, id, line.renewalNumber, line.isNew, ...renewalValues, LOCK_TIMEOUT_MS];
      const [row] = await database.query<{ renewed: bigint[] | null }>(RENEW_SQL, values, "renew_credit_line");
      renewed = row?.renewed;
    } catch (error) {
      // The next renewal reveals the result.
      if (sqlState(error) !== SQL.lockTimeout) {
        log.warn(
          { err: error, workspace_id: workspaceId },
          "a credit line could not be renewed or returned; it is retried",
        );
      }
      return undefined;
    } finally {
      line.isAsking = false;
    }
    line.isNew = false;
    const [amount, closed, isOver] = renewed ?? [];
    if (amount === undefined || closed === undefined) {
      line.isOpen = false;
      this.lines.delete(workspaceId);
    } else {
      line.closed = closed;
      line.most = most;
      line.free = amount - line.drawn + closed;
    }
    return amount === undefined ? "gone" : isOver === 1n ? "over" : "renewed";
  }
}

function newLine(workspaceId: string): Line {
  return {
    id: newId(),
    workspaceId,
    isNew: true,
    renewalNumber: 0,
    drawn: 0n,
    calls: 0,
    closed: 0n,
    free: 0n,
    largest: 0n,
    most: 0n,
    isOpen: false,
    isEnding: false,
    usedAt: 0,
    renewedAt: 0,
    freshUntil: 0,
    drawnBefore: 0n,
    wanted: 0n,
    reach: 0n,
    missing: 0n,
    isAsking: false,
  };
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
