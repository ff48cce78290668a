/** The last beat of a worker that stops. */
import { expect, test } from "bun:test";

import type { Database } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { openLeases } from "#workers/runner/leases.ts";

test("a worker that stops has no slots, despite a pending heartbeat", async () => {
  const db = await createTestDatabase();
  const late = Promise.withResolvers<void>();
  let beats = 0;
  const query: Database["query"] = async (...asked) => {
    beats += 1;
    if (beats === 1) await late.promise;
    return db.database.query(...asked);
  };
  const worker = newId();
  const log = createLogger({ level: "silent", role: "test" });
  const leases = openLeases({
    context: { database: { ...db.database, query }, log },
    worker,
    pool: "chat",
    lane: "batch",
    slots: 7,
  });
  const closed = leases.close();
  // Time for the last beat to overtake the first.
  await db.query("select 1");
  late.resolve();
  await closed;
  expect(await db.query("select slots from worker_slots where worker = $1", [worker])).toEqual([{ slots: 0 }]);
  await db.drop();
});
