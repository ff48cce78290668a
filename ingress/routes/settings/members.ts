/** /workspaces/{workspaceId}/members: who acts in the workspace, and as what. */
import type {
  Deleted,
  Member,
  MemberCreateRequest,
  MemberList,
  MemberUpdateRequest,
} from "#schemas/generated/types.ts";
import {
  changeMember,
  countMembers,
  findMember,
  findMemberById,
  insertMember,
  type MemberChange,
  type MemberRole,
  type MemberRow,
  pageMembers,
} from "#shared/database/members.ts";
import { inTurn } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/errors.ts";
import { LIMITS } from "#shared/limits.ts";
import { isMailAddress } from "#shared/mail-address.ts";

import { json } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow, isAbove } from "../../roles.ts";
import { errorsOf } from "../../route-errors.ts";
import { actorOf, callerOf, type Route, type RouteCall } from "../../serve.ts";
import { createdId, nameTaken, parsedBody, pathId, plainName, reusedId } from "../../settings/body.ts";
import { LIST_QUERY, listOf, pageOf } from "../../settings/page.ts";

const LIST = "/workspaces/{workspaceId}/members";
const ONE = `${LIST}/{memberId}`;
const READERS = allow("owner", "admin", "developer");
const WRITERS = allow("owner", "admin");

export function members(context: IngressContext): readonly Route[] {
  const common = { tags: ["Workspace settings"], auth: "key" } as const;
  const member = { schema: "Member" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: LIST,
      operationId: "listMembers",
      summary: "List members",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of members", schema: "MemberList" } },
      errors: ["not_found", "unsupported_value"],
      authorize: READERS,
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "POST",
      path: LIST,
      operationId: "createMember",
      summary: "Add a member",
      description: "Only an owner adds an owner. A repeat with the same `id` and body is answered 200.",
      request: { schema: "MemberCreateRequest" },
      responses: {
        200: { description: "It was added before", ...member },
        201: { description: "The member", ...member },
      },
      errors: errorsOf(["reads_json"], "not_found", "permission_denied", "conflict", "idempotency_key_reused"),
      authorize: WRITERS,
      handle: (call) => create(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getMember",
      summary: "Read about a member",
      responses: { 200: { description: "The member", ...member } },
      errors: ["not_found"],
      authorize: READERS,
      handle: async (call) => json(present(await find(context, call))),
    },
    {
      ...common,
      method: "PATCH",
      path: ONE,
      operationId: "updateMember",
      summary: "Change a member",
      description:
        "Keys follow a new role within a second. Nobody changes a member above themselves, only an owner gives or takes the role " +
        "owner, and the last active owner stays one.",
      request: { schema: "MemberUpdateRequest" },
      responses: { 200: { description: "The member as it is now", ...member } },
      errors: errorsOf(["reads_json"], "not_found", "permission_denied", "conflict"),
      authorize: WRITERS,
      handle: (call) => update(context, call),
    },
    {
      ...common,
      method: "DELETE",
      path: ONE,
      operationId: "deleteMember",
      summary: "Disable a member and forget its e-mail",
      description: "Its keys are refused within a second. Its name stays in the audit log.",
      responses: { 200: { description: "It is disabled", schema: "Deleted" } },
      errors: ["not_found", "permission_denied", "conflict"],
      authorize: WRITERS,
      handle: (call) => remove(context, call),
    },
  ];
}

async function list(context: IngressContext, call: RouteCall): Promise<Response> {
  const page = pageOf(call);
  const rows = await pageMembers(context.database, callerOf(call).workspaceId, { ...page, limit: page.limit + 1 });
  return json(listOf(rows, page, present) satisfies MemberList);
}

async function create(context: IngressContext, call: RouteCall): Promise<Response> {
  const body: MemberCreateRequest = await parsedBody(call, "MemberCreateRequest");
  const { workspaceId, role } = callerOf(call);
  checkMayGive(role, body.role);
  const wanted = { id: createdId(body), name: plainName(body.name), role: body.role, email: addressOf(body.email) };
  const made = await inTurn(context.database, workspaceId, async (tx) => {
    if ((await countMembers(tx, workspaceId)) >= LIMITS.membersPerWorkspaceMax) return "too_many";
    return insertMember(tx, workspaceId, { ...wanted, actor: actorOf(call) });
  });
  if (made !== undefined && made !== "too_many") return json(present(made), {}, 201);
  // A repeat is answered at the limit too.
  const earlier = await findMemberById(context.database, workspaceId, wanted.id);
  if (earlier === undefined) {
    if (made === "too_many") throw tooMany();
    if (await findMember(context.database, workspaceId, wanted.name)) throw nameTaken("a member");
    throw reusedId();
  }
  const isSame = earlier.name === wanted.name && earlier.role === wanted.role && earlier.email === wanted.email;
  if (!isSame) throw reusedId();
  return json(present(earlier));
}

async function update(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await findToChange(context, call);
  const body: MemberUpdateRequest = await parsedBody(call, "MemberUpdateRequest");
  if (body.role !== undefined) checkMayGive(callerOf(call).role, body.role);
  return json(
    present(
      await change(context, call, {
        id: row.id,
        actor: actorOf(call),
        ...(body.name === undefined ? {} : { name: plainName(body.name) }),
        ...(body.role === undefined ? {} : { role: body.role }),
        ...(body.email === undefined ? {} : { email: addressOf(body.email) }),
        ...(body.is_active === undefined ? {} : { isActive: body.is_active }),
      }),
    ),
  );
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const { id } = await findToChange(context, call);
  await change(context, call, { id, actor: actorOf(call), isActive: false, email: null });
  return json({ id, deleted: true } satisfies Deleted);
}

async function change(context: IngressContext, call: RouteCall, asked: MemberChange): Promise<MemberRow> {
  const { workspaceId } = callerOf(call);
  const result = await changeMember(context.database, workspaceId, asked, (row) => checkMayChange(call, row));
  if (result === "last_owner") {
    throw new ApiError("conflict", "This is the last active owner; make another member one first.");
  }
  if (result === "name_taken") throw nameTaken("a member");
  if (result === undefined) throw noMember();
  return result;
}

async function find(context: IngressContext, call: RouteCall): Promise<MemberRow> {
  const row = await findMemberById(context.database, callerOf(call).workspaceId, pathId(call, "memberId", noMember));
  if (row === undefined) throw noMember();
  return row;
}

/** @throws ApiError `permission_denied` for a member above the caller */
async function findToChange(context: IngressContext, call: RouteCall): Promise<MemberRow> {
  const row = await find(context, call);
  checkMayChange(call, row);
  return row;
}

function checkMayChange(call: RouteCall, row: MemberRow): void {
  if (isAbove(callerOf(call).role, row.role)) return;
  throw new ApiError("permission_denied", `The member has the role ${row.role}, which is above yours.`);
}

function checkMayGive(own: MemberRole, given: MemberRole): void {
  if (isAbove(own, given)) return;
  throw new ApiError("permission_denied", "Only an owner makes a member an owner.", { param: "role" });
}

/** @throws ApiError `unsupported_value` */
function addressOf(email: string | null | undefined): string | null {
  if (email === undefined || email === null || isMailAddress(email)) return email ?? null;
  throw new ApiError("unsupported_value", "Expected email to be exactly one address.", { param: "email" });
}

function present(row: MemberRow): Member {
  return {
    object: "member",
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    is_active: row.is_active,
    created_at: row.created_at.toISOString(),
  };
}

function tooMany(): ApiError {
  return new ApiError("conflict", `A workspace has at most ${LIMITS.membersPerWorkspaceMax} members.`);
}

function noMember(): ApiError {
  return new ApiError("not_found", "There is no such member.");
}
