/** /workspaces/{workspaceId}/members: manages the members of a workspace and their roles. */
import type { Member } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { type Held, type Limits, NO_LIMITS, withLimits, withOwnLimits } from "#shared/access/limits.ts";
import {
  changeMember,
  countMembers,
  findMember,
  findMemberByEmail,
  findMemberById,
  hasUnlimitedOwner,
  insertMember,
  type MemberChange,
  type MemberRole,
  type MemberRow,
  pageMembers,
} from "#shared/database/members.ts";
import type { Queryable } from "#shared/database/client.ts";
import { repeatSpendChange } from "#shared/ledger/spend-limits.ts";
import { withWorkspaceLock } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isMailAddress } from "#shared/base/mail-address.ts";

import type { IngressContext } from "../../context.ts";
import { allow, isAbove } from "../../core/roles.ts";
import { callerOf } from "../../core/caller.ts";
import type { Route } from "../../core/route.ts";
import { createdId, nameTaken, plainName } from "./body.ts";
import { checkMayGrant, checkMayReplace, limitsAsked, presentHeld, storeLimits } from "./limits.ts";
import { type ChangeRequest, type Created, createdOnce, resource } from "./resource.ts";

export const MEMBERS_PER_WORKSPACE_MAX = 1_000;

const SETTINGS = { tags: ["Workspace settings"], auth: "key" } as const;

/** Member with its limits. */
type LimitedMember = MemberRow & Held;

export function members(context: IngressContext): readonly Route[] {
  const { catalogue, database } = context;
  return resource({
    path: "/workspaces/{workspaceId}/members/{memberId}",
    schema: "Member",
    readers: { ...SETTINGS, authorize: allow("owner", "admin", "developer") },
    writers: { ...SETTINGS, authorize: allow("owner", "admin") },
    within: callerOf,
    async find(caller, id) {
      const row = await findLimitedMember(database, caller.workspaceId, id);
      return row && withVisibleSpend(caller, row);
    },
    unknown: noMember,
    checkMayChange,
    present: presentMember,
    list: {
      operationId: "listMembers",
      summary: "List members",
      description: "A developer sees the limits of other members, but not their spend.",
      answer: "A page of members",
      async page(caller, page) {
        const { workspaceId } = caller;
        const rows = await withLimits(database, workspaceId, await pageMembers(database, workspaceId, page));
        return rows.map((row) => withVisibleSpend(caller, row));
      },
    },
    create: {
      operationId: "createMember",
      summary: "Create member",
      description:
        "Only an owner can create an owner. A caller with limits cannot create a member with wider limits. A repeat " +
        "with the same `id` and body returns 200.",
      answer: "The created member",
      repeated: "The member, created by an earlier request",
      errors: ["permission_denied", "model_not_found"],
      make: (caller, asked) => add(context, caller, asked),
    },
    get: { operationId: "getMember", summary: "Retrieve member", answer: "The created member" },
    update: {
      operationId: "updateMember",
      summary: "Update member",
      description:
        "A new role applies to the member's keys within a second. A member cannot change members with a higher " +
        "role. Only owners assign or remove the role `owner`, and the last active owner keeps it. `limits` replaces " +
        "all limits of the member, which apply to each of the member's keys; null removes them. A caller with limits " +
        "cannot widen limits. The last owner without limits cannot get limits, and stays an active owner.",
      answer: "The updated member",
      errors: ["permission_denied", "model_not_found"],
      change(caller, { id }, { body, text, actor }) {
        const { name, role, email, is_active: isActive } = body;
        if (role !== undefined) checkCanGrant(caller.role, role);
        const limits = body.limits === undefined ? undefined : limitsAsked(body.limits, text, catalogue.current());
        const asked = {
          id,
          actor,
          ...(name === undefined ? {} : { name: plainName(name) }),
          ...(role === undefined ? {} : { role }),
          ...(email === undefined ? {} : { email: addressOf(email) }),
          ...(isActive === undefined ? {} : { isActive }),
        };
        return change(context, caller, asked, limits);
      },
    },
    remove: {
      operationId: "deleteMember",
      summary: "Delete member",
      description:
        "Disables the member and deletes the e-mail address. The member's keys are rejected within a second. The " +
        "name stays in the audit log. The last owner without limits cannot be deleted.",
      answer: "The confirmation",
      errors: ["permission_denied", "conflict"],
      end: async (caller, { id }, actor) =>
        (await change(context, caller, { id, actor, isActive: false, email: null })) !== undefined,
    },
  });
}

async function add(
  { catalogue, database }: IngressContext,
  caller: Caller,
  { body, text, actor }: ChangeRequest<"MemberCreateRequest">,
): Promise<Created<LimitedMember>> {
  const { workspaceId, role } = caller;
  checkCanGrant(role, body.role);
  const limits = limitsAsked(body.limits ?? null, text, catalogue.current());
  await checkMayGrant(database, caller, { limits, param: "limits" });
  const wanted = { id: createdId(body), name: plainName(body.name), role: body.role, email: addressOf(body.email) };
  const insert = async (tx: Queryable) => {
    if ((await countMembers(tx, workspaceId)) >= MEMBERS_PER_WORKSPACE_MAX) return "too_many";
    const row = await insertMember(tx, workspaceId, { ...wanted, actor });
    if (row) {
      await storeLimits(tx, workspaceId, { kind: "member", row, before: NO_LIMITS, after: limits, actor });
      return "made";
    }
    if (await findMember(tx, workspaceId, wanted.name)) return "name_taken";
    const hasAddress = wanted.email !== null && (await findMemberByEmail(tx, workspaceId, wanted.email));
    return hasAddress ? "email_taken" : "known";
  };
  return createdOnce(await repeatSpendChange(() => withWorkspaceLock(database, workspaceId, insert)), {
    find: () => findLimitedMember(database, workspaceId, wanted.id),
    asked: { name: wanted.name, role: wanted.role, email: wanted.email, limits },
    refusals: { too_many: tooMany, name_taken: () => nameTaken("a member"), email_taken: addressTaken },
  });
}

/** Changes a member. Returns undefined if the member no longer exists. @throws ApiError */
async function change(
  { database }: IngressContext,
  caller: Caller,
  asked: MemberChange,
  limits?: Limits,
): Promise<LimitedMember | undefined> {
  const { workspaceId } = caller;
  // A new address or an enabled member may give the caller the access of a member. With a new address of the own member, the caller
  // could sign in as that member, without the limits of the calling key.
  const param = asked.email == null ? (asked.isActive === true ? "is_active" : undefined) : "email";
  let wasOwner = false;
  const afterwards = async (tx: Queryable, row: MemberRow): Promise<void> => {
    const current = await withOwnLimits(tx, workspaceId, row);
    const next = limits ?? current.limits;
    if (param !== undefined) await checkMayGrant(tx, caller, { memberId: row.id, limits: next, param });
    if (limits !== undefined) await checkMayReplace(tx, caller, { current: current.limits, next });
    const isOwner = row.role === "owner" && row.is_active;
    const isLost = wasOwner && !hasLimits(current.limits) && !(isOwner && !hasLimits(next));
    if (isLost && !(await hasUnlimitedOwner(tx, workspaceId, row.id))) throw lastUnlimited(limits ? "limits" : null);
    if (limits === undefined) return;
    const change = { kind: "member", row, before: current.limits, after: limits, actor: asked.actor } as const;
    await storeLimits(tx, workspaceId, change);
  };
  const check = (row: MemberRow): void => {
    checkMayChange(caller, row);
    wasOwner = row.role === "owner" && row.is_active;
  };
  const result = await repeatSpendChange(() => changeMember(database, workspaceId, asked, { check, afterwards }));
  if (result === "last_owner") {
    throw new ApiError("conflict", "This is the last active owner; make another member one first.");
  }
  if (result === "name_taken") throw nameTaken("a member");
  if (result === "email_taken") throw addressTaken();
  return result && findLimitedMember(database, workspaceId, result.id);
}

const hasLimits = (limits: Limits): boolean => !Bun.deepEquals(limits, NO_LIMITS);

function lastUnlimited(param: string | null): ApiError {
  const message =
    "This is the last owner without limits, and nobody could widen the limits of the other owners; make another member without limits owner first.";
  return new ApiError("conflict", message, { param });
}

async function findLimitedMember(
  target: Queryable,
  workspaceId: string,
  id: string,
): Promise<LimitedMember | undefined> {
  const row = await findMemberById(target, workspaceId, id);
  return row && withOwnLimits(target, workspaceId, row);
}

/** Returns the member without its spend if the caller may not see it: developers see only their own. */
function withVisibleSpend({ memberId, role }: Caller, row: LimitedMember): LimitedMember {
  return role === "developer" && row.id !== memberId ? { ...row, spend: undefined } : row;
}

/** Checks that the caller may change a member. @throws ApiError `permission_denied` for a member with a higher role than the caller */
function checkMayChange(caller: Caller, row: MemberRow): void {
  if (isAbove(caller.role, row.role)) return;
  throw new ApiError("permission_denied", `The member has the role ${row.role}, which is above yours.`);
}

function checkCanGrant(own: MemberRole, granted: MemberRole): void {
  if (isAbove(own, granted)) return;
  throw new ApiError("permission_denied", "Only an owner can make a member an owner.", { param: "role" });
}

/** Checks a mail address and returns it; null if absent. @throws ApiError `unsupported_value` */
function addressOf(email: string | null | undefined): string | null {
  if (email === undefined || email === null || isMailAddress(email)) return email ?? null;
  throw new ApiError("unsupported_value", "Expected email to be exactly one address.", { param: "email" });
}

/** Returns the error for a mail address that another member has. At sign-in, an address must identify one member. */
function addressTaken(): ApiError {
  return new ApiError("conflict", "The workspace already has a member with this address, who may be disabled.", {
    param: "email",
  });
}

function tooMany(): ApiError {
  return new ApiError("conflict", `A workspace has at most ${MEMBERS_PER_WORKSPACE_MAX} members.`);
}

function noMember(): ApiError {
  return new ApiError("not_found", "There is no such member.");
}

export function presentMember(row: LimitedMember): Member {
  return {
    object: "member",
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    is_active: row.is_active,
    ...presentHeld(row),
    created_at: row.created_at.toISOString(),
  };
}
