/** Common parts of beds over a real database: requests with a token, answers checked against their schemas, people with keys. */
import { expect } from "bun:test";

import components from "#schemas/generated/components.json" with { type: "json" };
import type { SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import type { Role } from "#shared/access/authenticate.ts";
import { parse } from "#shared/json/contracts.ts";
import { newId } from "#shared/base/ids.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";

import { envelopeOf } from "../fake-context.ts";

export interface Person {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
}

/** Returns a request; a body that is text is sent as it is. */
export function requestTo(
  method: string,
  path: string,
  {
    token,
    body,
    accept,
  }: { readonly token?: string | undefined; readonly body?: unknown; readonly accept?: string | undefined },
): Request {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  if (accept !== undefined) headers["accept"] = accept;
  if (body === undefined) return new Request(`http://localhost${path}`, { method, headers });
  headers["content-type"] = "application/json";
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Request(`http://localhost${path}`, { method, headers, body: text });
}

/** Expects an answer of this status and schema without further members. */
export async function answerOf<N extends SchemaName>(
  name: N,
  response: Response,
  status: number,
  asked: readonly [method: string, path: string],
): Promise<SchemaTypes[N]> {
  const value: unknown = await response.json();
  expect([...asked, response.status, value]).toEqual([...asked, status, expect.anything()]);
  expect(strangers(name, value)).toEqual([]);
  return parse(name, value);
}

export async function refusalOf(
  response: Response,
  status: number,
  asked: readonly [method: string, path: string],
): Promise<{ code: string; param: string | null }> {
  expect([...asked, response.status]).toEqual([...asked, status]);
  const { code, param } = await envelopeOf(response);
  return { code, param };
}

/** Adds a member of the role, with a key of its own. */
export async function addPerson(db: TestDatabase, workspaceId: string, role: Role): Promise<Person> {
  const [person] = await addPeople(db, workspaceId, [role]);
  return person as Person;
}

/** Adds a member for each role, every one with a key of its own, in one statement. Returns them in order. */
export async function addPeople(db: TestDatabase, workspaceId: string, roles: readonly Role[]): Promise<Person[]> {
  const people = roles.map((role) => ({ id: newId(), keyId: newId(), key: mintKey(), role }));
  await db.query(
    `with person as (
       select * from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[]) p(id, key_id, role, sha256, hint)
     ), added as (
       insert into member (id, workspace_id, name, role) select id, $1, role || ' ' || id, role from person
     )
     insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
     select key_id, $1, id, 'test', decode(sha256, 'hex'), hint, 'standard' from person`,
    [
      workspaceId,
      people.map(({ id }) => id),
      people.map(({ keyId }) => keyId),
      people.map(({ role }) => role),
      people.map(({ key }) => Buffer.from(hashKey(key)).toString("hex")),
      people.map(({ key }) => keyHint(key)),
    ],
  );
  return people.map(({ id, keyId, key }) => ({ id, keyId, key }));
}

interface SchemaNode {
  readonly $ref?: string;
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

const SCHEMAS = components.schemas as unknown as Readonly<Record<string, SchemaNode>>;

/** Paths of members that a schema does not name: an answer has none. */
export function strangers(name: string, value: unknown): string[] {
  const walk = (node: SchemaNode | undefined, at: unknown, path: string): string[] => {
    if (node?.$ref !== undefined) return walk(SCHEMAS[node.$ref.split("/").at(-1) ?? ""], at, path);
    if (node?.anyOf !== undefined) return at === null ? [] : walk(node.anyOf[0], at, path);
    if (Array.isArray(at)) return at.flatMap((item, index) => walk(node?.items, item, `${path}[${index}]`));
    if (typeof at !== "object" || at === null || node?.properties === undefined) return [];
    const { properties } = node;
    return Object.entries(at).flatMap(([key, member]) =>
      properties[key] === undefined ? [`${path}.${key}`] : walk(properties[key], member, `${path}.${key}`),
    );
  };
  return walk(SCHEMAS[name], value, name);
}
