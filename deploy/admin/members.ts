/** Commands for the members of a workspace and their roles. */
import {
  insertMember,
  listMembers,
  MEMBER_ROLES,
  type MemberRole,
  type MemberRow,
  updateMember,
} from "#shared/database/members.ts";
import type { WorkspaceRow } from "#shared/database/workspaces.ts";
import { newId } from "#shared/ids.ts";

import { findWorkspace, memberOf, nameOf } from "./arguments.ts";
import { type Answer, type Command, type Given, quote, UsageError } from "./command.ts";
import { ACTOR, type Context } from "./context.ts";
import { tableOr } from "./table.ts";

export const MEMBER_COMMANDS: readonly Command[] = [
  {
    name: "member add",
    about: `adds a member; roles are ${MEMBER_ROLES.join(", ")}`,
    arguments: ["workspace", "name"],
    options: [{ name: "role", value: "role", isRequired: true }],
    async run(context, given) {
      const role = roleOf(given.option("role") ?? "");
      const name = nameOf(given.argument("name"));
      const database = await context.database();
      const workspace = await findWorkspace(database, given.argument("workspace"));
      const row = await insertMember(database, workspace.id, { id: newId(), name, role, actor: ACTOR });
      if (row === undefined) throw new Error(`the workspace ${workspace.name} has a member ${name} already`);
      return {
        json: memberJson(workspace, row),
        text: `member ${row.name} added to ${workspace.name} as ${row.role}, id ${row.id}`,
      };
    },
  },
  {
    name: "member role",
    about: "changes a member's role; keys follow within a second",
    arguments: ["workspace", "name", "role"],
    async run(context, given) {
      const role = roleOf(given.argument("role"));
      const database = await context.database();
      const workspace = await findWorkspace(database, given.argument("workspace"));
      const before = await memberOf(database, workspace, given.argument("name"));
      const changed = await updateMember(database, workspace.id, { id: before.id, role, actor: ACTOR });
      return {
        json: memberJson(workspace, changed ?? { ...before, role }),
        text: `member ${before.name} of ${workspace.name} ${changed === undefined ? "was" : "is now"} ${role}`,
      };
    },
  },
  {
    name: "member list",
    about: "the members of a workspace",
    arguments: ["workspace"],
    async run(context, given) {
      const database = await context.database();
      const workspace = await findWorkspace(database, given.argument("workspace"));
      const rows = await listMembers(database, workspace.id);
      return {
        json: rows.map((row) => memberJson(workspace, row)),
        text: tableOr(
          `the workspace ${workspace.name} has no member yet`,
          ["Name", "Role", "Active", "Id", "Created"],
          rows.map((row) => [row.name, row.role, row.is_active, row.id, row.created_at]),
        ),
      };
    },
  },
  {
    name: "member disable",
    about: "the member's keys stop working within a second",
    arguments: ["workspace", "name"],
    run: (context, given) => setActive(context, given, false),
  },
  {
    name: "member enable",
    about: "the member's keys work again",
    arguments: ["workspace", "name"],
    run: (context, given) => setActive(context, given, true),
  },
];

async function setActive(context: Context, given: Given, isActive: boolean): Promise<Answer> {
  const database = await context.database();
  const workspace = await findWorkspace(database, given.argument("workspace"));
  const before = await memberOf(database, workspace, given.argument("name"));
  const changed = await updateMember(database, workspace.id, { id: before.id, isActive, actor: ACTOR });
  const state = isActive ? "enabled" : "disabled";
  return {
    json: memberJson(workspace, changed ?? { ...before, is_active: isActive }),
    text: `member ${before.name} of ${workspace.name} ${changed === undefined ? "was" : "is"} ${state}`,
  };
}

function roleOf(word: string): MemberRole {
  const role = MEMBER_ROLES.find((known) => known === word);
  if (role === undefined) throw new UsageError(`expected a role of ${MEMBER_ROLES.join(", ")}, got ${quote(word)}`);
  return role;
}

function memberJson(workspace: WorkspaceRow, row: MemberRow): Record<string, unknown> {
  return {
    id: row.id,
    workspace_id: workspace.id,
    name: row.name,
    email: row.email,
    role: row.role,
    is_active: row.is_active,
    created_at: row.created_at,
  };
}
