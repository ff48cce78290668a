/** Shared parts of settings tests, on top of their bed: the audit log, pages read to their end, and rows that need no route. */
import { expect } from "bun:test";

import { parse } from "#shared/json/contracts.ts";
import type { Actor } from "#shared/database/audit-log.ts";
import { newId } from "#shared/base/ids.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { sealAll } from "#shared/notifications/channel-secrets.ts";

import { type Person, strangers } from "../managed-bed.ts";
import type { SpendBed, Team } from "./spend-bed.ts";

/** A good answer of a route: its status is declared, and it is what the schema of that says, without further members. */
export function expectDeclared(
  { routes }: SpendBed,
  method: string,
  path: string,
  status: number,
  value: unknown,
): void {
  const asked = path.split("?")[0]?.split("/") ?? [];
  const route = routes.find((one) => {
    const parts = one.path.split("/");
    return (
      one.method === method &&
      parts.length === asked.length &&
      parts.every((part, index) => part.startsWith("{") || part === asked[index])
    );
  });
  const schema = route?.responses[status]?.schema;
  if (schema === undefined) throw new Error(`${method} ${path} declares no schema of its ${status}`);
  parse(schema, value);
  expect(strangers(schema, value)).toEqual([]);
}

export interface AuditLine {
  readonly action: string;
  readonly subject: string;
  readonly actor: Actor;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns the audit log of the workspace, in order. */
export function auditOf({ db }: SpendBed, { id }: Pick<Team, "id">): Promise<AuditLine[]> {
  return db.query<AuditLine>(
    "select action, subject, actor, before, after from audit_log where workspace_id = $1 order by id",
    [id],
  );
}

/** Sends a change, and expects one line of the audit log that names the person, its key and the request. */
export async function audited(
  bed: SpendBed,
  team: Team,
  person: Person,
  change: { readonly method: string; readonly path: string; readonly body?: unknown; readonly status?: number },
): Promise<AuditLine & { readonly answer: Readonly<Record<string, unknown>> }> {
  const earlier = await auditOf(bed, team);
  const response = await bed.send(change.method, change.path, person.key, change.body);
  const answer = (await response.json()) as Record<string, unknown>;
  expect([change.method, response.status, answer]).toEqual([change.method, change.status ?? 200, expect.anything()]);
  expectDeclared(bed, change.method, change.path, response.status, answer);
  const [line, ...more] = (await auditOf(bed, team)).slice(earlier.length);
  expect(more).toEqual([]);
  if (line === undefined) throw new Error(`${change.method} ${change.path}: the audit log does not tell of it`);
  expect(line.actor).toEqual({
    type: "member",
    id: person.id,
    key_id: person.keyId,
    request_id: response.headers.get("x-request-id") ?? "",
  });
  return { ...line, answer };
}

interface ListAnswer {
  readonly data: readonly { readonly id: string }[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Ids of all entries, page by page. */
export async function walk(read: (query: string) => Promise<ListAnswer>, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let after = ""; ;) {
    const page = await read(`limit=${limit}${after}`);
    const own = page.data.map(({ id }) => id);
    expect([page.first_id, page.last_id]).toEqual([own[0] ?? null, own.at(-1) ?? null]);
    ids.push(...own);
    if (!page.has_more) return ids;
    expect(own).toHaveLength(limit);
    after = `&after=${page.last_id}`;
  }
}

/** The same key as that of the bed's context. */
const SEALER = createSealer([new Uint8Array(32)]);

/** A webhook channel that nobody asked for over HTTP. */
export async function putChannel(
  { db }: SpendBed,
  team: Team,
  maker: Person,
  { enabled = true }: { readonly enabled?: boolean } = {},
): Promise<string> {
  const id = newId();
  const sealed = sealAll(
    SEALER,
    { workspaceId: team.id, id },
    { url: "https://hooks.example.com/hidden/abcd", signingSecret: `whsec_${id}` },
  );
  await db.query(
    `insert into notification_channel (id, workspace_id, type, name, enabled, config, sealed, created_by)
     values ($1, $2, 'webhook', $3, $4, $5::jsonb, $6::jsonb, $7)`,
    [
      id,
      team.id,
      `hook ${id}`,
      enabled,
      JSON.stringify({ url: "https://hooks.example.com/…abcd" }),
      JSON.stringify(sealed),
      maker.id,
    ],
  );
  return id;
}

export interface DeliveryFacts {
  readonly status?: string;
  readonly event?: string;
  readonly createdAt?: Date;
}

export async function putDelivery(
  { db }: SpendBed,
  team: Pick<Team, "id">,
  channelId: string,
  { status = "failed", event = "test", createdAt = new Date() }: DeliveryFacts = {},
): Promise<string> {
  const id = newId();
  await db.query(
    `insert into delivery (id, workspace_id, channel_id, event, body, status, created_at, next_at, ended_at)
     values ($1, $2, $3, $4, '{}', $5::text, $6, case when $5::text = 'pending' then now() end, case when $5::text <> 'pending' then now() end)`,
    [id, team.id, channelId, event, status, createdAt],
  );
  return id;
}

export async function putKey(
  { db }: SpendBed,
  team: Pick<Team, "id">,
  person: Pick<Person, "id">,
  { preset = "standard", expiresAt = null }: { readonly preset?: string; readonly expiresAt?: Date | null } = {},
): Promise<string> {
  const id = newId();
  await db.query(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset, expires_at)
     values ($1, $2, $3, 'put', sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'slk_…', $4, $5)`,
    [id, team.id, person.id, preset, expiresAt],
  );
  return id;
}

export async function putMember(
  { db }: SpendBed,
  team: Pick<Team, "id">,
  { role = "developer", email = null }: { readonly role?: string; readonly email?: string | null } = {},
): Promise<string> {
  const id = newId();
  await db.query("insert into member (id, workspace_id, name, role, email) values ($1, $2, $3, $4, $5)", [
    id,
    team.id,
    `member ${id}`,
    role,
    email,
  ]);
  return id;
}

export async function putSubscription(
  { db }: SpendBed,
  team: Pick<Team, "id">,
  channelId: string,
  event = "run.failed",
): Promise<string> {
  const id = newId();
  await db.query("insert into subscription (id, workspace_id, channel_id, event) values ($1, $2, $3, $4)", [
    id,
    team.id,
    channelId,
    event,
  ]);
  return id;
}

/** Bodies that no route takes, and what is said of them. */
export const BAD_BODIES: readonly (readonly [body: unknown, status: number, code: string])[] = [
  ["{", 400, "invalid_json"],
  ["[]", 400, "invalid_request"],
  ["null", 400, "invalid_request"],
  ['{"name": "twice", "name": "again"}{}', 400, "invalid_json"],
  [`{"name": "${"x".repeat(70_000)}"}`, 413, "request_too_large"],
];

/** Names that nobody may have, though a schema lets some of them through. */
export const BAD_NAMES: readonly unknown[] = [
  "",
  " led",
  "trailed ",
  "two\nlines",
  "nul\u0000",
  "\u2028",
  "\ud800",
  "x".repeat(65),
  "🐦".repeat(65),
  7,
  null,
];

/** Not ids, as a path may have them. */
export const BAD_IDS: readonly string[] = [
  "x",
  "00000000-0000-0000-0000-00000000000",
  "00000000-0000-0000-0000-00000000000g",
  "%00",
  "%27%20or%20true--",
  `urn:uuid:${newId()}`,
  "a".repeat(2_000),
];
