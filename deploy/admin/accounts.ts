/**
 * Commands that create workspaces, members and keys. They access the database directly. Through the API, an operator's token gives no
 * access to a workspace that has owners.
 */
import type { OperatorPresetList } from "#schemas/generated/types.ts";
import { presentHeld, storeLimits } from "#ingress/routes/settings/limits.ts";
import { NO_LIMITS, withOwnLimits } from "#shared/access/limits.ts";
import { findKey, insertKey, KEYS_PER_WORKSPACE_MAX } from "#shared/database/api-keys.ts";
import {
  insertMember,
  MEMBER_ROLES,
  type MemberChange,
  type MemberRole,
  type MemberRow,
  updateMember,
} from "#shared/database/members.ts";
import { insertWorkspace } from "#shared/database/workspaces.ts";
import { newId } from "#shared/base/ids.ts";
import type { Queryable } from "#shared/database/client.ts";
import { repeatSpendChange } from "#shared/ledger/spend-limits.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";

import { findWorkspace, memberOf, nameOf, workspaceNameOf } from "./arguments.ts";
import { type Answer, type Command, type Arguments, quote, UsageError } from "./command.ts";
import { ACTOR, type Context } from "./context.ts";
import { LIMIT_OPTIONS } from "./limit-options.ts";
import { limitsIn } from "./limits.ts";

export const ACCOUNT_COMMANDS: readonly Command[] = [
  {
    usage: "workspace create <name>",
    about: "Creates a workspace without members, keys or credits.",
    needs: "database",
    async run(context, input) {
      const name = workspaceNameOf(input.argument("name"));
      const row = await insertWorkspace(await context.database(), { id: newId(), name, actor: ACTOR });
      if (row === undefined) throw new Error(`the name ${quote(name)} is taken, or was released less than 30 days ago`);
      const { id, is_active, created_at } = row;
      return { json: { id, name, is_active, created_at }, text: `created workspace ${name}, id ${id}` };
    },
  },
  {
    usage: "member add <workspace> <name> --role <role>",
    about: "Adds a member to a workspace.",
    needs: "database",
    async run(context, input) {
      const role = roleOf(input.argument("role"));
      const name = nameOf(input.argument("name"));
      const database = await context.database();
      const workspace = await findWorkspace(database, input.argument("workspace"));
      const row = await insertMember(database, workspace.id, { id: newId(), name, role, actor: ACTOR });
      if (row === undefined) throw new Error(`workspace ${workspace.name} already has a member ${quote(name)}`);
      const text = `added ${name} to ${workspace.name} as ${role}, id ${row.id}`;
      return { json: { workspace_id: workspace.id, ...shownMember(row) }, text };
    },
  },
  {
    usage: "member role <workspace> <name> <role>",
    about: "Changes the role of a member. Its keys follow within a second.",
    needs: "database",
    run(context, input) {
      const role = roleOf(input.argument("role"));
      return change(context, input, { role }, role);
    },
  },
  {
    usage: "member disable <workspace> <name>",
    about: "Disables a member: its keys stop working within a second.",
    needs: "database",
    run: (context, input) => change(context, input, { isActive: false }, "disabled"),
  },
  {
    usage: "member enable <workspace> <name>",
    about: "Enables a member: its keys work again.",
    needs: "database",
    run: (context, input) => change(context, input, { isActive: true }, "enabled"),
  },
  {
    usage: `key create <workspace> --member <name> --preset <preset> [--name <name>] ${LIMIT_OPTIONS}`,
    about: "Creates a key for a member and prints it. It cannot be printed again.",
    needs: "database",
    async run(context, input) {
      const name = nameOf(input.option("name") ?? input.argument("member"));
      const preset = await requirePreset(context, input.argument("preset"));
      const limits = await limitsIn(context, input);
      const database = await context.database();
      const workspace = await findWorkspace(database, input.argument("workspace"));
      if (!workspace.is_active) throw new Error(`the workspace ${workspace.name} is disabled`);
      const member = await memberOf(database, workspace, input.argument("member"));
      if (!member.is_active) throw new Error(`the member ${member.name} of ${workspace.name} is disabled`);
      const [id, key] = [newId(), mintKey()];
      const kept = { id, memberId: member.id, name, sha256: hashKey(key), hint: keyHint(key), preset, actor: ACTOR };
      const insert = async (tx: Queryable) => {
        const outcome = await insertKey(tx, workspace.id, kept);
        const change = { kind: "key", row: { id, access_lists: null }, before: NO_LIMITS, after: limits } as const;
        if (outcome === "made") await storeLimits(tx, workspace.id, { ...change, actor: ACTOR });
        return outcome;
      };
      if ((await repeatSpendChange(() => database.transaction(insert))) === "too_many") {
        const most = KEYS_PER_WORKSPACE_MAX;
        throw new Error(`workspace ${workspace.name} has ${most} keys, which is the maximum; revoke some`);
      }
      const row = await findKey(database, workspace.id, id);
      if (row === undefined) throw new Error("the key was not stored; try again");
      const { hint, role, created_at, expires_at, last_used_at, revoked_at } = row;
      const held = { workspace: workspace.name, workspace_id: workspace.id, member: member.name, role, preset };
      const { limits: shown } = presentHeld(await withOwnLimits(database, workspace.id, row));
      return {
        json: { key, id, ...held, name, hint, limits: shown, created_at, expires_at, last_used_at, revoked_at },
      };
    },
  },
];

async function change(
  context: Context,
  input: Arguments,
  to: Pick<MemberChange, "role" | "isActive">,
  state: string,
): Promise<Answer> {
  const database = await context.database();
  const workspace = await findWorkspace(database, input.argument("workspace"));
  const member = await memberOf(database, workspace, input.argument("name"));
  const changed = await updateMember(database, workspace.id, { id: member.id, ...to, actor: ACTOR });
  const text = `member ${member.name} of ${workspace.name} ${changed === undefined ? "was" : "is"} ${state}`;
  return { json: { workspace_id: workspace.id, ...shownMember(changed ?? member) }, text };
}

/** Returns the members of a row that commands print. `member list` prints the limits. */
function shownMember({ access_lists: _lists, ...row }: MemberRow): Omit<MemberRow, "access_lists"> {
  return row;
}

function roleOf(value: string): MemberRole {
  const role = MEMBER_ROLES.find((known) => known === value);
  if (role === undefined) throw new UsageError(`expected a role of ${MEMBER_ROLES.join(", ")}, got ${quote(value)}`);
  return role;
}

/**
 * Checks that our catalogue or the running service has a preset of that name, and returns the name.
 * @throws Error for an unknown name; the error message refers to `preset list`, which prints the presets of the service
 */
async function requirePreset(context: Context, name: string): Promise<string> {
  const { presets } = await context.catalogue();
  if (presets.has(name)) return name;
  // The service may have been started with files of its operator that this command's settings do not name.
  const listed = await listedPresets(context);
  if (listed.includes(name)) return name;
  const known = new Set([...presets.keys(), ...listed]);
  throw new Error(`expected a preset of ${[...known].join(", ")}, got ${quote(name)}`);
}

/**
 * Returns the names of the presets of the running service. The list is empty when no service answers or the service rejects this command.
 */
async function listedPresets(context: Context): Promise<readonly string[]> {
  try {
    const { value } = await context.service(undefined).ask({ method: "GET", path: "/operator/presets" });
    return (value as unknown as OperatorPresetList).data.map(({ name }) => name);
  } catch {
    return [];
  }
}
