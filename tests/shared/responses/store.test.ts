import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { ListObjectsCommand } from "@aws-sdk/client-s3";

import { responseOf } from "#ingress/core/response-object.ts";
import type { Viewer } from "#shared/database/viewer.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { ONCE } from "#shared/storage/outage.ts";
import { callOfItem, callOfResponse, responseId } from "#shared/responses/ids.ts";
import {
  CONVERSATION_RESPONSES_MAX,
  createResponseStore,
  FOUND_BYTES_MAX,
  type ResponseStore,
} from "#shared/responses/store.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { listResponseTexts } from "#shared/storage/claim-check.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { TIME_SLICE_MS } from "#shared/base/time-slices.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { admitLone, settleGroup, settleSingle } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";
import { sweepResponses, sweepResponseTexts } from "#workers/janitor/claims.ts";

let db: TestDatabase;
let storage: Storage;
let store: ResponseStore;
const log = createLogger({ level: "silent", role: "test" });

beforeAll(async () => {
  const [opened, bucket] = await Promise.all([createTestDatabase(), createTestBucket()]);
  db = opened;
  storage = openStorage(bucket.settings);
  store = createResponseStore({ database: db.database, storage, sealer: createSealer([new Uint8Array(32)]), log });
}, 120_000);

afterAll(async () => {
  storage.close();
  await db.drop();
});

interface Owner {
  readonly id: string;
  readonly keyId: string;
  readonly viewer: Viewer;
}

async function openOwner(): Promise<Owner> {
  const { id, keyId } = await createWorkspace(db, { creditsNano: 10n });
  const [row] = await db.query<{ member_id: string }>("select member_id from api_key where id = $1", [keyId]);
  return { id, keyId, viewer: { workspaceId: id, memberId: row?.member_id ?? "", seesAll: false } };
}

interface How {
  readonly id?: string;
  readonly previous?: string;
  readonly hours?: number;
  readonly isHeld?: boolean;
}

async function keep(owner: Owner, text: string, { id = newId(), previous, hours = 1, isHeld = false }: How = {}) {
  const body = { model: "m", input: text, previous_response_id: previous === undefined ? null : responseId(previous) };
  const response = { ...responseOf(body, id, 1_000), status: "completed" as const };
  const input = [{ type: "message", role: "user", id: "msg_1", content: [{ type: "input_text", text }] }];
  await store.keep({ call: { id, workspaceId: owner.id, keyId: owner.keyId }, response, input, hours, isHeld }, ONCE);
  return id;
}

const LARGE = "large ".repeat(20_000);
const textsOf = async (owner: Owner, id: string): Promise<unknown> => {
  const chain = await store.findChain(owner.viewer, id);
  return typeof chain === "string" ? chain : chain.map(({ input }) => JSON.stringify(input).slice(-20, -4).trim());
};
/** The same storage, all of whose objects are two hours old. */
function aged(): Storage {
  const send = async (command: ListObjectsCommand, options: object) => {
    const answer = await storage.client.send(command, options);
    for (const object of answer.Contents ?? []) object.LastModified = new Date(Date.now() - 2 * 3_600_000);
    return answer;
  };
  return { ...storage, client: { send } as unknown as Storage["client"] };
}

const storedTexts = async (): Promise<string[]> =>
  (await Array.fromAsync(listResponseTexts(storage))).flat().map(({ jobId }) => jobId);

describe("a stored response", () => {
  test.each([
    ["small", "secret words"],
    ["large", LARGE],
  ])("is returned with its input, and is stored encrypted: %s", async (_name, text) => {
    const owner = await openOwner();
    const id = await keep(owner, text);
    const found = (await store.find(owner.viewer, [id, newId()])).get(id);
    expect(found?.response).toMatchObject({ id: responseId(id), status: "completed" });
    expect(JSON.stringify(found?.input)).toContain(text);
    const [row] = await db.query<{ row: string }>("select row_to_json(r)::text as row from response r where id = $1", [id]); // prettier-ignore
    expect(row?.row).not.toContain("words");
    expect((await storedTexts()).includes(id)).toBe(text === LARGE);
  });

  test("exists for its member, for owners and admins, and for no other workspace", async () => {
    const [owner, other] = await Promise.all([openOwner(), openOwner()]);
    const id = await keep(owner, "mine");
    const seen = async (viewer: Viewer): Promise<boolean> =>
      (await store.find(viewer, [id])).size > 0 && (await store.findChain(viewer, id)) !== "gone";
    expect(await seen(owner.viewer)).toBe(true);
    expect(await seen({ ...owner.viewer, memberId: newId() })).toBe(false);
    expect(await seen({ ...owner.viewer, memberId: newId(), seesAll: true })).toBe(true);
    expect(await seen({ ...other.viewer, seesAll: true })).toBe(false);
    expect(await store.delete({ ...other.viewer, seesAll: true }, id)).toBeUndefined();
    expect(await store.delete({ ...owner.viewer, memberId: newId() }, id)).toBeUndefined();
    expect(await seen(owner.viewer)).toBe(true);
  });

  test("of another member is in no chain of a member without access", async () => {
    const owner = await openOwner();
    const admin = { ...owner.viewer, memberId: newId(), seesAll: true };
    await db.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'admin', 'admin')", [admin.memberId, owner.id]); // prettier-ignore
    const first = await keep(owner, "theirs");
    // The admin continued the conversation of the member, and is a developer now.
    const second = await keep(owner, "mine", { previous: first });
    await db.query("update response set member_id = $2 where id = $1", [second, admin.memberId]);
    const said = async (viewer: Viewer): Promise<unknown> => {
      const chain = await store.findChain(viewer, second);
      return typeof chain === "string" ? chain : chain.length;
    };
    expect(await said(admin)).toBe(2);
    expect(await said({ ...admin, seesAll: false })).toBe("gone");
  });

  test("is stored once, for any number of attempts", async () => {
    const owner = await openOwner();
    const id = newId();
    const response = responseOf({ model: "m", input: "x" }, id, 1_000);
    const call = { id, workspaceId: owner.id, keyId: owner.keyId };
    const kept = { call, response: { ...response, status: "completed" as const }, input: [LARGE], hours: 1 };
    await store.keep(kept, ONCE);
    await store.keep(kept, ONCE);
    expect((await store.find(owner.viewer, [id])).get(id)?.input as unknown[]).toEqual([LARGE]);
  });

  test.each(["alone", "in a group"])(
    "fails when its call is released %s, and is restored when that is charged later",
    async (how) => {
      const owner = await openOwner();
      const [given, paid, own] = [newId(), newId(), await keep(owner, "the ingress's own")];
      for (const id of [given, paid]) await admitLone(db.database, { workspaceId: owner.id, jobId: id, amount: 2n });
      for (const id of [given, paid]) await keep(owner, "secret", { id, isHeld: true });
      const statusOf = async (id: string) => {
        const [found, chain] = await Promise.all([store.find(owner.viewer, [id]), store.findChain(owner.viewer, id)]);
        const { status, output } = found.get(id)?.response ?? {};
        return [status, output, typeof chain === "string" ? chain : "found"];
      };
      const ended = [{ jobId: given }, { jobId: paid, used: 1n }];
      if (how === "alone") for (const one of ended) await settleSingle(db.database, one);
      else await settleGroup(db.database, ended);
      expect(await statusOf(given)).toEqual(["failed", [], "gone"]);
      for (const id of [paid, own]) expect(await statusOf(id)).toEqual(["completed", [], "found"]);
      await db.query("select settle_delivered($1, $2, 1::smallint, 1, 'a/b', '{}', false, 0)", [owner.id, given]);
      expect(await statusOf(given)).toEqual(["completed", [], "found"]);
    },
  );

  test("is not stored for a call whose hold is closed", async () => {
    const owner = await openOwner();
    const id = newId();
    const late = (): Promise<unknown> => keep(owner, LARGE, { id, isHeld: true }).catch((error: unknown) => error);
    expect(await late()).toMatchObject({ message: "the call of the response was given up" });
    await admitLone(db.database, { workspaceId: owner.id, jobId: id, amount: 2n });
    await settleSingle(db.database, { jobId: id, used: 1n });
    expect(await late()).toBeInstanceOf(Error);
    expect((await store.find(owner.viewer, [id])).size).toBe(0);
  });

  test("is found at any size, and several up to a total size", async () => {
    const owner = await openOwner();
    const ids = [await keep(owner, "one"), await keep(owner, "two")];
    const sizes = (bytes: number) => db.query(`update response set bytes = ${bytes} where id = any(array['${ids.join("', '")}']::uuid[])`); // prettier-ignore
    await sizes(FOUND_BYTES_MAX / 2);
    expect((await store.find(owner.viewer, ids)).size).toBe(2);
    await sizes(FOUND_BYTES_MAX / 2 + 1);
    expect(await store.find(owner.viewer, ids).catch((error: unknown) => error)).toMatchObject({ code: "invalid_request", param: "input" }); // prettier-ignore
    await sizes(FOUND_BYTES_MAX + 1);
    expect((await store.find(owner.viewer, ids.slice(1))).size).toBe(1);
  });

  test("is decrypted when memory is available", async () => {
    const owner = await openOwner();
    const one = await keep(owner, LARGE);
    const two = await keep(owner, "more", { previous: one });
    const asked: number[] = [];
    const room = (bytes: number): Promise<void> => Promise.resolve(void asked.push(bytes));
    await store.find(owner.viewer, [one], room);
    await store.findChain(owner.viewer, two, room);
    const [found = 0, chain = 0] = asked;
    expect([found > LARGE.length, chain > found, asked.length]).toEqual([true, true, 2]);
    const full = store.findChain(owner.viewer, two, () => Promise.reject(new Error("no room")));
    expect(await full.catch(String)).toContain("no room");
  });

  test("is deleted with its text", async () => {
    const owner = await openOwner();
    const id = await keep(owner, LARGE);
    expect(await store.delete(owner.viewer, id)).toEqual({ isQueued: false });
    expect(await store.delete(owner.viewer, id)).toBeUndefined();
    expect((await store.find(owner.viewer, [id])).size).toBe(0);
    expect(await storedTexts()).not.toContain(id);
  });
});

describe("a conversation", () => {
  test("is returned oldest first", async () => {
    const owner = await openOwner();
    const one = await keep(owner, "one");
    const two = await keep(owner, "two", { previous: one });
    const three = await keep(owner, "three", { previous: two });
    expect(await textsOf(owner, three)).toHaveLength(3);
    const chain = await store.findChain(owner.viewer, three);
    expect(typeof chain === "string" ? chain : chain.map(({ response }) => callOfResponse(response.id))).toEqual([one, two, three]); // prettier-ignore
  });

  test("ends with a missing response: deleted, expired, or another member's", async () => {
    const owner = await openOwner();
    const one = await keep(owner, "one");
    const two = await keep(owner, "two", { previous: one });
    await db.query("update response set expires_at = now() where id = $1", [one]);
    expect(await textsOf(owner, two)).toBe("gone");
    await db.query("update response set expires_at = now() + interval '1 hour' where id = $1", [one]);
    expect(await textsOf(owner, two)).toHaveLength(2);
    await store.delete(owner.viewer, one);
    expect(await textsOf(owner, two)).toBe("gone");
    expect(await textsOf(owner, newId())).toBe("gone");
    const stranger = await openOwner();
    expect(await textsOf(stranger, await keep(stranger, "x", { previous: two }))).toBe("gone");
  });

  test("is decrypted in slices, between which other work runs", async () => {
    const owner = await openOwner();
    let last = await keep(owner, "0");
    for (let at = 1; at < 5; at++) last = await keep(owner, String(at), { previous: last });
    const sealer = createSealer([new Uint8Array(32)]);
    let turns = 0;
    const opened: number[] = [];
    const open: typeof sealer.open = (place, sealed) => {
      opened.push(turns);
      // Longer than a slice.
      Bun.sleepSync(TIME_SLICE_MS + 1);
      return sealer.open(place, sealed);
    };
    const slow = createResponseStore({ database: db.database, storage, sealer: { ...sealer, open }, log });
    const timer = setInterval(() => turns++, 0);
    const chain = await slow.findChain(owner.viewer, last);
    clearInterval(timer);
    expect(chain).toHaveLength(5);
    expect(new Set(opened).size).toBe(5);
  });

  test("has limits", async () => {
    const owner = await openOwner();
    let last = await keep(owner, "0");
    const bounded = async (): Promise<boolean> => (await store.findChain(owner.viewer, last)) !== "long";
    const copy = async (count: number): Promise<void> => {
      // Copies of one row open nowhere else: they are only counted.
      for (let left = count; left > 0; left--) {
        const id = newId();
        await db.query(
          `insert into response (id, workspace_id, member_id, previous_id, model, status, bytes, sealed, sealed_by, expires_at)
           select $1, workspace_id, member_id, id, model, status, bytes, sealed, sealed_by, expires_at from response where id = $2`,
          [id, last],
        );
        last = id;
      }
    };
    await copy(CONVERSATION_RESPONSES_MAX);
    expect(await bounded()).toBe(false);
    last = await keep(owner, LARGE);
    await db.query("update response set bytes = 4194304 where id = $1", [last]);
    expect(await bounded()).toBe(true);
    await db.query("update response set bytes = 4194305 where id = $1", [last]);
    expect(await bounded()).toBe(false);
  });
});

describe("events of a response", () => {
  const open = async (owner: Owner): Promise<{ id: string; workspaceId: string }> => {
    const id = newId();
    const response = responseOf({ model: "m", input: "x", background: true }, id, 1_000);
    const call = { id, workspaceId: owner.id, keyId: owner.keyId };
    await store.keep(
      { call, response: { ...response, status: "queued" }, input: [], hours: 1, keepsEvents: true },
      ONCE,
    );
    return { id, workspaceId: owner.id };
  };

  test("are returned in their order, after any of them, each once", async () => {
    const call = await open(await openOwner());
    await store.keepEvents(call, { first: 4, last: 4, text: "c" }, ONCE);
    await store.keepEvents(call, { first: 2, last: 3, text: "a b" }, ONCE);
    await store.keepEvents(call, { first: 2, last: 3, text: "again" }, ONCE);
    const read = async (after: number) => (await store.readEvents(call, after)).map(({ text }) => text);
    expect([await read(-1), await read(2), await read(3), await read(4)]).toEqual([["a b", "c"], ["a b", "c"], ["c"], []]); // prettier-ignore
    expect(await store.read(call.id)).toMatchObject({ keepsEvents: true, isBackground: true, lastEvent: 4 });
    const other = await open(await openOwner());
    expect(await store.readEvents(other, -1)).toEqual([]);
  });

  test.each([
    ["queued", "queued"],
    ["running", "in_progress"],
    // Its ingress died before it could forget it.
    ["refused", "failed"],
  ])("are expected while the job runs: %s", async (state, status) => {
    const call = await open(await openOwner());
    await db.query(
      `insert into job (id, workspace_id, pool, lane, kind, modality, state, deadline, work)
       values ($1, $2, 'chat', 'live', 'chat', 'text', $3, now() + interval '1 hour', '{}')`,
      [call.id, call.workspaceId, state],
    );
    expect(await store.read(call.id)).toMatchObject({ response: { status } });
    expect(await store.readState(call.id)).toEqual({ isUnderWay: status !== "failed", lastEvent: 1 });
  });

  test("lose none when an unconfirmed piece is repeated with its successors", async () => {
    const call = await open(await openOwner());
    await store.keepEvents(call, { first: 2, last: 3, text: "a b" }, ONCE);
    await store.keepEvents(call, { first: 2, last: 5, text: "a b c d" }, ONCE);
    await store.keepEvents(call, { first: 2, last: 3, text: "a b" }, ONCE);
    expect(await store.readEvents(call, 3)).toEqual([{ first: 2, last: 5, text: "a b c d" }]);
  });

  test("are read a megabyte at a time, and their number without the text of the response", async () => {
    const call = await open(await openOwner());
    // Without a job it has lost its work.
    expect(await store.readState(call.id)).toEqual({ isUnderWay: false, lastEvent: 1 });
    const large = "x".repeat(1_200_000);
    for (const [first, text] of [large, "b", "c", large, "e"].entries()) {
      await store.keepEvents(call, { first: first + 2, last: first + 2, text }, ONCE);
    }
    const read = async (after: number) => (await store.readEvents(call, after)).map(({ first }) => first);
    expect([await read(-1), await read(2), await read(4)]).toEqual([[2], [3, 4], [5]]);
    expect([await store.readState(call.id), await store.readState(newId())]).toEqual([{ isUnderWay: false, lastEvent: 6 }, undefined]); // prettier-ignore
  });

  test("are deleted with it, and all together an hour after the last of them", async () => {
    const [gone, kept, over] = [await open(await openOwner()), await open(await openOwner()), await open(await openOwner())]; // prettier-ignore
    for (const call of [gone, kept, over]) {
      await store.keepEvents(call, { first: 2, last: 2, text: "a" }, ONCE);
      await store.keepEvents(call, { first: 3, last: 3, text: "b" }, ONCE);
    }
    await db.query("delete from response where id = $1", [gone.id]);
    await db.query("update response_event set created_at = now() - interval '61 minutes' where response_id = $1 or (response_id = $2 and first = 2)", [over.id, kept.id]); // prettier-ignore
    await sweepResponses({ storage, database: db.database, log });
    const count = async (call: { id: string; workspaceId: string }) => (await store.readEvents(call, -1)).length;
    expect([await count(gone), await count(kept), await count(over)]).toEqual([0, 2, 0]);
    await store.keepEvents(gone, { first: 4, last: 4, text: "too late" }, ONCE);
    expect(await count(gone)).toBe(0);
  });
});

describe("the janitor", () => {
  test("deletes expired responses, with their texts", async () => {
    const owner = await openOwner();
    const [over, fresh] = [await keep(owner, LARGE), await keep(owner, LARGE)];
    await db.query("update response set expires_at = now() where id = $1", [over]);
    await sweepResponses({ storage, database: db.database, log });
    expect([...(await store.find(owner.viewer, [over, fresh])).keys()]).toEqual([fresh]);
    expect(await storedTexts()).not.toContain(over);
    expect(await storedTexts()).toContain(fresh);
  });

  test.each([
    ["many", { countMax: 2, bytesMax: 1_000_000 }],
    ["large", { countMax: 10, bytesMax: 4_000 }],
  ])("deletes the oldest of a workspace that has too %s", async (_name, bounds) => {
    const [owner, other] = await Promise.all([openOwner(), openOwner()]);
    const kept = [await keep(owner, "a"), await keep(owner, "b"), await keep(owner, "c")];
    const theirs = await keep(other, "d");
    await db.query("update response set bytes = 2000 where workspace_id = $1", [owner.id]);
    await sweepResponses({ storage, database: db.database, log }, bounds);
    expect(new Set((await store.find(owner.viewer, kept)).keys())).toEqual(new Set(kept.slice(1)));
    expect((await store.find(other.viewer, [theirs])).size).toBe(1);
  });

  test("deletes old texts without a response", async () => {
    const owner = await openOwner();
    const [orphan, kept] = [await keep(owner, LARGE), await keep(owner, LARGE)];
    await db.query("delete from response where id = $1", [orphan]);
    const sweep = (from: Storage): Promise<number> =>
      sweepResponseTexts({ storage: from, database: db.database, log }, 2);
    expect(await sweep(storage)).toBe(0);
    // Texts of other tests may be among them.
    expect(await sweep(aged())).toBeGreaterThan(0);
    expect(await storedTexts()).not.toContain(orphan);
    expect(await storedTexts()).toContain(kept);
  });
});

test("ids of responses and items name their call, and other ids do not", () => {
  const id = newId();
  const hex = id.replaceAll("-", "");
  expect(callOfResponse(responseId(id))).toBe(id);
  for (const item of [`msg_${hex}_0`, `fc_${hex}_12`, `ctco_${hex}_i3`]) expect(callOfItem(item)).toBe(id);
  for (const other of ["", "resp_", `resp_${hex}0`, `RESP_${hex}`, `resp_${hex.slice(1)}`, "msg_123", `msg_${hex}0`]) {
    expect(callOfResponse(other)).toBeUndefined();
    expect(other.startsWith("msg") ? callOfItem(other) : undefined).toBeUndefined();
  }
});
