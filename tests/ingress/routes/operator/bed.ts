/** The API of operators over a real database: tokens of each scope, a workspace's key, and a clock that tests move. */
import { expect } from "bun:test";

import { createApp } from "#ingress/app.ts";
import type { IngressContext } from "#ingress/context.ts";
import { createOperators } from "#ingress/core/authenticate-operator.ts";
import type { SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import { createAuthenticator } from "#shared/access/authenticate.ts";
import { openCatalogue } from "#shared/calls/catalogue/open.ts";
import type { Config } from "#shared/config/config.ts";
import type { Actor } from "#shared/database/audit-log.ts";
import type { Database } from "#shared/database/client.ts";
import { type Scope, SCOPES } from "#shared/database/operator-tokens.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { makeOperatorToken } from "#shared/operators/tokens.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { type FakeContext, fakeContext } from "../../fake-context.ts";
import { addPerson, answerOf, refusalOf, requestTo } from "../managed-bed.ts";

const TESTER: Actor = { type: "operator", id: "command" };

export interface OperatorBed {
  readonly db: TestDatabase;
  readonly fake: FakeContext;
  readonly context: IngressContext;
  /** One of each scope, called by it. */
  readonly tokens: Readonly<Record<Scope, string>>;
  /** Key of an owner of a workspace. */
  readonly workspaceKey: string;
  /** Statements that were sent. */
  readonly asked: string[];
  /** Lets caches and windows grow old. */
  pass(ms: number): void;
  /** From now on Postgres cannot be reached. */
  loseDatabase(): void;
  send(method: string, path: string, options?: Sent): Promise<Response>;
  /** Sends with the token for everything, and expects an answer of this status and schema without further members. */
  ask<N extends SchemaName>(
    name: N,
    method: string,
    path: string,
    options?: Sent & { readonly status?: number },
  ): Promise<SchemaTypes[N]>;
  /** Sends with the token for everything, and expects a refusal. */
  refusal(
    status: number,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ code: string; param: string | null }>;
  close(): Promise<void>;
}

export interface Sent {
  /** That for everything unless given; null sends none. */
  readonly token?: string | null;
  /** Text is sent as it is. */
  readonly body?: unknown;
  readonly accept?: string;
}

export interface BedOptions {
  readonly settings?: Partial<Pick<Config, "operatorToken" | "operatorAllow">>;
  /** Without tokens but what the settings have. */
  readonly isBare?: boolean;
}

export async function openBed({ settings = {}, isBare = false }: BedOptions = {}): Promise<OperatorBed> {
  const db = await createTestDatabase();
  const log = createLogger({ level: "silent", role: "test" });
  const catalogue = await openCatalogue({ files: [], sandbox: true, providerKey: () => undefined, log });
  const fake = fakeContext();
  const asked: string[] = [];
  let isAway = false;
  const watched: Database = {
    ...db.database,
    query: (text, values, name) => {
      asked.push(text);
      if (isAway) return Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
      return db.database.query(text, values, name);
    },
  };
  let clockMs = 1_000_000;
  const now = (): number => clockMs;
  const config = { operatorToken: undefined, operatorAllow: [], ...settings };
  const context: IngressContext = {
    ...fake.context,
    catalogue,
    database: watched,
    authenticator: createAuthenticator({ database: db.database, catalogue, log, now }),
    operators: createOperators({ database: watched, config, now }),
  };
  const app = createApp(context);
  const made = isBare ? [] : await Promise.all(SCOPES.map(async (scope) => [scope, await tokenOf(db, scope)] as const));
  const tokens = Object.fromEntries(made) as Record<Scope, string>;

  const send: OperatorBed["send"] = (method, path, { token = tokens.money ?? null, ...sent } = {}) =>
    app.handle(requestTo(method, path, { token: token ?? undefined, ...sent }));
  return {
    db,
    fake,
    context,
    tokens,
    workspaceKey: (await addPerson(db, await createWorkspace(db.database, 0n), "owner")).key,
    asked,
    pass(ms) {
      clockMs += ms;
    },
    loseDatabase() {
      isAway = true;
    },
    send,
    async ask(name, method, path, { status = 200, ...options } = {}) {
      const response = await send(method, path, options);
      const isSecret = /"(key|token)":/.test(await response.clone().text());
      expect([path, response.headers.get("cache-control")]).toEqual([path, isSecret ? "no-store" : null]);
      return answerOf(name, response, status, [method, path]);
    },
    refusal: async (status, method, path, body) =>
      refusalOf(await send(method, path, { body }), status, [method, path]),
    async close() {
      fake.close();
      catalogue.close();
      await db.drop();
    },
  };
}

export async function tokenOf(db: TestDatabase, scope: Scope, expiresAt: Date | null = null): Promise<string> {
  const id = newId();
  const made = await makeOperatorToken(db.database, { id, name: `${scope} ${id}`, scope, expiresAt, actor: TESTER });
  if (made.result !== "made") throw new Error(`the token was not made: ${made.result}`);
  return made.token;
}
