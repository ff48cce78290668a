/** /operator/workspaces: lists, creates and changes workspaces. */
import type {
  OperatorWorkspace,
  OperatorWorkspaceCreated,
  OperatorWorkspaceCreateRequest,
} from "#schemas/generated/types.ts";
import { withLimits, withOwnLimits } from "#shared/access/limits.ts";
import type { Queryable } from "#shared/database/client.ts";
import { pageMembers } from "#shared/database/members.ts";
import { pageWorkspaces, type WorkspaceSummary } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { isMailAddress } from "#shared/base/mail-address.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { changeWorkspace, type CreatedWorkspace, makeWorkspace } from "#shared/operators/workspaces.ts";

import { json, NEVER_KEPT } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { OperatorCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { createdId, parsedBody, pathId, plainName, reusedId, workspaceNameRefused } from "../settings/body.ts";
import { LIST_QUERY, pageAnswer, pageOf, textIn } from "../../core/page.ts";
import { presentMember } from "../settings/members.ts";
import { noWorkspace, workspaceOf } from "../settings/within.ts";
import { checkPreset, READ, WRITE } from "./common.ts";
import { presentKey } from "./keys.ts";

const LIST = "/operator/workspaces";
const ONE = `${LIST}/{id}`;
/** Default preset of a new workspace's first key. */
const FIRST_PRESET = "standard";

export function workspaces(context: IngressContext): readonly OperatorRoute[] {
  const { database } = context;
  return [
    {
      ...READ,
      method: "GET",
      path: LIST,
      operationId: "listOperatorWorkspaces",
      summary: "List workspaces",
      query: [
        ...LIST_QUERY,
        {
          name: "name",
          description: "Current name of the workspace, or its name in the last 30 days. Default: all.",
          schema: { type: "string" },
        },
      ],
      responses: { 200: { description: "A page of workspaces", schema: "OperatorWorkspaceList" } },
      errors: ["unsupported_value"],
      handle: (call) =>
        pageAnswer({ ...pageOf(call), name: textIn(call, "name") }, (page) => pageWorkspaces(database, page), present),
    },
    {
      ...WRITE,
      method: "POST",
      path: LIST,
      operationId: "createOperatorWorkspace",
      summary: "Create workspace",
      description: "Creates a workspace with its owner and the owner's first key. The secret key is returned once.",
      request: { schema: "OperatorWorkspaceCreateRequest" },
      responses: {
        200: {
          description: "The workspace, created by an earlier request, without the secret key",
          schema: "OperatorWorkspaceCreated",
        },
        201: { description: "The created workspace, owner and key", schema: "OperatorWorkspaceCreated" },
      },
      errors: errorsOf(["reads_json"], "conflict", "idempotency_key_reused"),
      handle: (call) => create(context, call),
    },
    {
      ...READ,
      method: "GET",
      path: ONE,
      operationId: "getOperatorWorkspace",
      summary: "Retrieve workspace",
      responses: { 200: { description: "The workspace", schema: "OperatorWorkspace" } },
      errors: ["not_found"],
      handle: async (call) => json(present(await workspaceOf(database, call))),
    },
    {
      ...WRITE,
      method: "PATCH",
      path: ONE,
      operationId: "updateOperatorWorkspace",
      summary: "Update workspace",
      request: { schema: "OperatorWorkspaceUpdateRequest" },
      responses: { 200: { description: "The updated workspace", schema: "OperatorWorkspace" } },
      errors: errorsOf(["reads_json"], "not_found", "conflict"),
      handle: (call) => update(context, call),
    },
    {
      ...READ,
      method: "GET",
      path: `${ONE}/members`,
      operationId: "listOperatorMembers",
      summary: "List members of workspace",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of members", schema: "OperatorMemberList" } },
      errors: ["not_found", "unsupported_value"],
      handle: (call) =>
        pageAnswer(
          pageOf(call),
          async (page) => {
            const { id } = await workspaceOf(database, call);
            return withLimits(database, id, await pageMembers(database, id, page));
          },
          presentMember,
        ),
    },
  ];
}

async function create(context: IngressContext, call: OperatorCall): Promise<Response> {
  const body = await parsedBody(call, "OperatorWorkspaceCreateRequest");
  const preset = body.preset ?? FIRST_PRESET;
  checkPreset(context.catalogue.current().presets, preset);
  const created = await makeWorkspace(context.database, {
    id: createdId(body),
    name: workspaceName(body.name),
    owner: ownerOf(body),
    preset,
    actor: actorOf(call),
  });
  if (created.result === "other") throw reusedId();
  if (created.result === "taken") throw workspaceNameRefused("taken");
  const answer = await presentCreated(context.database, created.created);
  if (created.result === "repeat") return json(answer);
  return json({ ...answer, api_key: { ...answer.api_key, key: created.keyText } }, NEVER_KEPT, 201);
}

async function update(context: IngressContext, call: OperatorCall): Promise<Response> {
  const { name, is_active: isActive } = await parsedBody(call, "OperatorWorkspaceUpdateRequest");
  const changed = await changeWorkspace(context.database, pathId(call, "id", noWorkspace), {
    ...(name !== undefined && { name: workspaceName(name) }),
    ...(isActive !== undefined && { isActive }),
    actor: actorOf(call),
  });
  if (changed === undefined) throw noWorkspace();
  if (changed === "taken" || changed === "often") throw workspaceNameRefused(changed);
  return json(present(changed));
}

/** Returns the name of a workspace after checking that it does not look like an id. @throws ApiError `unsupported_value` */
function workspaceName(name: string): string {
  if (!isUuid(name.toLowerCase())) return plainName(name);
  throw new ApiError("unsupported_value", "Expected name not to have the form of a UUID.", { param: "name" });
}

/** Returns name and mail address of a new workspace's owner. @throws ApiError `unsupported_value` */
function ownerOf({ owner: { name, email } }: OperatorWorkspaceCreateRequest): { name: string; email: string | null } {
  if (email !== undefined && !isMailAddress(email)) {
    throw new ApiError("unsupported_value", "Expected owner.email to be one address.", { param: "owner.email" });
  }
  return { name: plainName(name, "owner.name"), email: email ?? null };
}

async function presentCreated(
  target: Queryable,
  { workspace, owner, key }: CreatedWorkspace,
): Promise<OperatorWorkspaceCreated> {
  const { id } = workspace;
  return {
    workspace: present(workspace),
    owner: presentMember(await withOwnLimits(target, id, owner)),
    api_key: presentKey(await withOwnLimits(target, id, key)),
  };
}

function present(row: WorkspaceSummary): OperatorWorkspace {
  return {
    object: "workspace",
    id: row.id,
    name: row.name,
    is_active: row.is_active,
    balance: creditsNumber(row.amount),
    held: creditsNumber(row.held),
    available: creditsNumber(row.amount - row.held),
    created_at: row.created_at.toISOString(),
  };
}
