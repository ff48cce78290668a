/** Refusals by a spend limit: their code, their advice, and whether the call may be repeated. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import type { Database } from "#shared/database/client.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { spendRefusal } from "#shared/ledger/spend-limits.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";

import { admitLone, CREDIT, settleSingle } from "../accounts.ts";
import { limited, limitOf, openSubjects } from "./limited-subjects.ts";
import { LinesBench } from "./lines.ts";

let bench: LinesBench;
let db: TestDatabase;
beforeAll(async () => {
  bench = await LinesBench.open();
  ({ db } = bench);
});
afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
  await bench.end();
});
afterAll(() => bench.close());

const { createSubject, set } = openSubjects(() => db.database);

describe("a call of a limited key", () => {
  test("is refused with what is left and when it resets", async () => {
    const { workspaceId, keyId } = await createSubject();
    const { calls } = bench.startIngress();
    await set(workspaceId, limitOf(keyId, { day: 5n * CREDIT, month: 50n * CREDIT }));
    await calls.place(workspaceId, null, limited(keyId, { amountNano: 2n * CREDIT }));
    const error = await calls
      .place(workspaceId, null, limited(keyId, { amountNano: 4n * CREDIT }))
      .then(() => undefined, (refused: unknown) => refused); // prettier-ignore
    const midnight = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000).toISOString().slice(0, 10);
    expect(error).toMatchObject({
      status: 402,
      code: "key_limit_reached",
      param: "limits.credits.day",
      message: `This call may cost up to 4 credits; the daily limit of the key (5) leaves 3, and 2 are held by open calls. It resets at ${midnight}T00:00:00Z. Request less, or ask an owner of the workspace to raise the limit.`,
    });
  });

  test.each([
    ["the key", "key", "ask an owner of the workspace to raise the limit."],
    ["its run", "run", "set a higher max_credits."],
  ] as const)(
    "without an output limit is advised to set one if a limit of %s refuses it",
    async (_name, kind, other) => {
      const { workspaceId, keyId } = await createSubject();
      const runId = newId();
      await set(workspaceId, limitOf(kind === "key" ? keyId : runId, { total: CREDIT }, kind));
      const call = { keyId, scopes: [runId], amountNano: 5n * CREDIT };
      const advice = async (mayExceed: boolean) =>
        (await spendRefusal(db.database, workspaceId, { ...call, mayExceed })).message.replace(/^.* leaves 1\. /, "");
      expect(await advice(true)).toBe(`Set an output limit (max_completion_tokens or max_output_tokens), or ${other}`);
      expect(await advice(false)).toBe(`Request less, or ${other}`);
    },
  );

  test("is not advised to request less if the limit is spent", async () => {
    const { workspaceId, keyId } = await createSubject();
    await set(workspaceId, limitOf(keyId, { total: 0n }));
    const call = { keyId, scopes: [], amountNano: 5n * CREDIT, mayExceed: true };
    const { message } = await spendRefusal(db.database, workspaceId, call);
    expect(message).toEndWith(" leaves 0. Ask an owner of the workspace to raise the limit.");
  });

  test("is asked to be repeated if other calls have ended before the refusal is described", async () => {
    const { workspaceId, keyId } = await createSubject();
    await set(workspaceId, limitOf(keyId, { day: 5n * CREDIT }));
    const { message } = await spendRefusal(db.database, workspaceId, {
      keyId,
      amountNano: 5n * CREDIT,
      mayExceed: false,
    });
    expect(message).toBe(
      "This call may cost up to 5 credits; the daily limit of the key (5) leaves 5. Calls that held the rest have ended meanwhile: send the request again.",
    );
  });

  test.each([
    ["without an end user", []],
    ["with a limited end user", [newId()]],
  ])("%s is refused with 402 if the database cannot describe the limit", async (_name, scopes) => {
    const { workspaceId, keyId } = await createSubject();
    await set(workspaceId, limitOf(keyId, { total: 1n }));
    const full: Database = {
      ...bench.database,
      query: (...query: Parameters<Database["query"]>) =>
        query[0].includes("spend_refusal")
          ? Promise.reject(new Error("the pool is full"))
          : bench.database.query(...query),
    };
    const { calls } = bench.startIngress(full);
    const error = await calls
      .place(workspaceId, null, limited(keyId, scopes.length === 0 ? {} : { scopes }))
      .then(() => undefined, (refused: unknown) => refused); // prettier-ignore
    expect(error).toMatchObject({ status: 402, code: "key_limit_reached", param: "limits.credits" });
  });

  test("is refused finally by max_credits of its run only if it would not fit without open calls", async () => {
    const { workspaceId, keyId } = await createSubject();
    const runId = newId();
    await set(workspaceId, limitOf(runId, { total: 100n }, "run"));
    const isFinal = async (amount: bigint): Promise<unknown> => {
      const [row] = await db.query<{ is_final: unknown }>(
        "select spend_refusal($1, $2, $3::uuid[], $4, false)->'is_final' as is_final",
        [workspaceId, keyId, `{${runId}}`, amount],
      );
      return row?.is_final;
    };
    const [settled, open] = [newId(), newId()];
    for (const jobId of [settled, open]) {
      await admitLone(db.database, { workspaceId, jobId, keyId, amount: 40n, scopes: [runId] });
    }
    await settleSingle(db.database, { jobId: settled, used: 40n });
    expect([await isFinal(30n), await isFinal(60n), await isFinal(61n)]).toEqual([false, false, true]);
    await set(workspaceId, limitOf(keyId, { total: 1n }));
    expect(await isFinal(61n)).toBe(false);
  });

  test("as a job is refused with the same error, alone and in a group", async () => {
    const { workspaceId, keyId } = await createSubject();
    await set(workspaceId, limitOf(keyId, { total: 1n }));
    const jobs = createJobAdmission({ database: bench.database });
    const job = () => ({
      id: newId(),
      workspaceId,
      keyId,
      pool: "chat" as const,
      lane: "live" as const,
      kind: "chat",
      modality: "text",
      model: "test-model",
      work: {},
      request: { text: "{}" },
      publisherKey: null,
      reply: null,
      limit: null,
      ifFull: "refuse" as const,
      lifeMs: 60_000,
    });
    const offers = [1, 1, 3].map((count) =>
      Promise.all(
        Array.from({ length: count }, () => {
          const one = job();
          return jobs.admit({ ...one, terms: { hold: { ...limited(keyId), jobId: one.id } } });
        }),
      ),
    );
    for (const verdict of (await Promise.all(offers)).flat()) {
      expect(verdict).toMatchObject({
        kind: "refused",
        error: { code: "key_limit_reached", type: "quota_exceeded", param: "limits.credits.total" },
      });
    }
  });
});
