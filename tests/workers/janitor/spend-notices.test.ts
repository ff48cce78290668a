/** Notices of spend limits: each percentage is reported once per limit and period, for any number of janitors. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { parse } from "#shared/json/contracts.ts";
import { listSpendNoticesToCheck } from "#shared/database/spend-notices.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { removeSpendLimit, setSpendLimit, type SpendLimit } from "#shared/ledger/spend-limits.ts";
import { createKey, CREDIT } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { sweepSpendNotices } from "#workers/janitor/money.ts";

const DAY_MS = 86_400_000;

let db: TestDatabase;
const log = createLogger({ level: "silent", role: "test" });

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const sweep = (): Promise<void> => sweepSpendNotices({ database: db.database, log });

interface Limited {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly memberId: string;
}

async function limited(terms: Partial<SpendLimit> = {}): Promise<Limited> {
  const { workspaceId, keyId, memberId } = await createKey(db.database);
  const limit = { id: keyId, kind: "key", credits: { day: 10n * CREDIT }, warnAt: [50, 80] } as const;
  await setSpendLimit(db.database, workspaceId, { ...limit, ...terms });
  return { workspaceId, keyId, memberId };
}

/** Counts a charge of the key, as a settlement does. */
const charge = ({ workspaceId, keyId }: Limited, nano: bigint): Promise<unknown> =>
  db.query("select count_spend($1, $2, null, 0, $3, (now() at time zone 'utc')::date)", [workspaceId, keyId, nano]);

interface Notice {
  readonly type: string;
  readonly metadata: Record<string, unknown>;
}

async function told({ workspaceId }: Limited): Promise<Notice[]> {
  const rows = await db.query<Notice>(
    "select type, metadata from event where workspace_id = $1 order by occurred_at, metadata->>'period'",
    [workspaceId],
  );
  for (const { type, metadata } of rows) parse(type === "limit.reached" ? "LimitReached" : "LimitWarning", metadata);
  return rows;
}

const percents = async (of: Limited): Promise<unknown[]> =>
  (await told(of)).map(({ metadata }) => [metadata["period"], metadata["percent"]]);

const tomorrow = (): string => new Date((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS).toISOString();

describe("a spend limit", () => {
  test("reports each percentage once, to the nano-credit, and its end, for any number of janitors", async () => {
    const of = await limited();
    await sweep();
    await charge(of, 5n * CREDIT - 1n);
    await sweep();
    expect(await told(of)).toEqual([]);
    await charge(of, 1n);
    await Promise.all(Array.from({ length: 6 }, sweep));
    expect(await told(of)).toEqual([
      {
        type: "limit.warning",
        metadata: {
          kind: "key",
          id: of.keyId,
          name: "test",
          period: "day",
          percent: 50,
          spent: 5,
          limit: 10,
          resetsAt: tomorrow(),
        },
      },
    ]);
    await charge(of, 3n * CREDIT);
    await sweep();
    await charge(of, 2n * CREDIT);
    await Promise.all([sweep(), sweep()]);
    await sweep();
    expect(await percents(of)).toEqual([
      ["day", 50],
      ["day", 80],
      ["day", 100],
    ]);
    expect((await told(of)).at(-1)?.type).toBe("limit.reached");
  });

  test("is checked only when it may have reached a percentage", async () => {
    const of = await limited();
    const isDue = async (): Promise<boolean> => (await listSpendNoticesToCheck(db.database)).includes(of.workspaceId);
    expect(await isDue()).toBe(true);
    await sweep();
    expect(await isDue()).toBe(false);
    await charge(of, 5n * CREDIT - 1n);
    expect(await isDue()).toBe(false);
    await charge(of, 1n);
    expect(await isDue()).toBe(true);
    await charge(of, 5n * CREDIT);
    await sweep();
    expect(await isDue()).toBe(false);
  });

  test("reports only the highest of several percentages that are passed at once", async () => {
    const of = await limited({ warnAt: [10, 50, 80] });
    await charge(of, 6n * CREDIT);
    await sweep();
    await charge(of, 4n * CREDIT);
    await sweep();
    expect(await percents(of)).toEqual([
      ["day", 50],
      ["day", 100],
    ]);
  });

  test("reports each of its periods, and a total without a reset", async () => {
    const of = await limited({ credits: { day: 10n * CREDIT, total: 12n * CREDIT }, warnAt: [50] });
    await charge(of, 6n * CREDIT);
    await sweep();
    const notices = await told(of);
    expect(notices.map(({ metadata }) => [metadata["period"], "resetsAt" in metadata])).toEqual([
      ["day", true],
      ["total", false],
    ]);
  });

  test("reports again in the next period, and its total only once", async () => {
    const of = await limited({ credits: { day: 10n * CREDIT, total: 100n * CREDIT }, warnAt: [5, 50] });
    await charge(of, 5n * CREDIT);
    await sweep();
    // As if the spending had been yesterday.
    await db.query("update spend_limit set day = day - 1 where id = $1", [of.keyId]);
    await db.query("update spend_notice set since = since - 1 where limit_id = $1 and period = 'day'", [of.keyId]);
    await charge(of, 1n);
    await sweep();
    await charge(of, 5n * CREDIT);
    await sweep();
    expect(await percents(of)).toEqual([
      ["day", 50],
      ["total", 5],
      ["day", 50],
    ]);
  });

  test("reports again when it is changed, and for a raise and its end", async () => {
    const of = await limited({ warnAt: [80] });
    const set = (credits: bigint, raise?: bigint): Promise<void> =>
      setSpendLimit(db.database, of.workspaceId, {
        id: of.keyId,
        kind: "key",
        credits: { day: credits },
        warnAt: [80],
        ...(raise === undefined ? {} : { raise: { credits: { day: raise }, until: new Date(Date.now() + 3_600_000) } }),
      });
    const limits = async (): Promise<unknown[]> => {
      await sweep();
      await sweep();
      return (await told(of)).map(({ metadata }) => [metadata["limit"], metadata["percent"]]);
    };
    await charge(of, 8n * CREDIT);
    expect(await limits()).toEqual([[10, 80]]);
    await set(10n * CREDIT, 20n * CREDIT);
    expect(await limits()).toEqual([[10, 80]]);
    await charge(of, 8n * CREDIT);
    expect(await limits()).toEqual([
      [10, 80],
      [20, 80],
    ]);
    await db.query("update spend_limit set raised_until = now() - interval '1 second' where id = $1", [of.keyId]);
    expect((await limits()).slice(2)).toEqual([[10, 100]]);
    await set(18n * CREDIT);
    expect((await limits()).slice(3)).toEqual([[18, 80]]);
  });

  test("is reported as reached when a raise ends of which each percentage was reported", async () => {
    const of = await limited({
      warnAt: [80],
      raise: { credits: { day: 20n * CREDIT }, until: new Date(Date.now() + 3_600_000) },
    });
    await charge(of, 20n * CREDIT);
    await sweep();
    expect((await told(of)).map(({ metadata }) => metadata["limit"])).toEqual([20]);
    await db.query("update spend_limit set raised_until = now() - interval '1 second' where id = $1", [of.keyId]);
    await sweep();
    await sweep();
    expect((await told(of)).map(({ type, metadata }) => [type, metadata["limit"], metadata["percent"]])).toEqual([
      ["limit.reached", 20, 100],
      ["limit.reached", 10, 100],
    ]);
  });

  test("without percentages reports nothing", async () => {
    const of = await limited({ warnAt: [] });
    await charge(of, 10n * CREDIT);
    await sweep();
    expect(await told(of)).toEqual([]);
  });

  test("of a member, an end user or a tag names it", async () => {
    const of = await limited({ warnAt: [] });
    const [user, tag] = [newId(), newId()];
    await setSpendLimit(db.database, of.workspaceId, {
      id: of.memberId,
      kind: "member",
      credits: { month: CREDIT },
      warnAt: [50],
    });
    await setSpendLimit(db.database, of.workspaceId, {
      id: user,
      kind: "end_user",
      label: { name: "user", value: "customer 7" },
      credits: { total: CREDIT },
      warnAt: [50],
    });
    await setSpendLimit(db.database, of.workspaceId, {
      id: tag,
      kind: "tag",
      label: { name: "project", value: "alpha" },
      credits: { day: CREDIT },
      warnAt: [50],
    });
    await db.query("select count_spend($1, $2, $3::uuid[], 0, $4, (now() at time zone 'utc')::date)", [
      of.workspaceId,
      of.keyId,
      `{${user},${tag}}`,
      CREDIT / 2n,
    ]);
    await sweep();
    const subjects = (await told(of)).map(({ metadata: { kind, id, name } }) => ({ kind, id, name }));
    expect(subjects).toHaveLength(3);
    expect(subjects).toContainEqual({ kind: "tag", id: tag, name: "project=alpha" });
    expect(subjects).toContainEqual({ kind: "member", id: of.memberId, name: `ada ${of.memberId}` });
    expect(subjects).toContainEqual({ kind: "end_user", id: user, name: "customer 7" });
  });

  test("can be removed with its notices", async () => {
    const of = await limited();
    await charge(of, 10n * CREDIT);
    await sweep();
    await removeSpendLimit(db.database, of.workspaceId, of.keyId);
    expect(await db.query("select from spend_notice where limit_id = $1", [of.keyId])).toEqual([]);
  });
});

test("a notice is not lost when a charge is counted during the check", async () => {
  const of = await limited({ warnAt: [50] });
  await charge(of, 4n * CREDIT);
  const checks = Promise.all(Array.from({ length: 4 }, sweep));
  await Promise.all(Array.from({ length: 10 }, () => charge(of, CREDIT / 5n)));
  await checks;
  await sweep();
  expect(await percents(of)).toEqual([["day", 50]]);
});
