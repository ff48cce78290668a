import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { beginBodies, findBody, markStored } from "#shared/database/kept-bodies.ts";
import { readBodies, resealBodyKeys, sealBodies } from "#shared/kept-bodies/store.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { storeBodies } from "#shared/storage/claim-check.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { listObjects } from "#shared/storage/objects.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";
import { sweepKeptBodies } from "#workers/janitor/kept-bodies.ts";

const OLD_KEY = new Uint8Array(32).fill(1);
const NEW_KEY = new Uint8Array(32).fill(2);
const PART = { media_type: "application/json", bytes: 2, text: '{"a":1}', is_cut: false };
const CALL = { endpoint: "POST /v1/chat/completions", status: 200, request: PART, response: PART };

let db: TestDatabase;
let storage: Storage;
let away: Storage;
let workspaceId = "";

beforeAll(async () => {
  db = await createTestDatabase();
  const { settings } = await createTestBucket();
  storage = openStorage(settings);
  away = openStorage({ ...settings, endpoint: "http://127.0.0.1:9" });
  workspaceId = await createWorkspace(db.database);
});
afterAll(async () => {
  storage?.close();
  away?.close();
  await db?.drop();
});

/** Stores the bodies of a call. @param age hours since they were stored, of the 10 for which they are kept */
async function keep(age: number): Promise<string> {
  const id = { workspaceId, requestId: newId() };
  const { text, sealedKey } = sealBodies(createSealer([OLD_KEY]), id, CALL);
  await beginBodies(db.database, [{ ...id, keyId: newId(), bytes: text.length, sealedKey, hours: 10 }], 10_000_000);
  await markStored(db.database, [{ ...id, reference: await storeBodies(storage, id.requestId, text) }]);
  await db.query(
    `update kept_body set created_at = created_at - $2 * interval '1 hour', expires_at = expires_at - $2 * interval '1 hour'
     where request_id = $1`,
    [id.requestId, age],
  );
  return id.requestId;
}

async function kept(): Promise<{ readonly rows: string[]; readonly objects: string[]; readonly counted: boolean }> {
  const rows = await db.query<{ id: string }>("select request_id as id from kept_body order by request_id");
  const { objects } = await listObjects(storage, "bodies/", undefined, 1_000);
  const [count] = await db.query<{ is_equal: boolean }>(
    `select s.bytes = coalesce((select sum(b.bytes) from kept_body b where b.workspace_id = s.workspace_id), 0) as is_equal
     from kept_body_storage s`,
  );
  return {
    rows: rows.map(({ id }) => id),
    objects: objects.map(({ key }) => key.slice("bodies/".length)).toSorted(),
    counted: count?.is_equal === true,
  };
}

const HOURS_MAX = 720;

test("expired bodies are deleted with their objects, and their storage is free; others stay", async () => {
  const young = await keep(9);
  await keep(11);
  expect(await sweepKeptBodies({ database: db.database, storage }, HOURS_MAX)).toBe(1);
  expect(await kept()).toEqual({ rows: [young], objects: [young], counted: true });
});

test("while the object store is away, rows stay, because they name the objects", async () => {
  const id = await keep(11);
  const sweep = sweepKeptBodies({ database: db.database, storage: away }, HOURS_MAX);
  expect(await sweep.then(() => "swept", () => "failed")).toBe("failed"); // prettier-ignore
  expect((await kept()).rows).toContain(id);
}, 60_000);

test("the operator's bound deletes older bodies, and 0 deletes all", async () => {
  const young = await keep(1);
  await keep(5);
  await sweepKeptBodies({ database: db.database, storage }, 4);
  expect(await kept()).toEqual({ rows: [young], objects: [young], counted: true });
  await sweepKeptBodies({ database: db.database, storage }, 0);
  expect(await kept()).toEqual({ rows: [], objects: [], counted: true });
});

test("bodies of a revoked key expire like others", async () => {
  const id = await keep(11);
  await db.query("update kept_body set key_id = $2 where request_id = $1", [id, newId()]);
  await sweepKeptBodies({ database: db.database, storage }, HOURS_MAX);
  expect((await kept()).rows).toEqual([]);
});

test("after a rotation of the master key, bodies are readable with the new key alone", async () => {
  const requestId = await keep(0);
  const find = async () => findBody(db.database, { workspaceId, requestId, memberId: null });
  const row = await find();
  if (row === undefined) throw new Error("the body is not kept");
  const rotated = createSealer([NEW_KEY]);
  expect(await readBodies({ storage, sealer: createSealer([OLD_KEY]) }, row)).toEqual(CALL);
  expect(await readBodies({ storage, sealer: rotated }, row).then(() => "read", () => "failed")).toBe("failed"); // prettier-ignore
  expect(await resealBodyKeys(db.database, createSealer([NEW_KEY, OLD_KEY]))).toBe(1);
  expect(await resealBodyKeys(db.database, createSealer([NEW_KEY, OLD_KEY]))).toBe(0);
  expect(await readBodies({ storage, sealer: rotated }, (await find()) ?? row)).toEqual(CALL);
  // Bodies are bound to their request.
  const foreign = { ...row, request_id: newId() };
  expect(await readBodies({ storage, sealer: createSealer([OLD_KEY]) }, foreign).then(() => "read", () => "failed")).toBe("failed"); // prettier-ignore
});
