/** The settings of spending over a real database: workspaces with a member and a key of each role. */
import { expect } from "bun:test";

import { createApp, partsOf } from "#ingress/app.ts";
import type { IngressContext } from "#ingress/context.ts";
import type { Route } from "#ingress/core/route.ts";
import type { SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import { type Authenticator, createAuthenticator, type Role } from "#shared/access/authenticate.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { type FakeContext, fakeContext } from "../../fake-context.ts";
import { addPeople, answerOf, type Person, refusalOf, requestTo } from "../managed-bed.ts";

export const ROLES: readonly Role[] = ["owner", "admin", "developer", "billing"];

export interface Team extends Readonly<Record<Role, Person>> {
  readonly id: string;
  /** A second developer. */
  readonly other: Person;
}

export interface SpendBed {
  readonly db: TestDatabase;
  readonly fake: FakeContext;
  readonly authenticator: Authenticator;
  /** Every route of the app. */
  readonly routes: readonly Route[];
  /** Lets what keys are known for grow old. */
  pass(ms: number): void;
  team(nano?: bigint): Promise<Team>;
  send(method: string, path: string, key: string | undefined, body?: unknown, accept?: string): Promise<Response>;
  /** Expects an answer of this status and schema without further members. */
  ask<N extends SchemaName>(
    name: N,
    method: string,
    path: string,
    key: string,
    options?: { readonly body?: unknown; readonly status?: number },
  ): Promise<SchemaTypes[N]>;
  /** Lines of a table without its header, each by the header's names. */
  table(path: string, key: string): Promise<readonly Readonly<Record<string, string>>[]>;
  refusal(
    status: number,
    method: string,
    path: string,
    key: string,
    body?: unknown,
  ): Promise<{ code: string; param: string | null }>;
  close(): Promise<void>;
}

export async function openSpendBed(settings: Partial<IngressContext["config"]> = {}): Promise<SpendBed> {
  const db = await createTestDatabase();
  const fake = fakeContext();
  let clockMs = 1_000_000;
  const authenticator = createAuthenticator({
    database: db.database,
    catalogue: fake.context.catalogue,
    log: createLogger({ level: "silent", role: "test" }),
    now: () => clockMs,
  });
  const config = { ...fake.context.config, storageBytesMax: 1_000, ...settings };
  const context = { ...fake.context, config, authenticator, database: db.database };
  const parts = partsOf(context);
  const app = createApp(context, parts);
  const send: SpendBed["send"] = (method, path, token, body, accept) =>
    app.handle(requestTo(method, path, { token, body, accept }));
  return {
    db,
    fake,
    authenticator,
    routes: parts.routes,
    pass(ms) {
      clockMs += ms;
    },
    async team(nano) {
      const id = await createWorkspace(db.database, nano);
      const people = await addPeople(db, id, [...ROLES, "developer"]);
      const [owner, admin, developer, billing, other] = people as [Person, Person, Person, Person, Person];
      return { id, owner, admin, developer, billing, other };
    },
    send,
    ask: async (name, method, path, key, { body, status = 200 } = {}) =>
      answerOf(name, await send(method, path, key, body), status, [method, path]),
    async table(path, key) {
      const response = await send("GET", path, key, undefined, "text/csv");
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
      const [header = "", ...lines] = (await response.text()).trimEnd().split("\n");
      const names = header.split(",");
      // Good for what has no commas of its own.
      return lines.map((line) => Object.fromEntries(line.split(",").map((cell, index) => [names[index] ?? "", cell])));
    },
    refusal: async (status, method, path, key, body) =>
      refusalOf(await send(method, path, key, body), status, [method, path]),
    async close() {
      fake.close();
      await db.drop();
    },
  };
}
