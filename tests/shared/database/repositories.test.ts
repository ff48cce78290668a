import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { findKeyByHash, insertKey, listMemberKeys, revokeKey, updateKey } from "#shared/database/api-keys.ts";
import type { Actor } from "#shared/database/audit-log.ts";
import { findMove, pageLedger, readBalance } from "#shared/database/credits.ts";
import { countDeadLetters, dropDeadLetter, listDeadLetters, recordDeadLetter } from "#shared/database/dead-letters.ts";
import {
  deleteFallbackChain,
  findFallbackChain,
  listFallbackChains,
  setFallbackChain,
} from "#shared/database/fallback-chains.ts";
import { findMember, insertMember, pageMembers, updateMember } from "#shared/database/members.ts";
import { findUsage } from "#shared/database/usage.ts";
import {
  findWorkspaceById,
  findWorkspaceByName,
  insertWorkspace,
  setWorkspaceActive,
} from "#shared/database/workspaces.ts";
import { newId } from "#shared/base/ids.ts";
import { moveCredits } from "#shared/ledger/move.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";

import { createTestDatabase, type TestDatabase } from "../../support/postgres.ts";

const actor: Actor = { type: "operator", id: "tester" };
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(() => db.drop());

interface Made {
  readonly workspaceId: string;
  readonly name: string;
  readonly memberId: string;
  readonly keyId: string;
  readonly sha256: Uint8Array;
}

async function makeKey(workspaceId: string, memberId: string): Promise<{ id: string; sha256: Uint8Array }> {
  const key = mintKey();
  const sha256 = hashKey(key);
  const id = newId();
  await insertKey(db.database, workspaceId, {
    id,
    memberId,
    name: "laptop",
    sha256,
    hint: keyHint(key),
    preset: "free",
    actor,
  });
  return { id, sha256 };
}

/** A workspace with a developer `ada` and a key of hers. */
async function make(): Promise<Made> {
  const workspaceId = newId();
  const name = `team ${workspaceId}`;
  const memberId = newId();
  await insertWorkspace(db.database, { id: workspaceId, name, actor });
  await insertMember(db.database, workspaceId, { id: memberId, name: "ada", role: "developer", actor });
  const key = await makeKey(workspaceId, memberId);
  await db.query("insert into fallback_chain (workspace_id, model, fallbacks) values ($1, 'gone', array['two'])", [
    workspaceId,
  ]);
  return { workspaceId, name, memberId, keyId: key.id, sha256: key.sha256 };
}

function audit(
  workspaceId: string,
): Promise<{ action: string; subject: string; before: object; after: object; actor: object }[]> {
  return db.query("select action, subject, before, after, actor from audit_log where workspace_id = $1 order by id", [
    workspaceId,
  ]);
}

async function actions(workspaceId: string): Promise<string[]> {
  return (await audit(workspaceId)).map(({ action }) => action);
}

/** Returns the message of a change that is expected to fail. */
function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "it was done",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

/** Every change of one workspace there is, on rows of `made`; each answers whether it changed anything. */
const CHANGES: readonly (readonly [action: string, change: (workspaceId: string, made: Made) => Promise<unknown>])[] = [
  ["workspace.disable", (id) => setWorkspaceActive(db.database, id, { isActive: false, actor })],
  ["member.role", (id, made) => updateMember(db.database, id, { id: made.memberId, role: "billing", actor })],
  ["member.disable", (id, made) => updateMember(db.database, id, { id: made.memberId, isActive: false, actor })],
  ["key.preset", (id, made) => updateKey(db.database, id, { id: made.keyId, preset: "pro", actor })],
  ["key.revoke", (id, made) => revokeKey(db.database, id, { id: made.keyId, actor })],
];

/** Changes of what has no id of its own but belongs to its workspace by name. */
const NAMED_CHANGES: typeof CHANGES = [
  ["fallback_chain.set", (id) => setFallbackChain(db.database, id, { model: "one", fallbacks: ["two"], actor })],
  ["fallback_chain.delete", (id) => deleteFallbackChain(db.database, id, { model: "gone", actor })],
];

describe("every change", () => {
  test.each([...CHANGES, ...NAMED_CHANGES])(
    "%s writes one audit row, and none when it changes nothing",
    async (action, change) => {
      const made = await make();
      const before = await actions(made.workspaceId);
      expect(before).toEqual(["workspace.create", "member.add", "key.create"]);
      expect(await change(made.workspaceId, made)).toBeDefined();
      expect(await actions(made.workspaceId)).toEqual([...before, action]);
      expect(await change(made.workspaceId, made)).toBeUndefined();
      expect(await actions(made.workspaceId)).toEqual([...before, action]);
    },
  );

  test("of a role or a preset records old and new values", async () => {
    const made = await make();
    await updateMember(db.database, made.workspaceId, { id: made.memberId, role: "owner", actor });
    await updateKey(db.database, made.workspaceId, { id: made.keyId, preset: "pro", actor });
    const rows = (await audit(made.workspaceId)).slice(-2);
    expect(rows).toEqual([
      {
        actor,
        action: "member.role",
        subject: made.memberId,
        before: { name: "ada", role: "developer", email: null, is_active: true },
        after: { name: "ada", role: "owner", email: null, is_active: true },
      },
      {
        actor,
        action: "key.preset",
        subject: made.keyId,
        before: { name: "laptop", preset: "free", expires_at: null, tools: null, bodies: null },
        after: { name: "laptop", preset: "pro", expires_at: null, tools: null, bodies: null },
      },
    ]);
  });

  test("fails when its audit row cannot be written", async () => {
    const made = await make();
    const state = (): Promise<object[]> =>
      db.query(
        `select w.is_active, m.role, m.is_active as member_active, k.preset, k.revoked_at,
                (select count(*) from workspace) as workspaces, (select count(*) from member) as members,
                (select count(*) from api_key) as keys,
                (select jsonb_agg(to_jsonb(c)) from fallback_chain c where c.workspace_id = w.id) as chains
         from workspace w join member m on m.workspace_id = w.id join api_key k on k.workspace_id = w.id
         where w.id = $1`,
        [made.workspaceId],
      );
    const before = await state();
    await db.query("alter table audit_log add constraint refused check (false) not valid");
    try {
      const inserts = [
        () => insertWorkspace(db.database, { id: newId(), name: newId(), actor }),
        () => insertMember(db.database, made.workspaceId, { id: newId(), name: "grace", role: "owner", actor }),
        () => makeKey(made.workspaceId, made.memberId),
      ];
      const updates = [...CHANGES, ...NAMED_CHANGES].map(
        ([, change]) =>
          () =>
            change(made.workspaceId, made),
      );
      for (const change of [...inserts, ...updates]) expect(await refusal(change())).toContain("refused");
    } finally {
      await db.query("alter table audit_log drop constraint refused");
    }
    expect(await state()).toEqual(before);
  });

  test("is rolled back together with its audit row", async () => {
    const made = await make();
    const work = db.database.transaction(async (tx) => {
      await revokeKey(tx, made.workspaceId, { id: made.keyId, actor });
      throw new Error("half-way");
    });
    expect(await refusal(work)).toBe("half-way");
    expect(await findKeyByHash(db.database, made.workspaceId, made.sha256)).toMatchObject({ revoked_at: null });
    expect(await actions(made.workspaceId)).not.toContain("key.revoke");
  });
});

describe("under another workspace's id", () => {
  test.each(CHANGES.slice(1))("%s changes nothing", async (_, change) => {
    const [mine, other] = [await make(), await make()];
    expect(await change(other.workspaceId, mine)).toBeUndefined();
    expect(await actions(mine.workspaceId)).toHaveLength(3);
    expect(await actions(other.workspaceId)).toHaveLength(3);
    expect(await findMember(db.database, mine.workspaceId, "ada")).toMatchObject({
      role: "developer",
      is_active: true,
    });
    expect(await listMemberKeys(db.database, mine.workspaceId, mine.memberId)).toMatchObject([
      { preset: "free", revoked_at: null },
    ]);
  });

  test("a chain is deleted in that workspace only", async () => {
    const [mine, other] = [await make(), await make()];
    await deleteFallbackChain(db.database, other.workspaceId, { model: "gone", actor });
    expect(await listFallbackChains(db.database, mine.workspaceId)).toMatchObject([{ model: "gone" }]);
    expect(await actions(mine.workspaceId)).toHaveLength(3);
  });

  test("no key is created for a member", async () => {
    const [mine, other] = [await make(), await make()];
    expect(await refusal(makeKey(other.workspaceId, mine.memberId))).toContain("has no member");
    expect(await listMemberKeys(db.database, other.workspaceId, other.memberId)).toHaveLength(1);
  });

  test("nothing is read", async () => {
    const [mine, other] = [await make(), await make()];
    const sourceId = newId();
    await moveCredits(db.database, {
      workspaceId: mine.workspaceId,
      kind: "top_up",
      amountNano: 5n,
      sourceId,
      note: null,
    });
    const jobId = newId();
    await db.query(
      `insert into usage_record (job_id, attempt, workspace_id, key_id, model, status, units, is_estimated, held,
                                 settled, uncollected, day, tokens, started_at)
       values ($1, 1, $2, $3, 'm', 'failed', '{}', false, 0, 0, 0, current_date, 0, now())`,
      [jobId, mine.workspaceId, mine.keyId],
    );
    await setFallbackChain(db.database, mine.workspaceId, { model: "mine", fallbacks: ["two"], actor });
    const reads = (id: string): Promise<unknown[]> =>
      Promise.all([
        findKeyByHash(db.database, id, mine.sha256).then((row) => row?.id),
        listMemberKeys(db.database, id, mine.memberId).then((rows) => rows[0]?.id),
        pageMembers(db.database, id, { after: null, limit: 10 }).then(
          (rows) => rows.find((row) => row.id === mine.memberId)?.id,
        ),
        findMove(db.database, id, { kind: "top_up", sourceId }).then((row) => row?.source_id),
        pageLedger(db.database, id, { after: null, limit: 10 }).then((rows) => rows[0]?.source_id),
        readBalance(db.database, id).then(({ amount }) => (amount === 0n ? undefined : amount)),
        findUsage(db.database, id, jobId).then((rows) => rows[0]?.job_id),
        listFallbackChains(db.database, id).then((rows) => rows.find(({ model }) => model === "mine")?.model),
        findFallbackChain(db.database, id, "mine").then((row) => row?.model),
      ]);
    const { keyId, memberId } = mine;
    expect(await reads(mine.workspaceId)).toEqual([
      keyId,
      keyId,
      memberId,
      sourceId,
      sourceId,
      5n,
      jobId,
      "mine",
      "mine",
    ]);
    expect(await reads(other.workspaceId)).toEqual(Array.from({ length: 9 }, () => undefined));
  });
});

describe("names", () => {
  test("of workspaces are unique", async () => {
    const made = await make();
    expect(await insertWorkspace(db.database, { id: newId(), name: made.name, actor })).toBeUndefined();
    expect(await findWorkspaceByName(db.database, made.name)).toMatchObject({ id: made.workspaceId });
    expect(await findWorkspaceById(db.database, newId())).toBeUndefined();
  });

  test("of members are unique in a workspace and independent of others", async () => {
    const [mine, other] = [await make(), await make()];
    const grace = { name: "grace", role: "admin", actor } as const;
    expect(await insertMember(db.database, mine.workspaceId, { id: newId(), ...grace })).toMatchObject({
      role: "admin",
    });
    expect(await insertMember(db.database, mine.workspaceId, { id: newId(), ...grace })).toBeUndefined();
    expect(await insertMember(db.database, other.workspaceId, { id: newId(), ...grace })).toBeDefined();
  });
});

describe("a revoked key", () => {
  test("gets no other preset", async () => {
    const made = await make();
    await revokeKey(db.database, made.workspaceId, { id: made.keyId, actor });
    const change = { id: made.keyId, preset: "pro", actor };
    expect(await updateKey(db.database, made.workspaceId, change)).toBeUndefined();
    expect(await listMemberKeys(db.database, made.workspaceId, made.memberId)).toMatchObject([{ preset: "free" }]);
  });
});

describe("dead letters", () => {
  const letter = {
    stream: "POOL_chat",
    streamSeq: 7n,
    subject: "work.chat.live.x",
    messageId: "m-7",
    reason: "undelivered",
    deliveries: 3,
    body: new TextEncoder().encode("hello"),
    jobId: null,
  };

  test("are recorded once for repeated deliveries, and counted until they are deleted", async () => {
    const { workspaceId } = await make();
    const before = await countDeadLetters(db.database);
    await recordDeadLetter(db.database, letter);
    await recordDeadLetter(db.database, letter);
    expect(await countDeadLetters(db.database)).toBe(before + 1);
    const [row] = await listDeadLetters(db.database, 1);
    expect(row).toMatchObject({ stream_seq: 7n, message_id: "m-7", body_bytes: 5 });
    const id = row?.id ?? "";
    expect(await dropDeadLetter(db.database, { id, workspaceId, actor })).toEqual({ id });
    expect(await dropDeadLetter(db.database, { id, workspaceId, actor })).toBeUndefined();
    expect(await countDeadLetters(db.database)).toBe(before);
    expect((await actions(workspaceId)).filter((action) => action === "dead_letter.drop")).toHaveLength(1);
  });

  test("of no known workspace can be deleted too", async () => {
    await recordDeadLetter(db.database, { ...letter, messageId: null });
    const id = (await listDeadLetters(db.database, 1))[0]?.id ?? "";
    expect(await dropDeadLetter(db.database, { id, workspaceId: newId(), actor })).toEqual({ id });
  });
});
