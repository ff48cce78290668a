/**
 * The overview after a month of a small team, as README shows it. With `PICTURES=on`, the pictures of README are drawn again; without it, the
 * parts of the page and the size of the pictures are checked.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import sharp from "sharp";

import { plainArray } from "#shared/database/arrays.ts";
import { newId } from "#shared/base/ids.ts";
import { hashKey } from "#shared/secrets/api-keys.ts";
import { type Spend, spend } from "#tests/shared/usage-records.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import type { Query } from "#tests/support/postgres.ts";
import { seeded } from "#tests/support/seed.ts";

import { type ConsoleBench, openConsoleBench } from "./bench.ts";

const BYTES_MAX = 120_000;
const DAYS = 30;
const DAY_MS = 86_400_000;
/** Number of calls that are held at a time. */
const GROUP = 500;
const THEMES = ["light", "dark"] as const;

/** Models of the team: calls on a working day, mean charge in credits, mean latency, share of failed calls. */
const MODELS = [
  { model: "claude-sonnet-4-6", calls: 42, credits: 2.4, ms: 5_200, failed: 0.006 },
  { model: "gpt-5.4-mini", calls: 96, credits: 0.42, ms: 1_900, failed: 0.004 },
  { model: "flux-1.1-pro", calls: 11, credits: 4, ms: 7_400, failed: 0.02 },
  { model: "gemini-3.5-flash", calls: 38, credits: 0.55, ms: 1_300, failed: 0.008 },
  { model: "veo-3.1-fast", calls: 0.6, credits: 60, ms: 74_000, failed: 0.05 },
  { model: "whisper-large-v3-turbo", calls: 14, credits: 0.7, ms: 2_600, failed: 0 },
  { model: "text-embedding-3-small", calls: 24, credits: 0.02, ms: 240, failed: 0 },
] as const;
const KEYS = ["website", "newsletter", "research"];

const pictureOf = (theme: string): string => join(PROJECT_ROOT, "deploy", "pictures", `overview-${theme}.webp`);

let bench: ConsoleBench;

beforeAll(async () => {
  bench = await openConsoleBench({ prepare: writeMonth });
}, 300_000);
afterAll(() => bench?.close());

/** Writes the calls of the month, each held and settled, before a role starts. */
async function writeMonth(query: Query): Promise<void> {
  const [workspace] = await query<{ id: string }>(
    "update workspace set name = 'Tern Studio', created_at = now() - interval '45 days' returning id",
  );
  const workspaceId = workspace?.id ?? "";
  const [member] = await query<{ id: string }>("update member set name = 'Ines Holm' returning id");
  const keys = KEYS.map((name) => ({ id: newId(), name }));
  for (const { id, name } of keys) {
    await query(
      `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
       values ($1, $2, $3, $4, $5, 'slk_', 'standard')`,
      [id, workspaceId, member?.id ?? "", name, hashKey(id)],
    );
  }
  // The first workspace has a million credits.
  await query("select move_credits($1, 'correction', $2, $3, null)", [workspaceId, -(984_600n * 10n ** 9n), newId()]);
  const calls = callsOf(
    workspaceId,
    keys.map(({ id }) => id),
    new Date(),
  );
  // A hold of these tests expires after a minute.
  for (let from = 0; from < calls.length; from += GROUP) await spend({ query }, calls.slice(from, from + GROUP));
  await query(
    `update usage_record u
     set started_at = ended_at - m.ms * (0.4 + 1.6 * (hashint8extended(extract(epoch from u.ended_at)::bigint, 7) & 1023) / 1023.0) * interval '1 millisecond'
     from unnest($1::text[], $2::int[]) m(model, ms) where u.model = m.model`,
    [MODELS.map(({ model }) => model), plainArray(MODELS.map(({ ms }) => ms))],
  );
  // The calls were settled today. The rate of spending is computed from what was spent before each day.
  await query(
    `insert into spent_day (workspace_id, day, spent)
     select workspace_id, day, (sum(taken) over (partition by workspace_id order by day) - taken)::bigint
     from (select workspace_id, (ended_at at time zone 'utc')::date as day, sum(settled) as taken from usage_record group by 1, 2) d
     on conflict (workspace_id, day) do update set spent = excluded.spent`,
  );
  // The janitor adds the records after this border to the sums.
  await query(
    "update usage_rollup set until = now() - $1 * interval '1 day', next_at = now() - $1 * interval '1 day'",
    [DAYS + 1],
  );
}

/** Returns the calls of the days before `until`: fewer at weekends and at night, and slowly more. */
function callsOf(workspaceId: string, keys: readonly string[], until: Date): Spend[] {
  const random = seeded(20_261);
  const today = until.getTime() - (until.getTime() % DAY_MS);
  return Array.from({ length: DAYS }, (_, day) => today - (DAYS - 1 - day) * DAY_MS).flatMap((start, day) => {
    const weekday = new Date(start).getUTCDay();
    const share = (weekday === 0 ? 0.22 : weekday === 6 ? 0.3 : 1) * (0.65 + (0.5 * day) / DAYS);
    return MODELS.flatMap(({ model, calls, credits, failed }) => {
      const count = Math.floor(calls * share * (0.75 + 0.5 * random()) + random());
      return Array.from({ length: count }, (): Spend => {
        const at = new Date(start + hourOf(random) * 3_600_000);
        const nano = random() < failed ? null : BigInt(Math.round(credits * (0.35 + 1.3 * random()) * 1e9));
        const keyId = keys[Math.floor(random() ** 2 * keys.length)] ?? "";
        return { workspaceId, model, at, nano, keyId, tokens: 600 + Math.floor(random() * 3_000) };
      });
    }).filter(({ at }) => at !== undefined && at < until);
  });
}

/** Returns an hour of the day. The mean of three numbers is rarely at night. */
function hourOf(random: () => number): number {
  return 5 + (18 * (random() + random() + random())) / 3;
}

test("the overview shows the month, equal to the ledger, and README shows the overview", async () => {
  const [books] = await bench.stack.query<{ spent: string; faults: string }>(
    "select (select sum(spent) from balance)::text as spent, (select count(*) from audit_ledger())::text as faults",
  );
  expect(books?.faults).toBe("0");
  const readme = readFileSync(join(PROJECT_ROOT, "README.md"), "utf8");
  for (const theme of THEMES) {
    const { page, faults } = await bench.open("/", {
      browser: { colorScheme: theme, viewport: { width: 1_200, height: 840 }, deviceScaleFactor: 1.5 },
    });
    await page.getByRole("heading", { name: "Spend" }).waitFor();
    expect(await page.locator(".stats .name").allTextContents()).toEqual([
      "Balance",
      "Spent today",
      "Calls today",
      "Held now",
    ]);
    await page.getByText("days left").waitFor();
    expect(await page.locator(".plot .x span").count()).toBeGreaterThan(3);
    expect(await page.locator(".plot svg rect").count()).toBeGreaterThan(DAYS * 3);
    const rows = await page.locator("table tbody tr td:first-child").allTextContents();
    expect(rows.slice(0, -1).toSorted()).toEqual(
      MODELS.slice(0, 5)
        .map(({ model }) => model)
        .toSorted(),
    );
    expect(rows.at(-1)).toBe("2 others");
    const shown = await page
      .locator("table tbody td:last-child span[title]")
      .evaluateAll((all) => all.reduce((sum, one) => sum + Number.parseFloat(one.getAttribute("title") ?? ""), 0));
    expect(shown).toBeCloseTo(Number(books?.spent) / 1e9, 6);
    expect(faults).toEqual([]);

    if (process.env["PICTURES"] === "on") {
      const drawn = await page.screenshot();
      writeFileSync(pictureOf(theme), await sharp(drawn).webp({ quality: 82, effort: 6 }).toBuffer());
    }
    const bytes = readFileSync(pictureOf(theme));
    expect(bytes.length).toBeLessThanOrEqual(BYTES_MAX);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "webp", width: 1_800, height: 1_260 });
    expect(readme).toContain(`="deploy/pictures/overview-${theme}.webp"`);
  }
}, 90_000);
