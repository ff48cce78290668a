/** The public key with which processes without the master key encrypt, before, during and after a rotation of the master key. */
import { randomBytes } from "node:crypto";

import { afterAll, beforeEach, expect, test } from "bun:test";

import { findPublishedKey } from "#shared/database/service-secrets.ts";
import { openSealer, publishedSealer } from "#shared/secrets/open-sealer.ts";
import { type SealedPlace, sealingKeyId } from "#shared/secrets/sealed.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

let db: TestDatabase | undefined;
beforeEach(async () => {
  await db?.drop();
  db = await createTestDatabase();
});
afterAll(() => db?.drop());

const database = () => {
  if (db === undefined) throw new Error("expected a database");
  return db.database;
};
const [FIRST, SECOND, THIRD] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const PLACE: SealedPlace = { workspaceId: "w", table: "kept_body", row: "r", field: "sealed_key" };

/** Starts a process with these master keys, the current one first. */
const start = (...secretsKeys: Buffer[]) => openSealer({ production: true, secretsKeys }, database());
const published = async () => (await findPublishedKey(database()))?.id;

test("a process with earlier settings that starts last does not publish the earlier key again", async () => {
  expect(await publishedSealer(database()).then(() => "", String)).toContain("no process has published a key");
  await start(FIRST);
  expect(await published()).toBe(sealingKeyId(FIRST));
  const rotated = await start(SECOND, FIRST);
  expect(await published()).toBe(sealingKeyId(SECOND));
  await start(FIRST);
  expect(await published()).toBe(sealingKeyId(SECOND));
  await start(THIRD, SECOND, FIRST);
  await start(SECOND, FIRST);
  await start(FIRST);
  expect(await published()).toBe(sealingKeyId(THIRD));
  const sealed = (await publishedSealer(database())).seal(PLACE, "text");
  expect((await start(THIRD)).open(PLACE, sealed)).toBe("text");
  expect(() => rotated.open(PLACE, sealed)).toThrow(`with the key ${sealingKeyId(THIRD)}, which is not set`);
});

test("whichever process starts first, the later key is published", async () => {
  for (let round = 0; round < 20; round++) {
    await database().query("delete from sealing_key");
    const processes = [[FIRST], [SECOND, FIRST], [FIRST], [THIRD, SECOND, FIRST], [SECOND, FIRST]];
    await Promise.all(processes.map((keys) => start(...keys)));
    expect(await published()).toBe(sealingKeyId(THIRD));
  }
});

test("a key that names the published one as earlier replaces it, also when it was published before", async () => {
  await start(FIRST);
  await start(SECOND, FIRST);
  await start(FIRST, SECOND);
  expect(await published()).toBe(sealingKeyId(FIRST));
  await start(SECOND, FIRST);
  expect(await published()).toBe(sealingKeyId(SECOND));
});

test("a key without earlier keys replaces a key that was lost", async () => {
  await start(FIRST);
  await start(SECOND);
  expect(await published()).toBe(sealingKeyId(SECOND));
});
