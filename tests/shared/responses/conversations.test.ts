import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { ResponsesItem } from "#schemas/generated/types.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { Viewer } from "#shared/database/viewer.ts";
import type { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { ONCE } from "#shared/storage/outage.ts";
import {
  type ConversationStore,
  createConversationStore,
  type KeptConversation,
  withOwnIds,
} from "#shared/responses/conversations.ts";
import { conversationId, uuidOfConversation } from "#shared/responses/ids.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { CONVERSATION_BYTES_MAX } from "#shared/responses/store.ts";
import { resealStored } from "#shared/responses/reseal.ts";
import { deleteClaim, listResponseTexts } from "#shared/storage/claim-check.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";
import { sweepResponses } from "#workers/janitor/claims.ts";

let db: TestDatabase;
let storage: Storage;
let store: ConversationStore;
const log = createLogger({ level: "silent", role: "test" });

beforeAll(async () => {
  const [opened, bucket] = await Promise.all([createTestDatabase(), createTestBucket()]);
  db = opened;
  storage = openStorage(bucket.settings);
  store = createConversationStore({ database: db.database, storage, sealer: createSealer([new Uint8Array(32)]), log });
}, 120_000);

afterAll(async () => {
  storage.close();
  await db.drop();
});

interface Owner extends Viewer {
  readonly memberId: string;
  readonly workspace: Workspace;
}

async function openOwner(): Promise<Owner> {
  const workspace = await createWorkspace(db, { creditsNano: 1n });
  const [row] = await db.query<{ member_id: string }>("select member_id from api_key where id = $1", [workspace.keyId]);
  return { workspace, workspaceId: workspace.id, memberId: row?.member_id ?? "", seesAll: false };
}

const item = (text: string): ResponsesItem => ({ type: "message", role: "user", id: `msg_${newId().replaceAll("-", "")}_i0`, content: text }); // prettier-ignore
const textsOf = (kept: KeptConversation | "held" | undefined): unknown =>
  typeof kept === "object" ? kept.items.map((one) => ("content" in one ? one.content : one.type)) : kept;
const create = (owner: Owner, ...texts: string[]): Promise<KeptConversation> =>
  store.create(owner, { metadata: {}, items: texts.map(item) }, 1);
const add = (owner: Owner, id: string, text: string): Promise<KeptConversation | undefined> =>
  store.change(owner, id, 1, (kept) => ({ ...kept, items: [...kept.items, item(text)] }));
const LARGE = "large ".repeat(20_000);
const storedTexts = async (): Promise<string[]> =>
  (await Array.fromAsync(listResponseTexts(storage))).flat().map(({ jobId }) => jobId);

describe("a conversation", () => {
  test("loses none of its concurrent changes", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, "0");
    const texts = ["1", "2", "3", "4"];
    await Promise.all(texts.map((text) => add(owner, id, text)));
    expect((textsOf(await store.find(owner, id)) as string[]).toSorted()).toEqual(["0", ...texts]);
  });

  test("loses none either when it is large, and its text was replaced", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, LARGE);
    const call = newId();
    await store.take(owner, id, call);
    const texts = ["1", "2", "3"];
    const reads = Array.from({ length: 5 }, () => store.find(owner, id));
    await Promise.all([
      ...texts.map((text) => add(owner, id, text)),
      store.append(id, call, [item("4")], 1, ONCE),
      ...reads,
    ]);
    const [first, ...rest] = textsOf(await store.find(owner, id)) as string[];
    expect([first, rest.toSorted()]).toEqual([LARGE, [...texts, "4"]]);
  });

  test("whose text was deleted by a change is read again, and one whose text is lost is not", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, LARGE);
    let isOvertaken = false;
    const database: Queryable = {
      async query(text, values, name) {
        const rows = await db.database.query(text, values, name);
        if (name === "find_conversation" && !isOvertaken) {
          isOvertaken = true;
          const [row] = rows as unknown as { reference: string }[];
          await add(owner, id, "more");
          await deleteClaim(storage, row?.reference ?? "");
        }
        return rows as never;
      },
    };
    const overtaken = createConversationStore({ database, storage, sealer: createSealer([new Uint8Array(32)]), log });
    expect(textsOf(await overtaken.find(owner, id))).toEqual([LARGE, "more"]);
    const [row] = await db.query<{ reference: string }>("select reference from conversation where id = $1", [id]);
    await deleteClaim(storage, row?.reference ?? "");
    expect(await store.find(owner, id).catch(() => "lost")).toBe("lost");
  });

  test("that others keep changing is a conflict, and no attempt leaves data", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, LARGE);
    const database: Queryable = {
      async query(text, values, name) {
        if (name === "change_conversation")
          await db.query("update conversation set version = version + 1 where id = $1", [id]);
        return db.database.query(text, values, name);
      },
    };
    const busy = createConversationStore({ database, storage, sealer: createSealer([new Uint8Array(32)]), log });
    const change = busy.change(owner, id, 1, (kept) => ({ ...kept, items: [...kept.items, item("more")] }));
    expect(await change.catch((error: unknown) => error)).toMatchObject({ code: "conflict" });
    await eventually("one text is left", async () => (await storedTexts()).filter((one) => one === id).length === 1);
  });

  test("is limited in size, also by concurrent changes, and may shrink from more", async () => {
    const owner = await openOwner();
    const half = "x".repeat(CONVERSATION_BYTES_MAX / 2 - 1_000);
    const { id } = await create(owner, "first");
    const codes = async (...works: Promise<unknown>[]): Promise<unknown[]> =>
      (await Promise.allSettled(works)).flatMap((one) =>
        one.status === "rejected" ? [(one.reason as ApiError).code] : [],
      );
    const [one, two] = [newId(), newId()];
    await store.take(owner, id, one);
    const append = store.append(id, one, [item(half)], 1, ONCE);
    expect(await codes(append, add(owner, id, half), add(owner, id, half))).toEqual(["invalid_request"]);
    await store.release(id, one, true);
    expect((await store.find(owner, id))?.bytes).toBeLessThanOrEqual(CONVERSATION_BYTES_MAX);
    expect(textsOf(await store.find(owner, id))).toEqual(["first", half, half]);
    expect(await codes(add(owner, id, half))).toEqual(["invalid_request"]);
    await eventually(
      "no refused text is left",
      async () => (await storedTexts()).filter((one) => one === id).length === 1,
    );
    await db.query("update conversation set bytes = bytes * 3 where id = $1", [id]);
    expect((await store.change(owner, id, 1, (kept) => ({ ...kept, items: kept.items.slice(1) })))?.items).toHaveLength(
      2,
    );
    const items = Array.from({ length: 4_998 }, () => item(""));
    expect((await store.take(owner, id, two)) === "held").toBe(false);
    expect(await codes(store.append(id, two, items, 1, ONCE), add(owner, id, ""))).toEqual(["invalid_request"]);
  }, 30_000);

  test("stores one text in the object store, and none when it is deleted", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, LARGE);
    await add(owner, id, "more");
    await eventually(
      "the earlier text is gone",
      async () => (await storedTexts()).filter((one) => one === id).length === 1,
    );
    expect(textsOf(await store.find(owner, id))).toEqual([LARGE, "more"]);
    expect([await store.delete(owner, id), await store.delete(owner, id)]).toEqual([true, false]);
    await eventually("its text is gone", async () => !(await storedTexts()).includes(id));
  });

  test("expires a fixed time after its last change", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, "a");
    await db.query("update conversation set expires_at = now() + interval '1 minute' where id = $1", [id]);
    await add(owner, id, "b");
    const [row] = await db.query("select expires_at > now() + interval '59 minutes' as is_later from conversation where id = $1", [id]); // prettier-ignore
    expect(row).toEqual({ is_later: true });
    await db.query("update conversation set expires_at = now() where id = $1", [id]);
    expect([await store.find(owner, id), await add(owner, id, "c"), await store.take(owner, id, newId())]).toEqual([undefined, undefined, undefined]); // prettier-ignore
  });
});

describe("a conversation locked by a call", () => {
  const takenBy = async (owner: Owner, id: string, call: string): Promise<boolean> => (await store.take(owner, id, call)) !== "held"; // prettier-ignore
  const late = (id: string) => db.query("update conversation set held_until = now() where id = $1", [id]);
  const hold = (owner: Owner, call: string) =>
    db.query(
      `insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline)
       values ($1, 1, $2, $3, 'm', 0, false, current_date, 0, now() + interval '1 hour')`,
      [call, owner.workspaceId, owner.workspace.keyId],
    );

  test("is locked for others, until it is appended to or released", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, "a");
    const [one, two] = [newId(), newId()];
    expect(await takenBy(owner, id, one)).toBe(true);
    expect([await takenBy(owner, id, two), await takenBy(owner, id, one)]).toEqual([false, true]);
    await store.release(id, two, true);
    expect(await takenBy(owner, id, two)).toBe(false);
    await store.append(id, one, [item("b")], 1, ONCE);
    expect(textsOf(await store.take(owner, id, two))).toEqual(["a", "b"]);
    await store.release(id, two, false);
    expect(await takenBy(owner, id, one)).toBe(true);
  });

  test("is appended to once, and never by a call that has lost its lock", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, "a");
    const [lost, next] = [newId(), newId()];
    await takenBy(owner, id, lost);
    await late(id);
    expect(await takenBy(owner, id, next)).toBe(true);
    await store.append(id, lost, [item("late")], 1, ONCE);
    await store.append(id, next, [item("b")], 1, ONCE);
    await store.append(id, next, [item("b again")], 1, ONCE);
    expect(textsOf(await store.find(owner, id))).toEqual(["a", "b"]);
  });

  test("is locked by one of two concurrent calls", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, "a");
    const taken = await Promise.all([newId(), newId(), newId()].map((call) => takenBy(owner, id, call)));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  test("is unlocked without a release, once its minute is over and its hold is closed", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, "a");
    const [lost, next] = [newId(), newId()];
    await takenBy(owner, id, lost);
    await hold(owner, lost);
    await late(id);
    await store.release(id, lost, false);
    expect(await takenBy(owner, id, next)).toBe(false);
    await db.query("delete from hold where job_id = $1", [lost]);
    expect(await takenBy(owner, id, next)).toBe(true);
  });

  test("that is deleted meanwhile is not appended to", async () => {
    const owner = await openOwner();
    const { id } = await create(owner, "a");
    const call = newId();
    await takenBy(owner, id, call);
    await store.delete(owner, id);
    await store.append(id, call, [item("b")], 1, ONCE);
    expect(await store.find(owner, id)).toBeUndefined();
  });
});

test("the janitor deletes expired conversations, and the oldest of a workspace above the limit", async () => {
  const owner = await openOwner();
  const kept = [
    await create(owner, LARGE),
    await create(owner, "b"),
    await create(owner, "c"),
    await create(owner, "d"),
  ];
  await db.query("update conversation set expires_at = now() where id = $1", [kept[0]?.id ?? ""]);
  await sweepResponses({ storage, database: db.database, log }, { countMax: 2, bytesMax: 1_000_000 });
  const found = await Promise.all(kept.map(async ({ id }) => (await store.find(owner, id)) !== undefined));
  expect(found).toEqual([false, false, true, true]);
  expect(await storedTexts()).not.toContain(kept[0]?.id);
});

test("a key rotation encrypts texts again, completely, and once; unreadable ones stay", async () => {
  await db.query("delete from conversation");
  const owner = await openOwner();
  const kept = [await create(owner, "small"), await create(owner, LARGE), await create(owner, LARGE)];
  const next = createSealer([new Uint8Array(32).fill(1), new Uint8Array(32)]);
  const context = { database: db.database, sealer: next };
  // The object of the last one is lost.
  const [lost] = await db.query<{ reference: string }>("select reference from conversation where id = $1", [kept[2]?.id ?? ""]); // prettier-ignore
  await deleteClaim(storage, lost?.reference ?? "");
  expect(await resealStored({ ...context, storage: undefined })).toMatchObject({ unreadable: 2 });
  expect(await resealStored({ ...context, storage })).toEqual({ sealed: 1, unreadable: 1 });
  expect(await resealStored({ ...context, storage })).toEqual({ sealed: 0, unreadable: 1 });
  const anew = createSealer([new Uint8Array(32).fill(1)]);
  const read = createConversationStore({ database: db.database, storage, sealer: anew, log });
  expect(textsOf(await read.find(owner, kept[0]?.id ?? ""))).toEqual(["small"]);
  expect(textsOf(await read.find(owner, kept[1]?.id ?? ""))).toEqual([LARGE]);
  expect((await storedTexts()).filter((one) => one === kept[1]?.id)).toHaveLength(1);
});

test("items have ids of their own", () => {
  const one = item("a");
  const again = withOwnIds([one], [one, one, { type: "compaction", encrypted_content: "" }, item("b")]);
  const ids = [one, ...again].map(({ id }) => id);
  expect(new Set(ids).size).toBe(5);
  expect(ids[1]).toMatch(/^msg_[0-9a-f]{32}_i0$/);
  expect(ids[3]).toMatch(/^item_[0-9a-f]{32}_i2$/);
});

test("ids of conversations name their row", () => {
  const id = newId();
  expect(uuidOfConversation(conversationId(id))).toBe(id);
  for (const other of ["", "conv_", "conv_1", `resp_${id.replaceAll("-", "")}`]) expect(uuidOfConversation(other)).toBeUndefined(); // prettier-ignore
});
