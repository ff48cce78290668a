/** A database that does not fit the migrations of this version is refused in one sentence, by every role alike. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { run } from "#deploy/embedded/process.mjs";
import { ENTRY, PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const MIGRATION = "0005_jobs.sql";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** Runs a role until it ends by itself; returns its exit code and stderr. Nothing but the database is there. */
async function endOf(...args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: process.env["HOME"] ?? "/",
    DATABASE_URL: db.url,
    NATS_URL: "nats://127.0.0.1:1",
    S3_ENDPOINT: "http://127.0.0.1:1",
    SLUICE_S3_BUCKET: "none",
    AWS_ACCESS_KEY_ID: "none",
    AWS_SECRET_ACCESS_KEY: "none",
    PORT: "0",
    SLUICE_ADMIN_PORT: "0",
    SLUICE_SANDBOX: "on",
  };
  const { code, stderr } = await run({
    name: args.join(" "),
    command: ENTRY[0],
    args: [...ENTRY.slice(1), ...args],
    cwd: PROJECT_ROOT,
    env,
  });
  return { code, stderr };
}

describe("a database created by an earlier text of a migration", () => {
  beforeAll(async () => {
    await db.query("update migration set sha256 = 'of an earlier commit' where name = $1", [MIGRATION]);
  });

  test.each(["migrate", "janitor", "ingress", "worker chat", "admin operator list"])(
    "ends %s with its name and a solution",
    async (line) => {
      const stderr = `sluice: this database was made by a version of Sluice whose migration ${MIGRATION} differs, and cannot be upgraded; use a new database, or for npm start delete its data directory (.sluice, or that of SLUICE_DATA_DIR) with all local data`;
      expect(await endOf(...line.split(" "))).toEqual({ code: 1, stderr });
    },
  );
});

test("a role requires the migrate role if migrations are missing", async () => {
  await db.query("delete from migration where name = $1", [MIGRATION]);
  const stderr = "sluice: the database lacks 1 migrations; run the migrate role first";
  expect(await endOf("janitor")).toEqual({ code: 1, stderr });
});
