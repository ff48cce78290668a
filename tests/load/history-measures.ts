/** Work whose cost is compared between a short history and a long one: the project's own code for all of it, on one of the two databases. */
import { createMetrics } from "#shared/metrics/metrics.ts";
import { readKeyFacts } from "#shared/database/key-facts.ts";
import { pageUsageRequests, type UsagePlace } from "#shared/database/usage-requests.ts";
import { sumUsage } from "#shared/database/usage-sums.ts";
import { newId } from "#shared/base/ids.ts";
import { auditInSteps } from "#shared/ledger/audit.ts";
import { createCallAdmission } from "#shared/ledger/call-admission.ts";
import { openCreditLines } from "#shared/ledger/credit-lines.ts";
import { openLedger } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { CREDIT, settlementOf } from "#tests/shared/accounts.ts";
import { rollUpAll } from "#tests/shared/usage-records.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { openUsageRollUp, sweepBudgets } from "#workers/janitor/money.ts";

import type { Accounts } from "./history-data.ts";

const LONE = 200;
const GROUPED = 2_500;
const IN_FLIGHT = 64;
const READS = 20;
/** Rows of a page, and the one that says that there are more. */
const PAGE = 21;
/** Calls a minute, which no workspace reaches: the window is exact all the same. */
const CALLS_LIMIT = 4_000;
const HOLD_NANO = CREDIT / 1_000n;
const HOUR_MS = 3_600_000;

const log = createLogger({ level: "silent", role: "load" });

const holdOf = (jobId: string, keyId: string) => ({
  jobId,
  keyId,
  model: "model-1",
  amountNano: HOLD_NANO,
  mayExceed: false,
  tokensMax: 100,
  dailyTokens: null,
  lifeMs: 60_000,
});

export interface Measure {
  readonly name: string;
  /** Name of one of those things that its figures are counted by. */
  readonly unit: string;
  /** Things that a turn does. */
  readonly times: number;
  /** Does what is not measured. */
  prepare?(): Promise<void>;
  work(): Promise<void>;
}

export interface Measures {
  /** Measures in the order of a turn: later ones look at the calls of earlier ones. */
  readonly all: readonly Measure[];
  close(): Promise<void>;
}

/**
 * @param middle the time at which half of the history was over
 * @param spanHours hours that both histories have: a sum costs by the hours that it asks for
 */
export async function openMeasures(
  { database, query }: TestDatabase,
  { workspaces, keys, memberId }: Accounts,
  { middle, spanHours }: { readonly middle: Date; readonly spanHours: number },
): Promise<Measures> {
  const metrics = createMetrics("load");
  const ledger = openLedger({ database, log, retryMs: 5_000 });
  const admission = createCallAdmission({ database, log, ledger });
  const rollUp = openUsageRollUp({ database, metrics, log });
  const [large = "", small = "", busy = ""] = workspaces;

  let number = 0;
  const call = async (isPatient: boolean): Promise<void> => {
    number += 1;
    // Not the second, which is small, nor the third: it makes more calls than the limit of these.
    const place = number % 5 === 0 ? 0 : 3 + (number % (workspaces.length - 3));
    const [workspaceId = "", keyId = "", jobId] = [workspaces[place], keys[place], newId()];
    await admission.place(workspaceId, CALLS_LIMIT, holdOf(jobId, keyId));
    await ledger.settle(settlementOf(workspaceId, jobId, HOLD_NANO / 2n, { isPatient }));
  };

  const page = (workspaceId: string, after: UsagePlace | null, ofMember: string | null = null): Promise<unknown> =>
    pageUsageRequests(database, workspaceId, {
      memberId: ofMember,
      keyId: null,
      model: null,
      status: null,
      labels: {},
      runId: null,
      kind: null,
      start: null,
      end: null,
      after,
      limit: PAGE,
    });
  const placeAmid = async (workspaceId: string): Promise<UsagePlace> => {
    const [row] = await query<{ job_id: string; attempt: number }>(
      "select job_id, attempt from usage_record where workspace_id = $1 and ended_at <= $2 order by ended_at desc limit 1",
      [workspaceId, middle],
    );
    if (!row) throw new Error("a workspace has too few calls for a page amid them: ask for more");
    return { jobId: row.job_id, attempt: row.attempt };
  };
  const [largeMiddle, smallMiddle] = [await placeAmid(large), await placeAmid(small)];

  const sum = (unit: "hour" | "day", hours: number): Promise<unknown> => {
    const end = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
    return sumUsage(database, large, {
      memberId: null,
      keyId: null,
      model: null,
      workflowId: null,
      status: null,
      labels: {},
      label: null,
      rankedBy: "credits",
      top: null,
      unit,
      groups: ["model"],
      start: new Date(end - hours * HOUR_MS),
      end: new Date(end),
      limit: 10_001,
    });
  };

  let threshold = CREDIT * CREDIT;
  await query(
    `insert into budget_alert (id, workspace_id, name, threshold, period)
     select new_id(), id, 'an alert', $2, (array['daily', 'weekly', 'monthly'])[1 + n % 3] from unnest($1::uuid[]) with ordinality w(id, n)`,
    [workspaces, threshold],
  );
  const judgeAnew = async (): Promise<void> => {
    await query("update budget_alert set threshold = $1, judged_from = now(), checked_day = '-infinity'", [threshold]);
    await query("select set_budget_bounds(workspace_id) from budget_alert");
  };
  await judgeAnew();
  await sweepBudgets({ database, metrics, log });
  threshold = 0n;
  const sweep = (): Promise<void> => sweepBudgets({ database, metrics, log });
  const firings = async (): Promise<number> =>
    Number((await query<{ count: bigint }>("select count(*) from budget_firing"))[0]?.count);

  const read = (name: string, once: () => Promise<unknown>): Measure => ({
    name,
    unit: "read",
    times: READS,
    async work() {
      for (let at = 0; at < READS; at += 1) await once();
    },
  });
  const all: readonly Measure[] = [
    {
      name: "`admit_call` and `settle_call`",
      unit: "call",
      times: LONE,
      async work() {
        for (let at = 0; at < LONE; at += 1) await call(false);
      },
    },
    {
      name: `the same in groups, ${IN_FLIGHT} in flight`,
      unit: "call",
      times: GROUPED,
      async work() {
        let left = GROUPED;
        const callInTurn = async (): Promise<void> => {
          while (left-- > 0) await call(true);
        };
        await Promise.all(Array.from({ length: IN_FLIGHT }, callInTurn));
      },
    },
    {
      name: `calls of a workspace without limits, ${IN_FLIGHT} in flight, its credit line opened and given back`,
      unit: "call",
      times: GROUPED,
      async work() {
        const lines = openCreditLines({ database, log, metrics, callMs: 60_000 });
        const calls = createCallAdmission({ database, log, ledger, lines, metrics });
        let left = GROUPED;
        const callInTurn = async (): Promise<void> => {
          while (left-- > 0) {
            const hold = { ...holdOf(newId(), keys[2] ?? ""), canUseCreditLine: true };
            const creditLineHold = await calls.place(busy, null, hold);
            await ledger.settle(settlementOf(busy, hold.jobId, HOLD_NANO / 2n, { creditLineHold, isPatient: true }));
            lines.forget(hold.jobId);
          }
        };
        await Promise.all(Array.from({ length: IN_FLIGHT }, callInTurn));
        await lines.close();
      },
    },
    read("newest page of usage, large workspace", () => page(large, null)),
    read("newest page, small workspace", () => page(small, null)),
    read("newest page of a member, large workspace", () => page(large, null, memberId)),
    read("page from the middle, large workspace", () => page(large, largeMiddle)),
    read("page from the middle, small workspace", () => page(small, smallMiddle)),
    read("sums of 6 hours by hour and model, large workspace", () => sum("hour", 6)),
    read(`sums of ${spanHours} hours by day and model, large workspace`, () => sum("day", spanHours)),
    read("facts of a key", () => readKeyFacts(database, large, keys[0] ?? "")),
    {
      name: `roll-up of ${LONE + 2 * GROUPED} new calls`,
      unit: "roll-up",
      times: 1,
      work: () => rollUpAll(database, rollUp),
    },
    {
      name: `look for budgets among ${workspaces.length} alerts, none to fire`,
      unit: "look",
      times: 1,
      work: sweep,
    },
    {
      name: `${workspaces.length} alerts that fire`,
      unit: "sweep",
      times: 1,
      async prepare() {
        // Below what each workspace has spent today.
        threshold += 1n;
        await judgeAnew();
      },
      async work() {
        const before = await firings();
        await sweep();
        const fired = (await firings()) - before;
        if (fired !== workspaces.length) throw new Error(`expected every alert to fire, ${fired} did`);
      },
    },
    {
      name: `hourly audit after ${LONE + 2 * GROUPED} new calls`,
      unit: "audit",
      times: 1,
      async work() {
        const faults = await auditInSteps(database);
        if (faults.length > 0) throw new Error(`the hourly audit: ${Bun.inspect(faults.slice(0, 3))}`);
      },
    },
  ];
  return {
    all,
    async close() {
      await ledger.idle();
      metrics.close();
    },
  };
}
