/** /workspaces/{workspaceId}/api-keys: manages API keys. The key itself is returned only once, in the response that creates it. */
import type { ApiKey, ApiKeyCreateRequest } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { type Held, type Limits, NO_LIMITS, withLimits, withOwnLimits } from "#shared/access/limits.ts";
import { isWithinTools } from "#shared/access/tools.ts";
import { CATEGORIES } from "#shared/calls/capabilities/entry.ts";
import { findCapability } from "#shared/calls/capabilities/list.ts";
import {
  findKey,
  insertKey,
  KEYS_PER_WORKSPACE_MAX,
  type KeySummary,
  lockKey,
  pageKeys,
  replaceKey,
  revokeKey,
  updateKey,
} from "#shared/database/api-keys.ts";
import { findMemberById, type MemberRole, type MemberRow } from "#shared/database/members.ts";
import { withWorkspaceLock } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import type { Queryable } from "#shared/database/client.ts";
import { repeatSpendChange } from "#shared/ledger/spend-limits.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";

import { json, NEVER_KEPT } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow, isAbove } from "../../core/roles.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import { actorOf, callerOf } from "../../core/caller.ts";
import type { Route } from "../../core/route.ts";
import { keyBodiesOf, presentBodies } from "./body-setting.ts";
import { createdId, optionalBody, plainName } from "./body.ts";
import { textIn, timeOf } from "../../core/page.ts";
import { checkMayGrant, checkMayReplace, limitsAsked, limitsOfCaller, presentHeld, storeLimits } from "./limits.ts";
import { type ChangeRequest, type Created, createdOnce, findToChange, resource, type Rows } from "./resource.ts";
import { isWithin } from "./workspace.ts";

const GATE = {
  tags: ["Workspace settings"],
  auth: "key",
  authorize: allow("owner", "admin", "developer"),
} as const satisfies Partial<Route>;

/** Key with its limits. */
type LimitedKey = KeySummary & Held;

export function apiKeys(context: IngressContext): readonly Route[] {
  const { database } = context;
  const rows = rowsOf(context);
  return [
    ...resource({
      ...rows,
      schema: "ApiKey",
      readers: GATE,
      writers: GATE,
      present,
      list: {
        operationId: "listApiKeys",
        summary: "List API keys",
        description: "Lists the keys of the workspace. A developer sees only own keys.",
        answer: "A page of keys",
        query: [
          {
            name: "search",
            description:
              "Part of the name in upper or lower case, or the first characters of the key as in `hint`. Default: all keys.",
            schema: { type: "string", maxLength: 200 },
          },
        ],
        async page({ workspaceId, memberId, role }, page, call) {
          const owner = role === "developer" ? memberId : null;
          const filter = { ...page, memberId: owner, search: textIn(call, "search") };
          return withLimits(database, workspaceId, await pageKeys(database, workspaceId, filter));
        },
      },
      create: {
        operationId: "createApiKey",
        summary: "Create API key",
        description:
          "Returns the secret key once. Owners and admins create keys for members without a higher role, " +
          "developers for themselves. An expiring key cannot create a key that expires later, and a key with a " +
          "tool list cannot create a key with other tools. A key with limits cannot create a key with wider limits, " +
          "and a key with a credit limit cannot create keys. A member with limits cannot create keys of other members " +
          "that may do more. A repeat with the same `id` and body returns 200 " +
          "without the secret key.",
        answer: "The created key with its secret",
        repeated: "The key, created by an earlier request",
        errors: ["permission_denied", "model_not_found"],
        make: (caller, asked) => make(context, caller, asked),
      },
      get: { operationId: "getApiKey", summary: "Retrieve API key", answer: "The key without its secret" },
      update: {
        operationId: "updateApiKey",
        summary: "Update API key",
        description:
          "The change takes effect within a second. `limits` replaces all limits of the key; null removes them. " +
          "Developers can only tighten limits that are set.",
        answer: "The updated key",
        errors: ["permission_denied", "model_not_found"],
        change: (caller, row, asked) => change(context, caller, row, asked),
      },
      remove: {
        operationId: "revokeApiKey",
        summary: "Revoke API key",
        description: "Revokes the key permanently within a second. The key stays in the list.",
        answer: "The confirmation",
        errors: ["permission_denied"],
        async end({ workspaceId }, { id }, actor) {
          await revokeKey(database, workspaceId, { id, actor });
          return true;
        },
      },
    }),
    {
      ...GATE,
      method: "POST",
      path: `${rows.path}/rotate`,
      operationId: "rotateApiKey",
      summary: "Rotate API key",
      description:
        "Creates a key with the same name, member, preset, tools and limits, and revokes the old key immediately or " +
        "after an overlap. Both keys share one spend: the new key continues with what the old key has left.",
      request: { schema: "ApiKeyRotateRequest", isOptional: true },
      responses: { 201: { description: "The new key with its secret", schema: "ApiKey" } },
      errors: errorsOf(["reads_json"], "not_found", "permission_denied", "conflict"),
      handle: (call: RouteCall) => rotate(context, call),
    },
  ];
}

function rowsOf({ database }: IngressContext): Rows<Caller, LimitedKey> {
  return {
    path: "/workspaces/{workspaceId}/api-keys/{keyId}",
    within: callerOf,
    /** Finds a key of the workspace. A developer finds only the keys of that developer. */
    async find({ workspaceId, memberId, role }, id) {
      const row = await findLimitedKey(database, workspaceId, id);
      return role === "developer" && row?.member_id !== memberId ? undefined : row;
    },
    unknown: noKey,
    checkMayChange(caller, row) {
      if (!isAbove(caller.role, row.role)) throw above(row.role);
    },
  };
}

async function make(
  context: IngressContext,
  caller: Caller,
  { body, text, actor }: ChangeRequest<"ApiKeyCreateRequest">,
): Promise<Created<LimitedKey>> {
  const { workspaceId, memberId, preset } = caller;
  const owner = await memberFor(context, caller, body.member_id?.toLowerCase() ?? memberId);
  const ownEnd = await endOfCaller(context, caller);
  const expiresAt = endOf(body.expires_at) ?? ownEnd;
  if (isLater(expiresAt, ownEnd)) throw outlives();
  const limits = await grantedLimits(context, caller, owner.id, { asked: body.limits, text });
  const wanted = {
    id: createdId(body),
    name: plainName(body.name),
    memberId: owner.id,
    preset: presetOf(context, caller, body.preset ?? preset.name),
    expiresAt,
    tools: body.tools === undefined ? ((caller.tools && [...caller.tools]) ?? null) : toolsOf(caller, body.tools),
    bodies: body.bodies == null ? null : keyBodiesOf(context, caller, body.bodies),
  };
  const key = mintKey();
  const kept = { ...wanted, sha256: hashKey(key), hint: keyHint(key), actor };
  const insert = (): Promise<Awaited<ReturnType<typeof insertKey>>> =>
    withWorkspaceLock(context.database, workspaceId, async (tx) => {
      const outcome = await insertKey(tx, workspaceId, kept);
      const row = { id: wanted.id, access_lists: null };
      if (outcome === "made")
        await storeLimits(tx, workspaceId, { kind: "key", row, before: NO_LIMITS, after: limits, actor });
      return outcome;
    });
  const created = await createdOnce(await repeatSpendChange(insert), {
    find: () => findLimitedKey(context.database, workspaceId, wanted.id),
    asked: {
      name: wanted.name,
      member_id: owner.id,
      preset: wanted.preset,
      expires_at: wanted.expiresAt,
      tools: wanted.tools,
      bodies: wanted.bodies,
      limits,
    },
    refusals: { too_many: tooMany },
  });
  return { ...created, oneTimeFields: { key } };
}

async function change(
  context: IngressContext,
  caller: Caller,
  row: LimitedKey,
  { body, text, actor }: ChangeRequest<"ApiKeyUpdateRequest">,
): Promise<LimitedKey | undefined> {
  if (row.revoked_at !== null) throw revoked();
  const expiresAt = body.expires_at === undefined ? undefined : (endOf(body.expires_at) ?? null);
  if (expiresAt !== undefined && isLater(expiresAt, row.expires_at)) {
    checkMayOutlive(caller.role, row.expires_at);
    if (isLater(expiresAt, await endOfCaller(context, caller))) throw outlives();
  }
  const { database, catalogue } = context;
  const { workspaceId } = caller;
  const limits = body.limits === undefined ? undefined : limitsAsked(body.limits, text, catalogue.current());
  const changed = {
    id: row.id,
    actor,
    ...(body.name === undefined ? {} : { name: plainName(body.name) }),
    ...(body.preset === undefined ? {} : { preset: presetOf(context, caller, body.preset) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(body.tools === undefined ? {} : { tools: toolsOf(caller, body.tools) }),
    ...(body.bodies === undefined ? {} : { bodies: keyBodiesOf(context, caller, body.bodies) }),
  };
  const update = async (tx: Queryable): Promise<void> => {
    await updateKey(tx, workspaceId, changed);
    if (limits === undefined) return;
    const locked = await lockKey(tx, workspaceId, row.id);
    if (locked === undefined) return;
    const current = await withOwnLimits(tx, workspaceId, locked);
    await checkMayReplace(tx, caller, { current: current.limits, next: limits, memberId: row.member_id });
    await storeLimits(tx, workspaceId, { kind: "key", row: current, before: current.limits, after: limits, actor });
  };
  if (limits === undefined) await update(database);
  else await repeatSpendChange(() => database.transaction(update));
  return findLimitedKey(database, workspaceId, row.id);
}

async function findLimitedKey(target: Queryable, workspaceId: string, id: string): Promise<LimitedKey | undefined> {
  const row = await findKey(target, workspaceId, id);
  return row && withOwnLimits(target, workspaceId, row);
}

/**
 * Returns the limits of a new key. Default: the lists of the creating key.
 * @throws ApiError `permission_denied` if the key could spend more than the creating key
 */
async function grantedLimits(
  { catalogue, database }: IngressContext,
  caller: Caller,
  memberId: string,
  { asked, text }: { readonly asked: ApiKeyCreateRequest["limits"]; readonly text: string },
): Promise<Limits> {
  const own = await limitsOfCaller(database, caller);
  const limits = asked === undefined ? own : limitsAsked(asked, text, catalogue.current());
  await checkMayGrant(database, caller, { memberId, limits, param: "limits" });
  return limits;
}

async function rotate(context: IngressContext, call: RouteCall): Promise<Response> {
  const { within: caller, row: old } = await findToChange(rowsOf(context), call);
  const body = await optionalBody(call, "ApiKeyRotateRequest");
  presetOf(context, caller, old.preset);
  checkWithin(caller, old.tools, null);
  if (old.id !== caller.keyId) {
    await checkMayGrant(context.database, caller, { memberId: old.member_id, limits: old.limits, param: null });
  }
  if (!old.is_member_active) throw memberDisabled();
  if (isLater(old.expires_at, await endOfCaller(context, caller))) throw outlives(null);
  const { workspaceId } = caller;
  const key = mintKey();
  const id = newId();
  const next = { id, oldId: old.id, sha256: hashKey(key), hint: keyHint(key), actor: actorOf(call) };
  const overlapSeconds = body.overlap_seconds ?? 0;
  const outcome = await withWorkspaceLock(context.database, workspaceId, (tx) =>
    replaceKey(tx, workspaceId, { ...next, overlapSeconds }),
  );
  if (outcome === "too_many") throw tooMany();
  if (outcome === "over") throw over();
  const row = await findLimitedKey(context.database, workspaceId, id);
  if (row === undefined) throw noKey();
  return json({ ...present(row), key }, NEVER_KEPT, 201);
}

/** Checks that the caller may create a key for a member, and returns that member. @throws ApiError */
async function memberFor(
  { database }: IngressContext,
  { workspaceId, memberId, role }: Caller,
  id: string,
): Promise<MemberRow> {
  const member = await findMemberById(database, workspaceId, id);
  if (member === undefined) {
    throw new ApiError("not_found", "There is no such member.", { param: "member_id" });
  }
  if (role === "developer" && member.id !== memberId) {
    throw new ApiError("permission_denied", "A developer can create keys only for itself.", { param: "member_id" });
  }
  if (!isAbove(role, member.role)) throw above(member.role);
  if (!member.is_active) throw memberDisabled("member_id");
  return member;
}

/**
 * Checks that the caller may grant a preset. @throws ApiError `unsupported_value`; `permission_denied` if the limits are wider than those
 * of the caller's preset
 */
function presetOf(context: IngressContext, caller: Caller, name: string): string {
  const preset = context.catalogue.current().presets.get(name);
  if (preset === undefined) {
    throw new ApiError("unsupported_value", "There is no such preset; GET …/presets lists the presets.", {
      param: "preset",
    });
  }
  if (!isWithin(preset, caller.preset)) {
    throw new ApiError(
      "permission_denied",
      `The preset ${name} allows more than ${caller.preset.name}, the preset of the calling key.`,
      { param: "preset" },
    );
  }
  return name;
}

/**
 * Checks that the caller may grant a list of tools. @throws ApiError `unsupported_value`; `permission_denied` for tools that the caller's
 * key does not list
 */
function toolsOf(caller: Caller, asked: readonly string[] | null): readonly string[] | null {
  const tools = toolsAsked(asked);
  checkWithin(caller, tools, "tools");
  return tools;
}

/** Checks that the caller's key lists the tools. @throws ApiError `permission_denied` */
function checkWithin(caller: Caller, tools: readonly string[] | null, param: string | null): void {
  if (isWithinTools(tools, caller)) return;
  throw new ApiError("permission_denied", "A key that is restricted to tools cannot create a key with other tools.", {
    param,
  });
}

/**
 * Prevents a developer from extending the expiry of a key, because an owner or admin may have set it. @throws ApiError `permission_denied`
 */
function checkMayOutlive(role: MemberRole, end: Date | null): void {
  if (role !== "developer" || end === null) return;
  throw new ApiError("permission_denied", "A developer can only move the expiry of a key to an earlier time.", {
    param: "expires_at",
  });
}

/**
 * Returns the expiry of the calling key; null if it does not expire. Keys that it creates or replaces must not expire later, because the
 * key could otherwise extend its own access.
 */
async function endOfCaller({ database }: IngressContext, { workspaceId, keyId }: Caller): Promise<Date | null> {
  const row = await findKey(database, workspaceId, keyId);
  if (row === undefined) throw noKey();
  return row.expires_at;
}

/** True if the first expiry is later than the second. Null means no expiry. */
function isLater(end: Date | null, other: Date | null): boolean {
  return other !== null && (end === null || end > other);
}

/** Returns the expiry in a request; undefined if absent or null. @throws ApiError `unsupported_value` for a time in the past */
function endOf(text: string | null | undefined): Date | undefined {
  if (text === null || text === undefined) return undefined;
  const time = timeOf(text);
  if (time !== undefined && time.getTime() > Date.now()) return time;
  throw new ApiError("unsupported_value", "Expected expires_at to be a time in the future.", { param: "expires_at" });
}

function present(row: LimitedKey): ApiKey {
  return {
    object: "api_key",
    id: row.id,
    name: row.name,
    hint: row.hint,
    member: { id: row.member_id, name: row.member, role: row.role },
    preset: row.preset,
    tools: row.tools && [...row.tools],
    ...presentHeld(row),
    status: statusOf(row),
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    bodies: row.bodies && presentBodies(row.bodies),
  };
}

function statusOf(row: KeySummary): ApiKey["status"] {
  if (row.revoked_at !== null) return "revoked";
  if (row.is_expired) return "expired";
  return row.is_member_active ? "active" : "disabled";
}

function memberDisabled(param: string | null = null): ApiError {
  return new ApiError("conflict", "The member is disabled and cannot use keys; enable the member first.", { param });
}

function noKey(): ApiError {
  return new ApiError("not_found", "There is no such key.");
}

function outlives(param: string | null = "expires_at"): ApiError {
  return new ApiError("permission_denied", "An expiring key cannot create a key that expires later.", { param });
}

function over(): ApiError {
  return new ApiError("conflict", "The key is revoked or has expired; create a new one.");
}

function revoked(): ApiError {
  return new ApiError("conflict", "The key is revoked; create a new one.");
}

function above(role: string): ApiError {
  return new ApiError("permission_denied", `The key belongs to a member with the role ${role}, which is above yours.`);
}

function tooMany(): ApiError {
  return new ApiError("conflict", `A workspace has at most ${KEYS_PER_WORKSPACE_MAX} keys; revoke one first.`);
}

// Tools in the list of a key.

/**
 * Returns the tools sorted and without duplicates; null if absent. @throws ApiError `unsupported_value` for an unknown capability or
 * category
 */
export function toolsAsked(asked: readonly string[] | null): readonly string[] | null {
  if (asked === null) return null;
  const unknown = asked.findIndex((entry) => isUnknown(entry.toLowerCase()));
  if (unknown < 0) return [...new Set(asked.map((entry) => entry.toLowerCase()))].toSorted();
  const param = `tools[${unknown}]`;
  throw new ApiError(
    "unsupported_value",
    `There is no capability ${asked[unknown]}; GET /v1/tools lists the capabilities.`,
    { param },
  );
}

/** Entries that allow a whole category: one per category of capabilities, and `workflow.*`. */
const WHOLE: ReadonlySet<string> = new Set([...CATEGORIES, "workflow"].map((category) => `${category}.*`));

/** True for an entry that names neither a capability, nor a category. Ids of workflows, which have no dot, are not checked. */
function isUnknown(entry: string): boolean {
  if (!entry.includes(".")) return false;
  return entry.endsWith(".*") ? !WHOLE.has(entry) : !findCapability(entry);
}
