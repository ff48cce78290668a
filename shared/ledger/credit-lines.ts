/**
 * Credit lines: credits that a process has set aside of its busy workspaces. A call that its workspace's line covers goes on its way while
 * its hold is being placed, together with others'. A hold that cannot be placed is taken out of the line, by the process that admitted the
 * call or by the one that settles it.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import { type Database, type Queryable, SQL, sqlState, waitingForLocks } from "#shared/database/client.ts";
import { freshAndDue } from "#shared/database/sweep-retries.ts";
import { LOCK_TIMEOUT_MS } from "#shared/database/retry.ts";
import { newId } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";

/** A call's share of a line, with what its hold says. */
export interface LinedHold {
  readonly lineId: string;
  readonly keyId: string;
  readonly model: string;
  readonly amountNano: bigint;
  readonly mayExceed: boolean;
}

/** The share of a line on which the call of the message went ahead of its hold. */
export function linedHoldOf(job: JobMessage): LinedHold | undefined {
  if (job.credit_line === undefined) return undefined;
  return {
    lineId: job.credit_line,
    keyId: job.key_id,
    model: job.model,
    amountNano: BigInt(job.hold_nano),
    mayExceed: job.may_exceed,
  };
}

const PLACE_SQL = "select place_lined_hold($1, $2, $3, $4, $5, $6, $7, $8) as verdict";

/**
 * Places the hold if nobody has: out of the line, or out of what is available when the line has ended. Safe to repeat. `stands`: it was
 * placed, now or before. `closed`: the call was settled before. `missing`: it was not, and there is not enough.
 * @param lifeMs how long the hold lives that is taken out of the line
 */
export async function placeLinedHold(
  database: Queryable,
  of: { readonly workspaceId: string; readonly jobId: string },
  { lineId, keyId, model, amountNano, mayExceed }: LinedHold,
  lifeMs: number,
): Promise<"stands" | "closed" | "missing"> {
  for (const from of [lineId, null]) {
    const values = [of.workspaceId, from, of.jobId, keyId, model, amountNano, mayExceed, lifeMs];
    const [row] = await database.query<{ verdict: number }>(PLACE_SQL, values, "place_lined_hold");
    if (row?.verdict === 0) return "stands";
    if (row?.verdict === 1) return "closed";
  }
  return "missing";
}

/** Lines that their processes neither gave back nor renew. None while the server has been up for less than `startedMs`: renewals come first. */
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

/** Gives a line back. */
export async function endLine(target: Queryable, lineId: string): Promise<void> {
  await target.query("select end_credit_line($1)", [lineId], "end_credit_line");
}

/** Pause before lines that were asked for are looked for again, and the longest that they are: longer than the database waits for any. */
export const RECALL_MS = paced(200);
export const RECALL_MAX_MS = 4_000;

/**
 * Asks for the lines of a workspace where the amount can be had with them, and waits a little for them. Resolves with the nano-credits that
 * can be had with them: as long as they are enough, it is worth trying again, which is three seconds at most. Undefined: there are no lines.
 */
export async function recallLines(database: Queryable, workspaceId: string, nano: bigint): Promise<bigint | undefined> {
  const sql = "select recall_credit_lines($1, $2) as covered";
  const [row] = await database.query<{ covered: bigint | null }>(sql, [workspaceId, nano], "recall_credit_lines");
  const covered = row?.covered ?? undefined;
  if (covered !== undefined) await Bun.sleep(RECALL_MS);
  return covered;
}

export interface CreditLines {
  /** Takes the amount out of the workspace's line. Undefined: none covers it, and the call waits for its hold. */
  draw(workspaceId: string, nano: bigint): Drawn | undefined;
  /** Gives all lines back. One with calls on it is left to end by itself. */
  close(): Promise<void>;
}

/** An amount that a call has of a line until its hold is known to stand. */
export interface Drawn {
  readonly lineId: string;
  /** The hold was placed as any other is. */
  placed(): void;
  /** The hold was taken out of the line, or may have been. */
  taken(why: "refused" | "unknown"): void;
}

/** A workspace that makes so many calls from one look to the next is busy: 20 a second. */
const BUSY_CALLS = 10;
const LOOK_MS = paced(500);
/** A line is given back when no call has drawn on it for this long. */
const IDLE_MS = paced(1_500);
/** A recalled line comes back at its next renewal. */
const RENEW_MS = paced(1_000);
/** Without renewal a line covers no further calls after this time. */
const FRESH_MS = paced(5_000);
/** A line that ends outlives the last call on it by this: its settle waits for the hold, and is repeated. */
const SLACK_MS = paced(60_000);
/** A workspace that was refused a line gets none for this long. */
const BARRED_MS = paced(10_000);
/** Time that holds have to be placed when the process ends. */
const CLOSE_MS = paced(2_000);
/** Calls that a new line covers. One that proves too small is doubled. */
const CALLS = 256n;
/** Far more than any balance has. */
const NANO_MAX = 2n ** 62n;
/** Lines of a process. */
const LINES_MAX = 1_000;
/** Calls whose holds are not known to stand: of one line, and of all. They wait where admissions of other workspaces do. */
const AHEAD_MAX = 1_000;
const ALL_AHEAD_MAX = 4_000;

interface Line {
  readonly id: string;
  readonly workspaceId: string;
  /** Nano-credits set aside, as far as this process knows: never more than there are. */
  amount: bigint;
  /** Those of them that no call has drawn. */
  free: bigint;
  /** Calls that have drawn on it and whose holds are not known to stand. */
  calls: number;
  /** Calls may draw on it. */
  isOpen: boolean;
  /** performance.now() of its last use, and until when it covers calls. */
  usedAt: number;
  freshUntil: number;
  renewAt: number;
  /** Largest amount that it did not cover since it was renewed. */
  missing: bigint;
  /** A statement of its is on the way. */
  isAsking: boolean;
}

const EXTEND_SQL = waitingForLocks("extend_credit_line($1, $2, $3, $4, $5) as added", "$6");

export function openCreditLines(options: {
  readonly database: Database;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "creditLines">;
  /** Longest time from admission to the end of a call, in milliseconds. */
  readonly callMs: number;
}): CreditLines {
  return new ProcessLines(options);
}

class ProcessLines implements CreditLines {
  private readonly options: Parameters<typeof openCreditLines>[0];
  /** By workspace. */
  private readonly lines = new Map<string, Line>();
  /** Calls since the last look, of workspaces without a line. */
  private readonly callsOf = new Map<string, number>();
  /** Workspace → performance.now() until which it is not asked for. */
  private readonly barred = new Map<string, number>();
  private readonly clock: ReturnType<typeof setInterval>;
  private allCalls = 0;
  private isClosing = false;

  constructor(options: Parameters<typeof openCreditLines>[0]) {
    this.options = options;
    this.clock = setInterval(() => this.lookAtLines(), LOOK_MS);
  }

  draw(workspaceId: string, nano: bigint): Drawn | undefined {
    if (nano <= 0n) return undefined;
    const line = this.lines.get(workspaceId);
    const now = performance.now();
    if (!line) {
      this.countCall(workspaceId, nano, now);
      return undefined;
    }
    const isOverdrawn = line.calls >= AHEAD_MAX || this.allCalls >= ALL_AHEAD_MAX;
    if (!line.isOpen || now > line.freshUntil || isOverdrawn) return undefined;
    if (line.free < nano) {
      if (nano > line.missing) line.missing = nano;
      return undefined;
    }
    line.usedAt = now;
    line.free -= nano;
    line.calls += 1;
    this.allCalls += 1;
    const end = (): void => {
      line.calls -= 1;
      this.allCalls -= 1;
      // It may have been recalled.
      if (line.calls === 0 && this.barred.has(workspaceId)) void this.endLine(line);
    };
    return {
      lineId: line.id,
      placed() {
        line.free += nano;
        end();
      },
      taken: (why) => {
        line.amount -= nano;
        end();
        line.isOpen = false;
        // Opened again by the next renewal; a workspace that was refused has no use for a line.
        if (why === "refused") this.barWorkspace(line);
        else line.renewAt = 0;
      },
    };
  }

  async close(): Promise<void> {
    clearInterval(this.clock);
    this.isClosing = true;
    const lines = Array.from(this.lines.values());
    for (const line of lines) line.isOpen = false;
    for (const until = performance.now() + CLOSE_MS; performance.now() < until;) {
      if (lines.every((line) => line.calls === 0 && !line.isAsking)) break;
      await Bun.sleep(20);
    }
    await Promise.all(lines.filter((line) => line.calls === 0).map((line) => this.endLine(line)));
  }

  private countCall(workspaceId: string, nano: bigint, now: number): void {
    const calls = (this.callsOf.get(workspaceId) ?? 0) + 1;
    this.callsOf.set(workspaceId, calls);
    if (calls < BUSY_CALLS || this.lines.size >= LINES_MAX || this.isClosing) return;
    if ((this.barred.get(workspaceId) ?? 0) > now) return;
    const line: Line = {
      id: newId(),
      workspaceId,
      amount: 0n,
      free: 0n,
      calls: 0,
      isOpen: false,
      usedAt: now,
      freshUntil: 0,
      renewAt: 0,
      missing: nano,
      isAsking: false,
    };
    this.lines.set(workspaceId, line);
    void this.extendLine(line);
  }

  /** Closes the line until it has ended, and leaves its workspace without one for a while. */
  private barWorkspace(line: Line): void {
    line.isOpen = false;
    this.barred.set(line.workspaceId, performance.now() + BARRED_MS);
    if (line.calls === 0) void this.endLine(line);
  }

  private lookAtLines(): void {
    const now = performance.now();
    this.callsOf.clear();
    for (const [workspaceId, until] of this.barred) if (until <= now) this.barred.delete(workspaceId);
    for (const line of this.lines.values()) {
      if (now - line.usedAt > IDLE_MS || this.barred.has(line.workspaceId)) {
        line.isOpen = false;
        // Calls came, and it covered none of them.
        if (line.missing > 0n) this.barWorkspace(line);
        else if (line.calls === 0) void this.endLine(line);
      } else if (line.missing > 0n || line.renewAt <= now) {
        void this.extendLine(line);
      }
    }
  }

  private async extendLine(line: Line): Promise<void> {
    if (line.isAsking) return;
    line.isAsking = true;
    const { database, log, callMs } = this.options;
    const { missing, amount } = line;
    const wanted = missing === 0n ? 0n : missing * CALLS > amount ? missing * CALLS : amount;
    const more = wanted < NANO_MAX ? wanted : NANO_MAX;
    const at = performance.now();
    let added: bigint | null;
    try {
      const lifeMs = FRESH_MS + callMs + SLACK_MS;
      const values = [line.workspaceId, line.id, more, lifeMs, amount, LOCK_TIMEOUT_MS];
      const [row] = await database.query<{ added: bigint | null }>(EXTEND_SQL, values, "extend_credit_line");
      added = row?.added ?? null;
    } catch (error) {
      // It may have been extended: whatever it has is given back when it ends.
      if (sqlState(error) !== SQL.lockTimeout) log.warn({ err: error }, "a credit line could not be extended");
      return;
    } finally {
      line.isAsking = false;
    }
    line.amount += added ?? 0n;
    line.free += added ?? 0n;
    if (added === null || line.amount === 0n) return this.barWorkspace(line);
    line.missing = 0n;
    line.freshUntil = at + FRESH_MS;
    line.renewAt = at + RENEW_MS;
    // Unless it was closed meanwhile.
    line.isOpen = !this.isClosing && !this.barred.has(line.workspaceId);
    this.options.metrics.creditLines.set(this.lines.size);
  }

  private async endLine(line: Line): Promise<void> {
    if (line.isAsking) return;
    line.isAsking = true;
    try {
      await endLine(this.options.database, line.id);
      this.lines.delete(line.workspaceId);
      this.options.metrics.creditLines.set(this.lines.size);
    } catch (error) {
      this.options.log.warn(
        { err: error, workspace_id: line.workspaceId },
        "a credit line could not be given back yet",
      );
    } finally {
      line.isAsking = false;
    }
  }
}
