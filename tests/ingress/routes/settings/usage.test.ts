/** GET /workspaces/{workspaceId}/usage and …/usage/requests: sums that are the ledger's, and the price of each call. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { UsagePage, UsageRequest } from "#schemas/generated/types.ts";
import type { Database } from "#shared/database/client.ts";
import { insertRefusedCalls } from "#shared/database/refused-calls.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { makeStep, rollUpAll, type Spend, spend } from "#tests/shared/usage-records.ts";
import { openUsageRollUp } from "#workers/janitor/money.ts";
import { USAGE_BUCKETS_MAX } from "#ingress/routes/settings/usage.ts";

import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let bed: SpendBed;
const metrics = createMetrics("test");
const log = createLogger({ level: "silent", role: "test" });
beforeAll(async () => {
  bed = await openSpendBed();
});
afterAll(async () => {
  metrics.close();
  await bed.close();
});

const at = (team: Team, query = ""): string => `/workspaces/${team.id}/usage${query}`;
const read = (team: Team, query = "", key = team.owner.key): Promise<UsagePage> =>
  bed.ask("UsagePage", "GET", at(team, query), key);
const resultsOf = ({ data }: UsagePage): UsagePage["data"][number]["results"] => data.flatMap(({ results }) => results);
const ago = (ms: number): Date => new Date(Date.now() - ms);
const dayOf = (ms: number): string => new Date(Math.floor(ms / DAY_MS) * DAY_MS).toISOString();

/** Nothing is rolled up: records of a test are moved to times that had been. */
async function unroll(): Promise<void> {
  await bed.db.query(
    "truncate usage_hour, usage_label_hour, usage_by_day, usage_model_by_day, usage_key_by_day, usage_label_by_day, usage_value_by_day, usage_label_value, usage_day, usage_key",
  );
  await bed.db.query(
    "update usage_rollup set until = now() - interval '3 days', next_at = now() - interval '3 days', next_xid = '0'",
  );
}

const rollUp = (database: Database = bed.db.database): Promise<void> =>
  rollUpAll(bed.db.database, openUsageRollUp({ database, metrics, log }));

/** Calls of two members over three days. */
async function spent(): Promise<Team> {
  await unroll();
  const team = await bed.team();
  const by = (person: "developer" | "other", call: Omit<Spend, "workspaceId">): Spend => ({
    workspaceId: team.id,
    keyId: team[person].keyId,
    ...call,
  });
  await spend(bed.db.database, [
    by("developer", { nano: 1_000_000_001n, tokens: 10, model: "a", at: ago(2 * DAY_MS) }),
    by("developer", { nano: 2_000_000_002n, tokens: 20, model: "b", at: ago(DAY_MS) }),
    by("developer", { nano: null, model: "a", at: ago(DAY_MS) }),
    by("other", { nano: 4_000_000_004n, tokens: 40, model: "a", at: ago(DAY_MS) }),
    by("other", { nano: 8_000_000_008n, tokens: 80, model: "b" }),
  ]);
  return team;
}

const ALL = { calls: 5, failed: 1, credits: 15.000000015, tokens: 150 };
const WHOLE = `?start_time=${ago(3 * DAY_MS)
  .toISOString()
  .slice(0, 10)}`;

describe("access", () => {
  test("of a developer includes the calls of its own keys only, for every query", async () => {
    const team = await spent();
    const { key, keyId } = team.developer;
    const own = { calls: 3, failed: 1, credits: 3.000000003, tokens: 30 };
    const total = async (query: string): Promise<unknown> =>
      resultsOf(await read(team, `${WHOLE}${query}`, key)).reduce((sum, { calls }) => sum + calls, 0);
    expect(await total("")).toBe(own.calls);
    expect(await total(`&key_id=${keyId}`)).toBe(own.calls);
    expect(await total(`&key_id=${team.other.keyId}`)).toBe(0);
    expect(resultsOf(await read(team, `${WHOLE}&group_by=member`, key)).map(({ member_id }) => member_id)).toEqual([
      team.developer.id,
      team.developer.id,
    ]);
    const list = await bed.ask("UsageRequestList", "GET", at(team, "/requests"), key);
    expect(list.data.map(({ key_id }) => key_id)).toEqual([keyId, keyId, keyId]);
    const foreign = await bed.ask("UsageRequestList", "GET", at(team, `/requests?key_id=${team.other.keyId}`), key);
    expect(foreign.data).toEqual([]);
  });
});

describe("sums", () => {
  test("equal the ledger's to the nano-credit before, during and after the roll-up", async () => {
    const team = await spent();
    const total = async () =>
      resultsOf(await read(team, WHOLE)).reduce(
        (sum, { calls, failed, credits, tokens }) => ({
          calls: sum.calls + calls,
          failed: sum.failed + failed,
          // Every summand is exact in a double, and so is the sum.
          credits: Math.round((sum.credits + credits) * 1e9) / 1e9,
          tokens: sum.tokens + tokens,
        }),
        { calls: 0, failed: 0, credits: 0, tokens: 0 },
      );
    expect(await total()).toEqual(ALL);
    // Over three days there are hundreds of steps: one in eight is looked behind.
    let asked = 0;
    const steps: Database = {
      ...bed.db.database,
      async query(text, values) {
        const rows = await bed.db.query(text, values);
        if (++asked % 8 === 0) expect(await total()).toEqual(ALL);
        return rows as never;
      },
    };
    await rollUp(steps);
    const rolled = await bed.db.query("select from usage_hour where workspace_id = $1", [team.id]);
    expect(rolled).toHaveLength(5);
    expect(await total()).toEqual(ALL);
    const [{ nano } = { nano: 0n }] = await bed.db.query<{ nano: bigint }>(
      "select -sum(amount)::bigint as nano from ledger_entry where workspace_id = $1 and kind = 'settle'",
      [team.id],
    );
    expect(nano).toBe(15_000_000_015n);
  });

  test("are buckets in the order of time, including empty ones, of the last 30 days by default", async () => {
    const team = await spent();
    const { data, has_more } = await read(team);
    expect(has_more).toBe(false);
    expect(data.length).toBe(31);
    expect(data[0]?.start_time).toBe(dayOf(Date.now() - 30 * DAY_MS));
    expect(data.at(-1)?.start_time).toBe(dayOf(Date.now()));
    for (const [index, bucket] of data.entries()) {
      expect(bucket.start_time).toBe(data[index - 1]?.end_time ?? bucket.start_time);
    }
    expect(data.slice(-4).map(({ results }) => results.map(({ calls }) => calls))).toEqual([[], [1], [3], [1]]);
  });

  test("are grouped by up to two dimensions, and filtered", async () => {
    const team = await spent();
    const { developer, other } = team;
    const grouped = async (query: string): Promise<unknown[]> => {
      const sums = resultsOf(await read(team, `${WHOLE}${query}`));
      return sums
        .map(({ failed: _failed, tokens: _tokens, credits: _credits, latency_p95_ms: _p95, ...rest }) =>
          JSON.stringify(Object.values(rest)),
        )
        .toSorted((a, b) => a.localeCompare(b))
        .map((text) => JSON.parse(text) as unknown);
    };
    expect(await grouped("&group_by=model")).toEqual([
      ["a", 1],
      ["a", 2],
      ["b", 1],
      ["b", 1],
    ]);
    expect(await grouped("&group_by=member,status&status=failed")).toEqual([[developer.id, "failed", 1]]);
    expect(await grouped("&group_by=key&group_by=model&model=b")).toEqual(
      [
        ["b", developer.keyId, 1],
        ["b", other.keyId, 1],
      ].toSorted(([, a], [, b]) => String(a).localeCompare(String(b))),
    );
    expect(await grouped(`&key_id=${other.keyId}`)).toEqual([[1], [1]]);
    expect(await grouped("&model=none")).toEqual([]);
    expect(await grouped("&group_by=workflow&model=b")).toEqual([
      [null, 1],
      [null, 1],
    ]);
  });

  test("name the stored workflow whose run caused the calls, in records and sums", async () => {
    await unroll();
    const team = await bed.team();
    const [jobId = ""] = await spend(bed.db.database, [{ workspaceId: team.id, nano: 5n, at: ago(HOUR_MS) }]);
    const { workflowId, runId } = await makeStep(bed.db.database, team.id, jobId);
    await spend(bed.db.database, [{ workspaceId: team.id, nano: 3n }]);
    for (const look of ["records", "sums"]) {
      const grouped = resultsOf(await read(team, `${WHOLE}&group_by=workflow`));
      expect([look, new Set(grouped.map(({ workflow_id }) => workflow_id))]).toEqual([
        look,
        new Set([workflowId, null]),
      ]);
      const filtered = resultsOf(await read(team, `${WHOLE}&workflow_id=${workflowId}`));
      expect(filtered.map(({ credits }) => credits)).toEqual([5e-9]);
      await rollUp();
    }
    const one = await bed.ask("UsageRequest", "GET", at(team, `/requests/${jobId}`), team.owner.key);
    expect(one).toMatchObject({ workflow_id: workflowId, run_id: runId, credits: 5e-9 });
  });

  test("are paged by a cursor that keeps the time range of the first page", async () => {
    const team = await spent();
    const seen: string[] = [];
    let page: string | null = "";
    while (page !== null) {
      const query: string =
        page === "" ? `${WHOLE}&bucket_width=1h&limit=30` : `?bucket_width=1h&limit=30&page=${page}`;
      const answer: UsagePage = await read(team, query);
      expect(answer.data.length).toBeLessThanOrEqual(30);
      expect(answer.has_more).toBe(answer.next_page !== null);
      seen.push(...answer.data.map(({ start_time }) => start_time));
      page = answer.next_page;
    }
    expect(seen.length).toBeGreaterThan(72);
    expect(seen).toEqual([...new Set(seen)].toSorted());
    expect(Date.parse(seen.at(-1) ?? "")).toBeGreaterThan(Date.now() - HOUR_MS);
  });

  test("have one bucket for the whole period, rounded to hours, which is not paged", async () => {
    const team = await spent();
    const [start, end] = [ago(3 * DAY_MS), new Date()];
    const query = `?bucket_width=period&start_time=${start.toISOString()}&end_time=${end.toISOString()}`;
    const { data, has_more } = await read(team, `${query}&group_by=model`);
    expect([data.length, has_more]).toEqual([1, false]);
    const [from, to] = [Date.parse(data[0]?.start_time ?? ""), Date.parse(data[0]?.end_time ?? "")];
    expect([from, to]).toEqual([
      Math.floor(start.getTime() / HOUR_MS) * HOUR_MS,
      Math.ceil(end.getTime() / HOUR_MS) * HOUR_MS,
    ]);
    expect(data[0]?.results.map(({ model, calls, credits }) => [model, calls, credits])).toEqual([
      ["b", 2, 10.00000001],
      ["a", 3, 5.000000005],
    ]);
    for (const [by, models] of [
      ["credits", ["b", "a"]],
      ["calls", ["a", "b"]],
      ["failed", ["a", "b"]],
      ["tokens", ["b", "a"]],
    ] as const) {
      const sorted = `${query}&group_by=model&top_by=${by}`;
      const rows = await bed.table(at(team, sorted), team.owner.key);
      expect([by, rows.map(({ model }) => model)]).toEqual([by, [...models]]);
      expect([by, resultsOf(await read(team, sorted)).map(({ model }) => model)]).toEqual([by, [...models]]);
    }
    const page = Buffer.from(`${from}-${to}`).toString("base64url");
    expect(await bed.refusal(400, "GET", at(team, `?bucket_width=period&page=${page}`), team.owner.key)).toEqual({
      code: "unsupported_value",
      param: "page",
    });
  });

  test("contain the latency that 95 % of the succeeded calls do not exceed, within 10 %", async () => {
    await unroll();
    const team = await bed.team();
    const latencies = Array.from({ length: 100 }, (_, n) => 1.7 ** (n / 8) + n);
    const jobs = await spend(
      bed.db.database,
      latencies.map((_, n) => ({
        workspaceId: team.id,
        nano: n === 99 ? null : 1n,
        model: n < 50 ? "fast" : "slow",
        ...(n < 20 && { labels: { user: "ann" } }),
        at: ago(HOUR_MS * (1 + (n % 5))),
      })),
    );
    await bed.db.query(
      `update usage_record u set started_at = u.ended_at - c.ms * interval '1 millisecond'
       from unnest($1::text[], $2::float8[]) c(id, ms) where u.job_id = c.id::uuid`,
      [jobs, latencies],
    );
    /** The exact percentile of the calls from one number to another. */
    const exact = (from: number, to: number): number => latencies[from + Math.ceil((to - from) * 0.95) - 1] ?? 0;
    for (const look of ["records", "sums"]) {
      const isClose = (ms: number | null | undefined, from: number, to: number): void => {
        const [low, high] = [exact(from, to) * 0.9 - 1, exact(from, to) * 1.1 + 1];
        expect([look, ms, ms != null && ms > low && ms < high]).toEqual([look, ms, true]);
      };
      const period = `?bucket_width=period&start_time=${ago(DAY_MS).toISOString()}`;
      const [whole] = resultsOf(await read(team, period));
      isClose(whole?.latency_p95_ms, 0, 99);
      const [fast, slow] = resultsOf(await read(team, `${period}&group_by=model`));
      isClose(fast?.latency_p95_ms, 0, 50);
      isClose(slow?.latency_p95_ms, 50, 99);
      const [none, ann] = resultsOf(await read(team, `${period}&group_by=user`)).toSorted((a, b) =>
        String(b.user).localeCompare(String(a.user)),
      );
      isClose(none?.user === null ? none.latency_p95_ms : null, 20, 99);
      isClose(ann?.user === "ann" ? ann.latency_p95_ms : null, 0, 20);
      expect(resultsOf(await read(team, `${period}&status=failed`)).map((sum) => sum.latency_p95_ms)).toEqual([null]);
      await rollUp();
    }
  });

  test("count refused calls of a bucket, of own keys for a developer, and none with filters that they lack", async () => {
    const team = await bed.team(0n);
    const refuse = (keyId: string, count: number): Promise<void> =>
      insertRefusedCalls(
        bed.db.database,
        Array.from({ length: count }, () => ({
          workspaceId: team.id,
          keyId,
          requestId: newId(),
          endpoint: "/v1/chat/completions",
          code: "insufficient_credits" as const,
          param: null,
          model: null,
          message: null,
        })),
      );
    await refuse(team.developer.keyId, 2);
    await refuse(team.other.keyId, 3);
    await refuse(team.other.keyId, 1);
    const refused = async (query: string, key = team.owner.key): Promise<number> => {
      const { data } = await read(team, `?start_time=${ago(HOUR_MS).toISOString()}${query}`, key);
      expect(resultsOf({ data } as UsagePage)).toEqual([]);
      return data.reduce((sum, bucket) => sum + bucket.refused, 0);
    };
    expect(await refused("")).toBe(6);
    expect(await refused("&bucket_width=1h")).toBe(6);
    expect(await refused("&bucket_width=period")).toBe(6);
    expect(await refused(`&key_id=${team.other.keyId}`)).toBe(4);
    expect(await refused("", team.developer.key)).toBe(2);
    for (const filter of ["model=a", "status=failed", "user=ann", "tag=env:prod"]) {
      expect([filter, await refused(`&${filter}`)]).toEqual([filter, 0]);
    }
  });

  test.each([
    ["group_by=model,key,status", "group_by"],
    ["group_by=source", "group_by"],
    ["bucket_width=1m", "bucket_width"],
    ["limit=0", "limit"],
    [`limit=${USAGE_BUCKETS_MAX + 1}`, "limit"],
    ["page=x", "page"],
    [`page=${Buffer.from("5-9").toString("base64url")}`, "page"],
    ["start_time=yesterday", "start_time"],
    ["start_time=2026-02-02&end_time=2026-02-02", "end_time"],
    ["status=done", "status"],
    ["key_id=1", "key_id"],
    ["workflow_id=1", "workflow_id"],
  ])("are not read for %s", async (query, param) => {
    const team = await bed.team(0n);
    expect(await bed.refusal(400, "GET", at(team, `?${query}`), team.owner.key)).toEqual({
      code: "unsupported_value",
      param,
    });
  });

  test(`may be read for ${USAGE_BUCKETS_MAX} buckets per request`, async () => {
    const team = await bed.team(0n);
    const { data } = await read(team, `?start_time=2024-01-01&limit=${USAGE_BUCKETS_MAX}`);
    expect(data).toHaveLength(USAGE_BUCKETS_MAX);
  });

  test("are downloaded as a table with every digit, without empty buckets", async () => {
    const team = await spent();
    const rows = await bed.table(at(team, `${WHOLE}&group_by=model&limit=1`), team.billing.key);
    expect(rows.map(({ model, calls, credits }) => [model, calls, credits])).toEqual([
      ["a", "1", "1.000000001"],
      ["a", "2", "4.000000004"],
      ["b", "1", "2.000000002"],
      ["b", "1", "8.000000008"],
    ]);
  });
});

describe("single calls", () => {
  test("are listed from the newest, filtered, and paged after any of them", async () => {
    const team = await spent();
    const list = (query: string) => bed.ask("UsageRequestList", "GET", at(team, `/requests${query}`), team.billing.key);
    const whole = await list("");
    expect(whole.data.map(({ credits }) => credits)).toHaveLength(5);
    expect(whole.data[0]?.credits).toBe(8.000000008);
    const times = whole.data.map(({ ended_at }) => ended_at);
    expect(times).toEqual(times.toSorted().toReversed());
    const paged = [];
    let after = "";
    for (;;) {
      const { data, last_id, has_more } = await list(`?limit=2${after}`);
      paged.push(...data);
      after = `&after=${last_id}`;
      if (!has_more) break;
    }
    expect(paged).toEqual(whole.data);
    expect((await list("?status=failed")).data).toHaveLength(1);
    expect((await list("?model=a")).data).toHaveLength(3);
    expect((await list(`?key_id=${team.other.keyId}&model=a`)).data).toHaveLength(1);
    expect((await list(`?start_time=${ago(DAY_MS + HOUR_MS).toISOString()}`)).data).toHaveLength(4);
    expect((await list(`?end_time=${ago(DAY_MS + HOUR_MS).toISOString()}`)).data).toHaveLength(1);
    expect((await list(`?after=${newId()}`)).data).toEqual([]);
    const rows = await bed.table(at(team, "/requests?limit=1&status=succeeded"), team.admin.key);
    expect(rows.map(({ request_id, credits }) => [request_id, credits])).toEqual(
      whole.data.filter(({ status }) => status === "succeeded").map((row) => [row.request_id, String(row.credits)]),
    );
  });

  test("are listed in whole pages for every filter, before, while and after they are in the sums", async () => {
    await unroll();
    const team = await bed.team();
    const people = [team.developer, team.other];
    await spend(
      bed.db.database,
      Array.from({ length: 60 }, (_, n) => ({
        workspaceId: team.id,
        keyId: people[n % 2]?.keyId ?? "",
        nano: n % 7 === 0 ? null : 1n,
        model: n % 11 === 0 ? "rare" : "usual",
        ...(n % 5 > 0 && { kind: n % 17 === 0 ? "responses" : "chat" }),
        ...(n % 3 > 0 && { labels: { user: n % 13 === 0 ? "ann" : "bob", team: `team-${n % 4}` } }),
        at: ago(n * 37 * 60_000),
      })),
    );
    await spend(bed.db.database, [{ workspaceId: (await bed.team()).id, nano: 1n, model: "rare" }]);
    const list = (query: string, key: string) =>
      bed.ask("UsageRequestList", "GET", at(team, `/requests?${query}`), key);
    const walk = async (query: string, limit: number, key: string): Promise<string[]> => {
      const ids: string[] = [];
      for (let after = ""; ;) {
        const { data, last_id, has_more } = await list(`limit=${limit}${after}&${query}`, key);
        ids.push(...data.map(({ request_id }) => request_id));
        if (!has_more) return ids;
        after = `&after=${last_id}`;
      }
    };
    const isAt = (time: string, from: number, to: number): boolean =>
      Date.parse(time) >= ago(from).getTime() && Date.parse(time) < ago(to).getTime();
    const filters: readonly [query: string, matches: (call: UsageRequest) => boolean][] = [
      ["model=rare", ({ model }) => model === "rare"],
      ["model=none", () => false],
      ["status=failed", ({ status }) => status === "failed"],
      ["status=lost", () => false],
      ["model=rare&status=succeeded", ({ model, status }) => model === "rare" && status === "succeeded"],
      [
        `model=usual&key_id=${team.other.keyId}`,
        ({ model, key_id }) => model === "usual" && key_id === team.other.keyId,
      ],
      ["user=ann", ({ user }) => user === "ann"],
      ["user=nobody", () => false],
      ["endpoint=/v1/responses", ({ endpoint }) => endpoint === "/v1/responses"],
      ["endpoint=/v1/chat/completions", ({ endpoint }) => endpoint === "/v1/chat/completions"],
      ["endpoint=/v1/messages", () => false],
      ["endpoint=/v1/unknown", () => false],
      [
        "endpoint=/v1/chat/completions&model=rare&status=succeeded",
        (one) => one.endpoint === "/v1/chat/completions" && one.model === "rare" && one.status === "succeeded",
      ],
      [
        "endpoint=/v1/chat/completions&user=bob",
        ({ endpoint, user }) => endpoint === "/v1/chat/completions" && user === "bob",
      ],
      ["tag=team:team-1&status=failed", ({ tags, status }) => tags?.["team"] === "team-1" && status === "failed"],
      ["tag=team:team-1&user=bob", ({ tags, user }) => tags?.["team"] === "team-1" && user === "bob"],
      [
        `status=succeeded&start_time=${ago(20 * HOUR_MS).toISOString()}&end_time=${ago(5 * HOUR_MS).toISOString()}`,
        ({ status, ended_at }) => status === "succeeded" && isAt(ended_at, 20 * HOUR_MS, 5 * HOUR_MS),
      ],
    ];
    const check = async (look: string): Promise<void> => {
      for (const { key } of [team.owner, team.developer]) {
        const { data } = await list("limit=100", key);
        for (const [query, matches] of filters) {
          const expected = data.filter(matches).map(({ request_id }) => request_id);
          for (const limit of [1, 4, 100]) {
            expect([look, query, limit, await walk(query, limit, key)]).toEqual([look, query, limit, expected]);
          }
        }
      }
    };
    await check("records");
    await bed.db.query(
      "update usage_rollup set until = now() - interval '60 hours', next_at = now() - interval '18 hours', next_xid = '0'",
    );
    await bed.db.query("select roll_up_usage(360000000)");
    await check("half");
    await rollUp();
    await check("sums");
  });

  test("are found by their request id, in any case; foreign, open and others' calls are unknown", async () => {
    const [team, foreign] = [await spent(), await spent()];
    const [row] = (await bed.ask("UsageRequestList", "GET", at(team, "/requests"), team.other.key)).data;
    const id = row?.request_id ?? "";
    for (const person of ["owner", "admin", "billing", "other"] as const) {
      const path = at(team, `/requests/${person === "owner" ? id.toUpperCase() : id}`);
      expect(await bed.ask("UsageRequest", "GET", path, team[person].key)).toEqual(row as never);
    }
    const unknown = await Promise.all([
      bed.send("GET", at(team, `/requests/${id}`), team.developer.key),
      bed.send("GET", at(foreign, `/requests/${id}`), foreign.owner.key),
      bed.send("GET", at(team, `/requests/${newId()}`), team.owner.key),
      bed.send("GET", at(team, `/requests/${id}:2`), team.owner.key),
      bed.send("GET", at(team, "/requests/x"), team.owner.key),
    ]);
    const told = await Promise.all(unknown.map(async (answer) => [answer.status, await answer.text()]));
    expect(new Set(told.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(told[0]?.[0]).toBe(404);
    expect(told[0]?.[1]).toContain("has not ended yet, or is unknown");
  });

  test("of a job that ran twice are two, and the last one by default", async () => {
    const team = await bed.team();
    const [id = ""] = await spend(bed.db.database, [{ workspaceId: team.id, nano: 5n, at: ago(HOUR_MS) }]);
    await bed.db.query(
      `insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated, held, settled,
                                 uncollected, day, tokens, started_at, ended_at)
       select job_id, 2, workspace_id, key_id, model, source, status, units, is_estimated, held, 7, uncollected,
              day, tokens, started_at, now() from usage_record where job_id = $1`,
      [id],
    );
    const list = (query: string) => bed.ask("UsageRequestList", "GET", at(team, `/requests${query}`), team.owner.key);
    const first = await list("?limit=1");
    expect([first.last_id, first.data[0]?.attempt]).toEqual([`${id}:2`, 2]);
    const second = await list(`?limit=1&after=${first.last_id}`);
    expect([second.last_id, second.has_more, second.data[0]?.attempt]).toEqual([id, false, 1]);
    const one = (place: string) => bed.ask("UsageRequest", "GET", at(team, `/requests/${place}`), team.owner.key);
    expect((await one(id)).credits).toBe(7e-9);
    expect((await one(`${id}:1`)).credits).toBe(5e-9);
  });

  test("of refused calls have the endpoint, the model and the reason, and are filtered by them", async () => {
    const team = await bed.team(0n);
    const [poor, wrong] = [newId(), newId()];
    const common = { workspaceId: team.id, keyId: team.owner.keyId };
    await insertRefusedCalls(bed.db.database, [
      {
        ...common,
        requestId: poor,
        endpoint: "/v1/messages",
        code: "insufficient_credits",
        param: null,
        model: "a",
        message: "1 credit is left.",
      },
      {
        ...common,
        requestId: wrong,
        endpoint: "/v1/messages",
        code: "model_not_found",
        param: "model",
        model: null,
        message: null,
      },
    ]);
    const one = (id: string) => bed.ask("UsageRequest", "GET", at(team, `/requests/${id}`), team.owner.key);
    expect(await one(poor)).toMatchObject({
      model: "a",
      endpoint: "/v1/messages",
      http_status: 402,
      first_token_at: null,
      provider_attempts: [],
      refusal: { endpoint: "/v1/messages", param: null, message: "1 credit is left." },
    });
    const { model, http_status: status, refusal } = await one(wrong);
    expect([model, status]).toEqual([null, 404]);
    expect(refusal?.message).toStartWith("The installation has no model of this name.");
    const ids = async (query: string): Promise<readonly string[]> => {
      const path = at(team, `/requests?status=refused${query}`);
      return (await bed.ask("UsageRequestList", "GET", path, team.owner.key)).data.map((row) => row.request_id);
    };
    expect((await ids("&endpoint=/v1/messages")).toSorted()).toEqual([poor, wrong].toSorted());
    expect(await ids("&endpoint=/v1/responses")).toEqual([]);
    expect(await ids("&endpoint=/v1/messages&model=a")).toEqual([poor]);
  });

  test("of several attempts have them in order, also when the rounded times overlap by a millisecond", async () => {
    const team = await bed.team();
    const [id = ""] = await spend(bed.db.database, [{ workspaceId: team.id, nano: 9n }]);
    await bed.db.query(
      `update usage_record
       set started_at = '2026-01-01T00:00:00Z', ended_at = '2026-01-01T00:00:01Z', source = 'mock/b', asked_ms = 4,
           tries = '[{"source": "mock/a", "error": "timeout", "status": null, "started_at": "2026-01-01T00:00:00.003Z", "duration_ms": 2}]'
       where job_id = $1`,
      [id],
    );
    const one = await bed.ask("UsageRequest", "GET", at(team, `/requests/${id}`), team.owner.key);
    const times = one.provider_attempts.map(({ source, started_at, duration_ms }) => [
      source,
      started_at.slice(-5),
      duration_ms,
    ]);
    expect(times).toEqual([
      ["mock/a", ".003Z", 2],
      ["mock/b", ".005Z", 995],
    ]);
  });

  test("of a continued stream contain the usage of each model", async () => {
    const team = await bed.team();
    const [id = ""] = await spend(bed.db.database, [{ workspaceId: team.id, nano: 9_000_000_000n }]);
    await bed.db.query(
      `insert into usage_part (workspace_id, job_id, attempt, part, model, source, units, is_estimated, amount, fault)
       values ($1, $2, 1, 1, 'a', 'mock/a', '{"output": 3}', false, 4000000000, 'timeout')`,
      [team.id, id],
    );
    const one = await bed.ask("UsageRequest", "GET", at(team, `/requests/${id}`), team.owner.key);
    expect(one.parts).toEqual([{ model: "a", source: "mock/a", credits: 4, fault: "timeout" }]);
  });
});
