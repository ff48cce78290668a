/** /workspaces/{workspaceId}/api-keys. A key is shown in the answer that made it, and never again. */
import type {
  ApiKey,
  ApiKeyCreateRequest,
  ApiKeyList,
  ApiKeyRotateRequest,
  ApiKeyUpdateRequest,
  Deleted,
} from "#schemas/generated/types.ts";
import {
  findKey,
  insertKey,
  type KeySummary,
  pageKeys,
  replaceKey,
  revokeKey,
  updateKey,
} from "#shared/database/api-keys.ts";
import { findMemberById, type MemberRole, type MemberRow } from "#shared/database/members.ts";
import { inTurn } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/errors.ts";
import { newId } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";

import { json, NEVER_KEPT } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow, isAbove } from "../../roles.ts";
import { errorsOf } from "../../route-errors.ts";
import { actorOf, callerOf, type Route, type RouteCall } from "../../serve.ts";
import { createdId, optionalBody, parsedBody, pathId, plainName, reusedId } from "../../settings/body.ts";
import { LIST_QUERY, listOf, pageOf, timeOf } from "../../settings/page.ts";
import { isWithin } from "./workspace.ts";

const LIST = "/workspaces/{workspaceId}/api-keys";
const ONE = `${LIST}/{keyId}`;

export function apiKeys(context: IngressContext): readonly Route[] {
  const common = {
    tags: ["Workspace settings"],
    auth: "key",
    authorize: allow("owner", "admin", "developer"),
  } as const satisfies Partial<Route>;
  const key = { schema: "ApiKey" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: LIST,
      operationId: "listApiKeys",
      summary: "List API keys",
      description: "A developer sees its own.",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of keys", schema: "ApiKeyList" } },
      errors: ["not_found", "unsupported_value"],
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "POST",
      path: LIST,
      operationId: "createApiKey",
      summary: "Make an API key",
      description:
        "The answer shows the key, this once. Owners and admins make keys for any member who is not above them, developers for " +
        "themselves. A key that ends makes none that ends later. A repeat with the same `id` and body is answered 200, without the key.",
      request: { schema: "ApiKeyCreateRequest" },
      responses: {
        200: { description: "It was made before", ...key },
        201: { description: "The key", ...key },
      },
      errors: errorsOf(["reads_json"], "not_found", "permission_denied", "conflict", "idempotency_key_reused"),
      handle: (call) => create(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getApiKey",
      summary: "Read about an API key",
      responses: { 200: { description: "The key, masked", ...key } },
      errors: ["not_found"],
      handle: async (call) => json(present(await find(context, call))),
    },
    {
      ...common,
      method: "PATCH",
      path: ONE,
      operationId: "updateApiKey",
      summary: "Change an API key",
      description: "In force everywhere within a second.",
      request: { schema: "ApiKeyUpdateRequest" },
      responses: { 200: { description: "The key as it is now", ...key } },
      errors: errorsOf(["reads_json"], "not_found", "permission_denied", "conflict"),
      handle: (call) => update(context, call),
    },
    {
      ...common,
      method: "DELETE",
      path: ONE,
      operationId: "revokeApiKey",
      summary: "Revoke an API key",
      description: "It is refused everywhere within a second, for good. It stays in the list.",
      responses: { 200: { description: "It is revoked", schema: "Deleted" } },
      errors: ["not_found", "permission_denied"],
      handle: (call) => revoke(context, call),
    },
    {
      ...common,
      method: "POST",
      path: `${ONE}/rotate`,
      operationId: "rotateApiKey",
      summary: "Replace an API key",
      description:
        "Makes a key with the same name, member and preset, and ends the old one, at once or after an overlap.",
      request: { schema: "ApiKeyRotateRequest", isOptional: true },
      responses: { 201: { description: "The new key", ...key } },
      errors: errorsOf(["reads_json"], "not_found", "permission_denied", "conflict"),
      handle: (call) => rotate(context, call),
    },
  ];
}

async function list(context: IngressContext, call: RouteCall): Promise<Response> {
  const { workspaceId, memberId, role } = callerOf(call);
  const page = pageOf(call);
  const rows = await pageKeys(context.database, workspaceId, {
    after: page.after,
    limit: page.limit + 1,
    memberId: role === "developer" ? memberId : null,
  });
  return json(listOf(rows, page, present) satisfies ApiKeyList);
}

async function create(context: IngressContext, call: RouteCall): Promise<Response> {
  const body: ApiKeyCreateRequest = await parsedBody(call, "ApiKeyCreateRequest");
  const { workspaceId, memberId, preset } = callerOf(call);
  const owner = await memberFor(context, call, body.member_id?.toLowerCase() ?? memberId);
  const ownEnd = await endOfCaller(context, call);
  const expiresAt = endOf(body.expires_at) ?? ownEnd;
  if (isLater(expiresAt, ownEnd)) throw outlives();
  const wanted = {
    id: createdId(body),
    name: plainName(body.name),
    memberId: owner.id,
    preset: presetOf(context, call, body.preset ?? preset.name),
    expiresAt,
  };
  const key = mintKey();
  const kept = { ...wanted, sha256: hashKey(key), hint: keyHint(key), actor: actorOf(call) };
  const made = await inTurn(context.database, workspaceId, (tx) => insertKey(tx, workspaceId, kept));
  if (made === "too_many") throw tooMany();
  const row = await findKey(context.database, workspaceId, wanted.id);
  if (row === undefined) throw reusedId();
  if (made === "made") return json({ ...present(row), key }, NEVER_KEPT, 201);
  const isSame =
    row.name === wanted.name &&
    row.member_id === owner.id &&
    row.preset === wanted.preset &&
    row.expires_at?.getTime() === wanted.expiresAt?.getTime();
  if (!isSame) throw reusedId();
  return json(present(row));
}

async function update(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await findToChange(context, call);
  const body: ApiKeyUpdateRequest = await parsedBody(call, "ApiKeyUpdateRequest");
  if (row.revoked_at !== null) throw revoked();
  const expiresAt = body.expires_at === undefined ? undefined : (endOf(body.expires_at) ?? null);
  if (expiresAt !== undefined && isLater(expiresAt, row.expires_at)) {
    checkMayOutlive(callerOf(call).role, row.expires_at);
    if (isLater(expiresAt, await endOfCaller(context, call))) throw outlives();
  }
  await updateKey(context.database, callerOf(call).workspaceId, {
    id: row.id,
    actor: actorOf(call),
    ...(body.name === undefined ? {} : { name: plainName(body.name) }),
    ...(body.preset === undefined ? {} : { preset: presetOf(context, call, body.preset) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  return json(present(await find(context, call)));
}

async function revoke(context: IngressContext, call: RouteCall): Promise<Response> {
  const { id } = await findToChange(context, call);
  await revokeKey(context.database, callerOf(call).workspaceId, { id, actor: actorOf(call) });
  return json({ id, deleted: true } satisfies Deleted);
}

async function rotate(context: IngressContext, call: RouteCall): Promise<Response> {
  const old = await findToChange(context, call);
  const body: ApiKeyRotateRequest = await optionalBody(call, "ApiKeyRotateRequest");
  presetOf(context, call, old.preset);
  if (!old.is_member_active) throw memberDisabled();
  if (isLater(old.expires_at, await endOfCaller(context, call))) throw outlives(null);
  const { workspaceId } = callerOf(call);
  const key = mintKey();
  const id = newId();
  const next = { id, oldId: old.id, sha256: hashKey(key), hint: keyHint(key), actor: actorOf(call) };
  const overlapSeconds = body.overlap_seconds ?? 0;
  const made = await inTurn(context.database, workspaceId, (tx) =>
    replaceKey(tx, workspaceId, { ...next, overlapSeconds }),
  );
  if (made === "too_many") throw tooMany();
  if (made === "over") throw over();
  const row = await findKey(context.database, workspaceId, id);
  if (row === undefined) throw noKey();
  return json({ ...present(row), key }, NEVER_KEPT, 201);
}

/** A developer's own keys are all there is to it. */
async function find(context: IngressContext, call: RouteCall): Promise<KeySummary> {
  const { workspaceId, memberId, role } = callerOf(call);
  const row = await findKey(context.database, workspaceId, pathId(call, "keyId", noKey));
  if (row === undefined || (role === "developer" && row.member_id !== memberId)) throw noKey();
  return row;
}

/** @throws ApiError `permission_denied` for the key of a member above the caller */
async function findToChange(context: IngressContext, call: RouteCall): Promise<KeySummary> {
  const row = await find(context, call);
  if (!isAbove(callerOf(call).role, row.role)) throw above(row.role);
  return row;
}

/** For whom a key is made. @throws ApiError */
async function memberFor(context: IngressContext, call: RouteCall, id: string): Promise<MemberRow> {
  const { workspaceId, memberId, role } = callerOf(call);
  const member = await findMemberById(context.database, workspaceId, id);
  if (member === undefined) {
    throw new ApiError("not_found", "There is no such member.", { param: "member_id" });
  }
  if (role === "developer" && member.id !== memberId) {
    throw new ApiError("permission_denied", "A developer makes keys for itself only.", { param: "member_id" });
  }
  if (!isAbove(role, member.role)) throw above(member.role);
  if (!member.is_active) throw memberDisabled("member_id");
  return member;
}

/** @throws ApiError `unsupported_value`; `permission_denied` for one that is wider than the caller's own */
function presetOf(context: IngressContext, call: RouteCall, name: string): string {
  const preset = context.catalogue.current().presets.get(name);
  if (preset === undefined) {
    throw new ApiError("unsupported_value", "There is no such preset; GET …/presets lists those there are.", {
      param: "preset",
    });
  }
  if (!isWithin(preset, callerOf(call).preset)) {
    throw new ApiError(
      "permission_denied",
      `The preset ${name} is wider than ${callerOf(call).preset.name}, that of the key that asks.`,
      { param: "preset" },
    );
  }
  return name;
}

/** An end may have been set for a developer by those above. @throws ApiError `permission_denied` */
function checkMayOutlive(role: MemberRole, end: Date | null): void {
  if (role !== "developer" || end === null) return;
  throw new ApiError("permission_denied", "A developer may bring the end of a key forward only.", {
    param: "expires_at",
  });
}

/** Returns the end of the calling key. Keys that it makes or replaces end no later, or its holder could outlast that end. */
async function endOfCaller(context: IngressContext, call: RouteCall): Promise<Date | null> {
  const { workspaceId, keyId } = callerOf(call);
  const row = await findKey(context.database, workspaceId, keyId);
  if (row === undefined) throw noKey();
  return row.expires_at;
}

/** Null is no end at all. */
function isLater(end: Date | null, other: Date | null): boolean {
  return other !== null && (end === null || end > other);
}

/** @throws ApiError `unsupported_value` for a time that has passed */
function endOf(text: string | null | undefined): Date | undefined {
  if (text === null || text === undefined) return undefined;
  const time = timeOf(text);
  if (time !== undefined && time.getTime() > Date.now()) return time;
  throw new ApiError("unsupported_value", "Expected expires_at to be a time to come.", { param: "expires_at" });
}

function present(row: KeySummary): ApiKey {
  return {
    object: "api_key",
    id: row.id,
    name: row.name,
    hint: row.hint,
    member: { id: row.member_id, name: row.member, role: row.role },
    preset: row.preset,
    status: statusOf(row),
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

function statusOf(row: KeySummary): ApiKey["status"] {
  if (row.revoked_at !== null) return "revoked";
  if (row.is_expired) return "expired";
  return row.is_member_active ? "active" : "disabled";
}

function memberDisabled(param: string | null = null): ApiError {
  return new ApiError("conflict", "The member is disabled; its keys would be refused.", { param });
}

function noKey(): ApiError {
  return new ApiError("not_found", "There is no such key.");
}

function outlives(param: string | null = "expires_at"): ApiError {
  return new ApiError("permission_denied", "The key that asks has an end, and gives no key a later one.", { param });
}

function over(): ApiError {
  return new ApiError("conflict", "The key is revoked or has expired; make a new one.");
}

function revoked(): ApiError {
  return new ApiError("conflict", "The key is revoked, and stays so.");
}

function above(role: string): ApiError {
  return new ApiError("permission_denied", `The key is one of a member with the role ${role}, which is above yours.`);
}

function tooMany(): ApiError {
  return new ApiError("conflict", `A workspace has at most ${LIMITS.keysPerWorkspaceMax} keys; revoke one first.`);
}
