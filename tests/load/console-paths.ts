/** Lists and charts that a web page reads, as paths below a workspace with a long history, and the times of their answers. */
import type { SpendBed } from "#tests/ingress/routes/settings/spend-bed.ts";

import type { Accounts } from "./history-data.ts";
import { Histogram } from "./histogram.ts";

export const HISTORY_DAYS = 90;
export const HISTORY_MODELS = 12;
const DAY_MS = 86_400_000;
/** Reads of each kind, each with other filters or another page. The first is not counted. */
const READS = 25;
const DELIVERIES = 10_000;
const CHANGES = 200_000;

/** Path below the workspace of the read with this number. */
export type PathOf = (number: number) => string | Promise<string>;

export interface Bench {
  readonly bed: Pick<SpendBed, "db" | "send">;
  readonly accounts: Accounts;
  readonly until: Date;
}

/** Writes deliveries, one in ten failed, and changes of the audit log, all of the large workspace. */
export async function writeLists({ bed, accounts, until }: Bench): Promise<void> {
  const [workspace = ""] = accounts.workspaces;
  await bed.db.database.slowSession(600_000, async (session) => {
    await session.query(
      `insert into delivery (id, workspace_id, event, body, status, created_at, next_at, ended_at)
       select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
              $1, (array['run.succeeded', 'run.failed', 'job.failed'])[1 + n % 3], '{}', case when n % 10 = 1 then 'failed' else 'succeeded' end,
              at, null, at + interval '1 minute'
       from generate_series(1, $3::int) n cross join lateral (select $2::timestamptz - n * interval '12 minutes' as at) t`,
      [workspace, until, DELIVERIES],
    );
    await session.query(
      `insert into audit_log (workspace_id, actor, action, subject, at)
       select $1, jsonb_build_object('type', 'member', 'id', $4::text), (array['key.create', 'key.update', 'budget.update'])[1 + n % 3],
              md5((n % 5000)::text)::uuid::text, $2::timestamptz - ($3 - n) * interval '30 seconds'
       from generate_series(1, $3::int) n`,
      [workspace, until, CHANGES, accounts.memberId],
    );
    await session.query("analyze delivery, audit_log");
  });
}

/** Returns the reads of a page, by name. */
export async function readsOf({
  bed,
  accounts,
  until,
}: Bench): Promise<readonly (readonly [name: string, path: PathOf])[]> {
  const [workspaceId = ""] = accounts.workspaces;
  const time = (days: number): string => new Date(until.getTime() - days * DAY_MS).toISOString();
  const key = (n: number): string => accounts.largeKeys[n % accounts.largeKeys.length] ?? "";
  const model = (n: number): string => `model-${n % HISTORY_MODELS}`;
  const spread = (n: number): number => ((n * 37) % READS) * (HISTORY_DAYS / READS);
  /** Records at times that the whole history contains. */
  const places = await Promise.all(
    Array.from({ length: READS }, async (_, n) => {
      const [row] = await bed.db.query<{ job_id: string; id: bigint }>(
        `select u.job_id, (select e.id from ledger_entry e where e.workspace_id = $1 and e.source_id = u.job_id limit 1) as id
         from usage_record u where u.workspace_id = $1 and u.ended_at <= $2 and u.status <> 'failed' order by u.ended_at desc limit 1`,
        [workspaceId, new Date(until.getTime() - spread(n) * DAY_MS)],
      );
      return { job: row?.job_id ?? "", entry: String(row?.id ?? "") };
    }),
  );
  const place = (n: number) => places[n % READS] ?? { job: "", entry: "" };
  const requests = "/usage/requests?limit=100";
  const filters: readonly (readonly [string, (n: number) => string])[] = [
    ["all", () => ""],
    ["of a model", (n) => `&model=${model(n)}`],
    ["of an unknown model", (n) => `&model=none-${n}`],
    ["of a key", (n) => `&key_id=${key(n)}`],
    ["of a key and a model", (n) => `&key_id=${key(n)}&model=${model(n)}`],
    ["failed", () => "&status=failed"],
    ["lost, none exists", () => "&status=lost"],
    ["failed of a model", (n) => `&status=failed&model=${model(n)}`],
    ["of a tag", (n) => `&tag=team:team-${n % 12}`],
    ["of a user", (n) => `&user=user-${n * 7}`],
    ["of an unknown user", (n) => `&user=nobody-${n}`],
    ["of a day", (n) => `&start_time=${time(spread(n) + 1)}&end_time=${time(spread(n))}`],
  ];
  const charts: readonly (readonly [string, (n: number) => string])[] = [
    ["a total", () => ""],
    ["by model", () => "&group_by=model"],
    ["by key", () => "&group_by=key"],
    ["by member", () => "&group_by=member"],
    ["by status", () => "&group_by=status"],
    ["by model and status", () => "&group_by=model,status"],
    ["by a tag", () => "&group_by=tag:team"],
    ["by user", () => "&group_by=user"],
    ["by user, the top", () => "&group_by=user&top=50"],
    ["by a tag, the top", () => "&group_by=tag:team&top=50"],
    ["by key, the top", () => "&group_by=key&top=50"],
    ["by model, the top", () => "&group_by=model&top=50"],
    ["by model, of a tag", (n) => `&group_by=model&tag=team:team-${n % 12}`],
    ["by model, of a key", (n) => `&group_by=model&key_id=${key(n)}`],
  ];
  const spans: readonly (readonly [string, string])[] = [
    ["a day by hour", `/usage?bucket_width=1h&start_time=${time(1)}`],
    ["7 days by hour", `/usage?bucket_width=1h&limit=200&start_time=${time(7)}`],
    ["30 days by day", `/usage?start_time=${time(30)}`],
    ["30 days in one", `/usage?bucket_width=period&start_time=${time(30)}`],
    ["90 days by day", `/usage?limit=100&start_time=${time(90)}`],
    ["90 days in one", `/usage?bucket_width=period&start_time=${time(90)}`],
  ];
  return [
    ...filters.map(([name, query]) => [`calls: ${name}`, (n: number) => `${requests}${query(n)}`] as const),
    ...filters.map(
      ([name, query]) =>
        [`calls: ${name}, page within`, (n: number) => `${requests}${query(n)}&after=${place(n).job}`] as const,
    ),
    ["a call by its id", (n) => `/usage/requests/${place(n).job}`],
    ["an unknown id", () => `/usage/requests/${crypto.randomUUID()}`],
    ["refused calls", () => `${requests}&status=refused`],
    ...spans.flatMap(([span, path]) =>
      charts.map(([name, query]) => [`sums: ${span}, ${name}`, (n: number) => `${path}${query(n)}`] as const),
    ),
    ["balance", () => "/credits"],
    ["ledger", () => "/credits/ledger?limit=100"],
    ["ledger, page within", (n) => `/credits/ledger?limit=100&after=${place(n).entry}`],
    ["ledger, top-ups", () => "/credits/ledger?limit=100&kind=top_up"],
    [
      "ledger, settlements of a day",
      (n) => `/credits/ledger?limit=100&kind=settle&start_time=${time(spread(n) + 1)}&end_time=${time(spread(n))}`,
    ],
    ["audit log", () => "/audit-log?limit=100"],
    ["audit log, of an action", () => "/audit-log?limit=100&action=budget.update"],
    ["audit log, of an unknown action", () => "/audit-log?limit=100&action=none"],
    ["audit log, of a subject", () => "/audit-log?limit=100&subject=none"],
    ["deliveries", () => "/deliveries?limit=100"],
    ["deliveries, failed in the last day", () => `/deliveries?limit=100&status=failed&endedSince=${time(1)}`],
    ["deliveries, of an unknown event", () => "/deliveries?limit=100&event=none"],
    ["keys", () => "/api-keys?limit=100"],
    ["members", () => "/members?limit=100"],
    ["unavailable models", () => "/unavailable-models"],
  ];
}

/**
 * Returns the answer times of a read in milliseconds. Answers may be 200, or 404 for an unknown id.
 * @param keys keys that read in turn, because a key has a limit of reads per minute
 */
export async function timesOf({ bed, accounts }: Bench, keys: readonly string[], path: PathOf): Promise<Histogram> {
  const times = new Histogram();
  for (let n = 0; n <= READS; n += 1) {
    const below = await path(n);
    const from = performance.now();
    const response = await bed.send("GET", `/workspaces/${accounts.workspaces[0]}${below}`, keys[n % keys.length]);
    const text = await response.text();
    if (n > 0) times.record(performance.now() - from);
    if (response.status === 200 || (response.status === 404 && below.startsWith("/usage/requests/"))) continue;
    throw new Error(`expected 200 for ${below}, got ${response.status}: ${text.slice(0, 300)}`);
  }
  return times;
}
