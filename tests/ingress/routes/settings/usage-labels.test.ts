/** Usage by label: end users, tags and chains in sums, lists and tables, and in FOCUS. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { UsagePage, UsageRequestList } from "#schemas/generated/types.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createLogger } from "#shared/base/logger.ts";
import { creditsToDollars, parseCredits } from "#shared/base/money.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { rollUpAll, type Spend, spend } from "#tests/shared/usage-records.ts";
import { openUsageRollUp } from "#workers/janitor/money.ts";
import { FOCUS_COLUMNS } from "#ingress/routes/settings/usage-focus.ts";

import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Maximum number of values of a label that have sums of their own on a day. */
const VALUES_MAX = 1_000;

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

const ago = (ms: number): Date => new Date(Date.now() - ms);
const at = (team: Team, query = ""): string => `/workspaces/${team.id}/usage${query}`;
const read = (team: Team, query = "", key = team.owner.key): Promise<UsagePage> =>
  bed.ask("UsagePage", "GET", at(team, query), key);
const list = (team: Team, query = "", key = team.owner.key): Promise<UsageRequestList> =>
  bed.ask("UsageRequestList", "GET", at(team, `/requests${query}`), key);
const WHOLE = `start_time=${ago(3 * DAY_MS)
  .toISOString()
  .slice(0, 10)}`;

type Result = UsagePage["data"][number]["results"][number];
const resultsOf = ({ data }: UsagePage): Result[] => data.flatMap(({ results }) => results);

async function unroll(): Promise<void> {
  await bed.db.query(
    "truncate usage_hour, usage_label_hour, usage_by_day, usage_model_by_day, usage_key_by_day, usage_label_by_day, usage_value_by_day, usage_label_value, usage_day, usage_key",
  );
  await bed.db.query(
    "update usage_rollup set until = now() - interval '3 days', next_at = now() - interval '3 days', next_xid = '0'",
  );
}

const rollUp = (): Promise<void> =>
  rollUpAll(bed.db.database, openUsageRollUp({ database: bed.db.database, metrics, log }));

/** Calls of two end users, two projects and a chain, over two days and two keys. */
async function spent(): Promise<Team> {
  await unroll();
  const team = await bed.team();
  const by = (person: "developer" | "other", call: Omit<Spend, "workspaceId">): Spend => ({
    workspaceId: team.id,
    keyId: team[person].keyId,
    ...call,
  });
  await spend(bed.db.database, [
    by("developer", { nano: 1n, tokens: 1, model: "a", at: ago(DAY_MS), labels: { user: "alice", project: "alpha" } }),
    by("developer", { nano: 20n, tokens: 2, model: "b", labels: { user: "bob", project: "alpha", chain: "a" } }),
    by("other", { nano: 300n, tokens: 3, model: "a", labels: { user: "alice", project: "beta", chain: "a" } }),
    by("other", { nano: null, model: "a", labels: { user: "alice" } }),
    by("other", { nano: 5_000n, tokens: 5, model: "a", at: ago(DAY_MS) }),
  ]);
  return team;
}

/** Nano-credits by the given member of the results, added up over the buckets. */
function nanoBy(results: readonly Result[], nameOf: (result: Result) => unknown): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const result of results) {
    const name = String(nameOf(result));
    sums[name] = (sums[name] ?? 0n) + parseCredits(String(result.credits));
  }
  return sums;
}

/** Returns the value of a result's only group. */
function groupOf({ tags, model, key_id, member_id, workflow_id, status, user, chain }: Result): string {
  const values = [model, key_id, member_id, workflow_id, status, user, chain, ...Object.values(tags ?? {})];
  return String(values.find((value) => value !== undefined));
}

type Figures = readonly bigint[];
const figuresOf = ({
  calls,
  failed,
  credits,
  tokens,
}: Pick<Result, "calls" | "failed" | "credits" | "tokens">): Figures => [
  BigInt(calls),
  BigInt(failed),
  parseCredits(String(credits)),
  BigInt(tokens),
];
const added = (sums: Figures, figures: Figures): Figures => sums.map((sum, place) => sum + (figures[place] ?? 0n));

/** Runs a check before and after the roll-up: later records and sums answer alike. */
async function twice(check: () => Promise<void>): Promise<void> {
  await check();
  await rollUp();
  await check();
}

describe("sums by label", () => {
  test("add up to the totals, with the calls without the label as null", async () => {
    const team = await spent();
    await twice(async () => {
      const users = resultsOf(await read(team, `?${WHOLE}&group_by=user`));
      expect(nanoBy(users, ({ user }) => user)).toEqual({ alice: 301n, bob: 20n, null: 5_000n });
      const failed = users.filter(({ user }) => user === "alice").map((one) => one.failed);
      expect(failed.reduce((sum, one) => sum + one, 0)).toBe(1);
      const projects = resultsOf(await read(team, `?${WHOLE}&group_by=tag:project,model`));
      expect(nanoBy(projects, ({ tags, model }) => `${tags?.["project"]} ${model}`)).toEqual({
        "alpha a": 1n,
        "alpha b": 20n,
        "beta a": 300n,
        "null a": 5_000n,
      });
      for (const group of ["user", "chain", "tag:project", "tag:unknown"]) {
        const results = resultsOf(await read(team, `?${WHOLE}&group_by=${group}&bucket_width=1h`));
        const total = results.reduce(
          (sum, { calls, credits, tokens }) => [
            sum[0]! + BigInt(calls),
            sum[1]! + parseCredits(String(credits)),
            sum[2]! + BigInt(tokens),
          ],
          [0n, 0n, 0n],
        );
        expect([group, total]).toEqual([group, [5n, 5_321n, 11n]]);
      }
    });
    expect(await auditLedger(bed.db.database)).toEqual([]);
  });

  test("are filtered by a label, so that a chain's models compare", async () => {
    const team = await spent();
    await twice(async () => {
      const arms = resultsOf(await read(team, `?${WHOLE}&group_by=model&chain=a`));
      expect(nanoBy(arms, ({ model }) => model)).toEqual({ a: 300n, b: 20n });
      const alpha = resultsOf(await read(team, `?${WHOLE}&tag=project:alpha&group_by=key`));
      expect(nanoBy(alpha, ({ key_id }) => key_id)).toEqual({ [team.developer.keyId]: 21n });
      expect(resultsOf(await read(team, `?${WHOLE}&user=nobody`))).toEqual([]);
    });
  });

  test.each(["model", "key", "member", "workflow", "status", "user", "chain", "tag:project"])(
    "are limited to the top by %s: the group with the highest sum, calls without a group, and the sum of the others",
    async (group) => {
      const team = await spent();
      await twice(async () => {
        for (const by of ["credits", "calls", "failed", "tokens"] as const) {
          for (const width of ["1h", "1d", "period"]) {
            const query = `?${WHOLE}&group_by=${group}&bucket_width=${width}&limit=100&top_by=${by}`;
            const all = await read(team, query);
            const sums = new Map<string, number>();
            for (const one of resultsOf(all)) sums.set(groupOf(one), (sums.get(groupOf(one)) ?? 0) + one[by]);
            sums.delete("null");
            const [first] = [...sums].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
            const isShown = (one: Result): boolean => [first?.[0], "null"].includes(groupOf(one));
            const expected = all.data.map(({ results }) => ({
              shown: results.filter(isShown).map((one) => [groupOf(one), ...figuresOf(one)]),
              others: results
                .filter((one) => !isShown(one))
                .map(figuresOf)
                .reduce(added, [0n, 0n, 0n, 0n]),
            }));
            const { data } = await read(team, `${query}&top=1`);
            const received = data.map(({ results, others }) => ({
              shown: results.map((one) => [groupOf(one), ...figuresOf(one)]),
              others: others === undefined ? [0n, 0n, 0n, 0n] : figuresOf(others),
            }));
            expect([by, width, received]).toEqual([by, width, expected]);
          }
        }
      });
    },
  );

  test("of a developer contain the calls of its own keys only", async () => {
    const team = await spent();
    await twice(async () => {
      const users = resultsOf(await read(team, `?${WHOLE}&group_by=user`, team.developer.key));
      expect(nanoBy(users, ({ user }) => user)).toEqual({ alice: 1n, bob: 20n });
    });
  });

  test("are refused with two labels, names that no tag can have, and a top of no single group", async () => {
    const team = await bed.team(0n);
    for (const [query, param] of [
      ["group_by=user,chain", "group_by"],
      ["group_by=user&tag=project:alpha", "group_by"],
      ["user=alice&chain=a", "group_by"],
      ["group_by=tag:", "group_by"],
      ["group_by=tag:user", "group_by"],
      ["group_by=project", "group_by"],
      ["group_by=model,key,user", "group_by"],
      ["tag=project", "tag"],
      ["tag=project:", "tag"],
      ["tag=chain:a", "tag"],
      ["tag=project:alpha&tag=project:beta", "tag"],
      [`user=${"u".repeat(129)}`, "user"],
      ["chain=%00", "chain"],
      ["top=1", "top"],
      ["group_by=model,key&top=1", "top"],
      ["group_by=user&top=0", "top"],
      ["group_by=user&top=101", "top"],
      ["group_by=user&top=1&top_by=user", "top_by"],
    ] as const) {
      const refused = await bed.refusal(400, "GET", at(team, `?${query}`), team.owner.key);
      expect([query, refused]).toEqual([query, { code: "unsupported_value", param }]);
    }
  });

  test("keep a bounded number of values a day, and add up the others exactly", async () => {
    await unroll();
    const team = await bed.team();
    const [record] = await spend(bed.db.database, [{ workspaceId: team.id, nano: 7n, tokens: 1 }]);
    // Copies of one record, without ledger entries: the test reads sums only.
    await bed.db.query(
      `insert into usage_record (job_id, attempt, workspace_id, key_id, model, status, units, is_estimated, held, settled, uncollected,
                                 day, tokens, started_at, ended_at, labels)
       select gen_random_uuid(), 1, workspace_id, key_id, model, status, units, is_estimated, held, settled, uncollected, day, tokens,
              started_at, ended_at, jsonb_build_object('user', 'user ' || n)
       from usage_record, generate_series(1, $2::int) n where job_id = $1`,
      [record ?? "", VALUES_MAX + 5],
    );
    const valuesOf = async (): Promise<unknown> =>
      nanoBy(
        resultsOf(await read(team, `?${WHOLE}&group_by=user`)).filter(({ user }) => !user?.startsWith("user ")),
        ({ user }) => user,
      );
    await rollUp();
    expect(await valuesOf()).toEqual({ other: 35n, null: 7n });
    const [known] = await bed.db.query<{ count: bigint }>(
      "select count(*) as count from usage_label_value where workspace_id = $1",
      [team.id],
    );
    expect(known).toEqual({ count: BigInt(VALUES_MAX) });
    // A further value counts as one of the others at once, and a known one by itself.
    await spend(bed.db.database, [
      { workspaceId: team.id, nano: 100n, labels: { user: "late" } },
      { workspaceId: team.id, nano: 1_000n, labels: { user: "user 1" } },
    ]);
    await twice(async () => {
      expect(await valuesOf()).toEqual({ other: 135n, null: 7n });
      const [known] = resultsOf(await read(team, `?${WHOLE}&user=${encodeURIComponent("user 1")}`));
      expect([known?.calls, known?.credits]).toEqual([2, 0.000001007]);
    });
    await bed.db.query("delete from usage_record where workspace_id = $1", [team.id]);
  });
});

describe("the list of calls", () => {
  test("shows the labels of each call and is filtered by several of them", async () => {
    const team = await spent();
    const { data } = await list(team, "?user=bob");
    expect(data).toMatchObject([{ user: "bob", chain: "a", tags: { project: "alpha" } }]);
    expect((await list(team, "?user=alice&tag=project:beta&chain=a")).data).toHaveLength(1);
    expect((await list(team, "?user=alice&tag=project:alpha&tag=feature:search")).data).toEqual([]);
    expect((await list(team, "?user=alice", team.developer.key)).data).toHaveLength(1);
    const [plain] = (await list(team)).data.filter(({ credits }) => credits === 0.000005);
    expect(plain).toMatchObject({ user: null, chain: null, tags: {} });
    expect(await bed.refusal(400, "GET", at(team, "/requests?tag=x"), team.owner.key)).toEqual({
      code: "unsupported_value",
      param: "tag",
    });
  });
});

describe("tables", () => {
  const send = (team: Team, path: string, accept: string): Promise<Response> =>
    bed.send("GET", at(team, path), team.owner.key, undefined, accept);

  test("of calls and sums have labels, as CSV and as JSON lines", async () => {
    const team = await spent();
    const rows = await bed.table(at(team, `?${WHOLE}&group_by=user`), team.owner.key);
    expect(rows.map((row) => row["user"])).toEqual(["", "alice", "alice", "bob"]);
    for (const type of ["application/jsonl", "application/x-ndjson"]) {
      const answer = await send(team, `/requests`, type);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/jsonl; charset=utf-8"]);
      const lines = (await answer.text())
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines).toHaveLength(5);
      expect(lines.find(({ user }) => user === "bob")).toMatchObject({
        credits: "0.00000002",
        tags: { project: "alpha" },
      });
    }
    const sums = await send(team, `?${WHOLE}&group_by=tag:project`, "application/jsonl");
    const lines = (await sums.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map((line) => [line["tag:project"], line["credits"], line["calls"]])).toEqual([
      [null, "0.000005", 1],
      ["alpha", "0.000000001", 1],
      ["beta", "0.0000003", 1],
      ["alpha", "0.00000002", 1],
      [null, "0", 1],
    ]);
    const requests = await send(team, "/requests?user=bob", "text/csv");
    expect((await requests.text()).split("\n")[0]).toContain(",user,chain,tags,");
    expect(await (await send(await bed.team(0n), "/requests", "application/jsonl")).text()).toBe("");
  });
});

/** Reads CSV with Python's csv module and returns its rows. */
async function readCsv(text: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const program = "import csv, json, sys; json.dump(list(csv.DictReader(sys.stdin)), sys.stdout)";
  const child = Bun.spawn(["python3", "-c", program], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  void child.stdin.write(text);
  await child.stdin.end();
  const rows = JSON.parse(await new Response(child.stdout).text()) as readonly Record<string, string>[];
  expect(await child.exited).toBe(0);
  return rows;
}

describe("FOCUS", () => {
  const DECIMAL = /^-?\d+(\.\d+)?$/;
  const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
  /** Columns that the specification requires in every dataset, and the type of their values. Null: the value may be null. */
  const MANDATORY: Readonly<Record<string, RegExp | null>> = {
    BilledCost: DECIMAL,
    BillingAccountId: /./,
    BillingAccountName: /./,
    BillingCurrency: /^[A-Z]{3}$/,
    BillingPeriodEnd: TIME,
    BillingPeriodStart: TIME,
    ChargeCategory: /^Usage$/,
    ChargeClass: null,
    ChargeDescription: /./,
    ChargePeriodEnd: TIME,
    ChargePeriodStart: TIME,
    ContractedCost: DECIMAL,
    EffectiveCost: DECIMAL,
    InvoiceIssuerName: /./,
    ListCost: DECIMAL,
    PricingQuantity: DECIMAL,
    PricingUnit: /./,
    ProviderName: /./,
    PublisherName: /./,
    ServiceCategory: /^AI and Machine Learning$/,
    ServiceName: /./,
    // Conditional on prices in a virtual currency.
    PricingCurrency: /^Credits$/,
    PricingCurrencyEffectiveCost: DECIMAL,
    PricingCurrencyListUnitPrice: DECIMAL,
    ConsumedQuantity: DECIMAL,
    ConsumedUnit: /./,
    ListUnitPrice: DECIMAL,
    SkuId: /./,
    SkuPriceId: /./,
    SubAccountId: /^[0-9a-f-]{36}$/,
  };

  const focus = async (team: Team, query = "", key = team.owner.key) => {
    const answer = await bed.send("GET", at(team, `/focus?${WHOLE}${query}`), key);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    return readCsv(await answer.text());
  };

  test("has the required columns with values of their types, and costs that add up to the ledger", async () => {
    const team = await spent();
    await twice(async () => {
      for (const query of ["", "&bucket_width=1h", "&label=user", "&bucket_width=1h&label=tag:project"]) {
        const rows = await focus(team, query);
        let nano = 0n;
        for (const row of rows) {
          expect(Object.keys(row)).toEqual([...FOCUS_COLUMNS]);
          for (const [column, form] of Object.entries(MANDATORY)) {
            if (form === null) expect([column, row[column]]).toEqual([column, ""]);
            else expect([column, row[column]]).toEqual([column, expect.stringMatching(form)]);
          }
          const credits = parseCredits(row["PricingCurrencyEffectiveCost"] ?? "");
          nano += credits;
          expect([row["BilledCost"], row["EffectiveCost"], row["ListCost"]]).toEqual(
            Array(3).fill(creditsToDollars(credits)),
          );
          expect(row["PricingQuantity"]).toBe(row["PricingCurrencyEffectiveCost"]);
          expect(Number(row["ListUnitPrice"])).toBe(0.01);
          const [start, end, from, to] = [
            "ChargePeriodStart",
            "ChargePeriodEnd",
            "BillingPeriodStart",
            "BillingPeriodEnd",
          ].map((name) => Date.parse(row[name] ?? "")) as [number, number, number, number];
          expect(end - start).toBe(query.includes("1h") ? HOUR_MS : DAY_MS);
          expect(from <= start && end <= to).toBe(true);
        }
        const [{ charged } = { charged: -1n }] = await bed.db.query<{ charged: bigint }>(
          "select -sum(amount)::bigint as charged from ledger_entry where workspace_id = $1 and kind = 'settle'",
          [team.id],
        );
        expect([query, nano]).toEqual([query, charged]);
      }
    });
  });

  test("has the values of one label as tags, and only the calls that the filters and the role allow", async () => {
    const team = await spent();
    const tags = (await focus(team, "&label=tag:project"))
      .map(({ Tags = "" }) => Tags)
      .toSorted((a, b) => a.localeCompare(b));
    expect(tags).toEqual(["", "", '{"project":"alpha"}', '{"project":"alpha"}', '{"project":"beta"}']);
    expect((await focus(team, "&user=bob")).map(({ SkuId }) => SkuId)).toEqual(["b"]);
    expect((await focus(team, "", team.developer.key)).map(({ SubAccountId }) => SubAccountId)).toEqual([
      team.developer.keyId,
      team.developer.keyId,
    ]);
    for (const [query, param] of [
      ["label=project", "label"],
      ["label=user&tag=project:alpha", "label"],
      ["user=a&chain=b", "label"],
      ["bucket_width=2d", "bucket_width"],
    ] as const) {
      const refused = await bed.refusal(400, "GET", at(team, `/focus?${query}`), team.owner.key);
      expect([query, refused]).toEqual([query, { code: "unsupported_value", param }]);
    }
  });
});
