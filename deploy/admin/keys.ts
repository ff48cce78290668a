/** API keys: shown once, when they are made. */
import { findKey, insertKey, listKeys } from "#shared/database/api-keys.ts";
import { newId } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { changeKey } from "#shared/operators/keys.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";

import { findWorkspace, idOf, memberOf, nameOf } from "./arguments.ts";
import type { Command } from "./command.ts";
import { ACTOR } from "./context.ts";
import { keyJson } from "./key-json.ts";
import { requirePreset } from "./presets.ts";
import { facts, tableOr } from "./table.ts";

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: "key create",
    about: "makes a key and shows it, this once; its name is the member's unless given",
    arguments: ["workspace"],
    options: [
      { name: "member", value: "name", isRequired: true },
      { name: "preset", value: "preset", isRequired: true },
      { name: "name", value: "name" },
    ],
    async run(context, given) {
      const memberName = given.option("member") ?? "";
      const name = nameOf(given.option("name") ?? memberName);
      const preset = await requirePreset(context, given.option("preset") ?? "");
      const database = await context.database();
      const workspace = await findWorkspace(database, given.argument("workspace"));
      if (!workspace.is_active) throw new Error(`the workspace ${workspace.name} is disabled`);
      const member = await memberOf(database, workspace, memberName);
      if (!member.is_active) throw new Error(`the member ${member.name} of ${workspace.name} is disabled`);
      const key = mintKey();
      const id = newId();
      const made = await insertKey(database, workspace.id, {
        id,
        memberId: member.id,
        name,
        sha256: hashKey(key),
        hint: keyHint(key),
        preset,
        actor: ACTOR,
      });
      if (made === "too_many") {
        throw new Error(
          `the workspace ${workspace.name} has ${LIMITS.keysPerWorkspaceMax} keys, the most there can be`,
        );
      }
      const row = await findKey(database, workspace.id, id);
      if (row === undefined) throw new Error("the key was not kept; try again");
      return {
        json: { ...keyJson(workspace.id, row), member: member.name, role: member.role, key },
        text: facts([
          ["key", key],
          ["id", row.id],
          ["workspace", workspace.name],
          ["member", `${member.name} (${member.role})`],
          ["preset", row.preset],
          ["name", row.name],
        ]),
      };
    },
  },
  {
    name: "key list",
    about: "the keys of a workspace, revoked ones too, by their first characters",
    arguments: ["workspace"],
    async run(context, given) {
      const database = await context.database();
      const workspace = await findWorkspace(database, given.argument("workspace"));
      const rows = await listKeys(database, workspace.id);
      return {
        json: rows.map((row) => ({ ...keyJson(workspace.id, row), member: row.member, role: row.role })),
        text: tableOr(
          `the workspace ${workspace.name} has no key yet`,
          ["Id", "Name", "Key", "Member", "Role", "Preset", "Created", "Revoked"],
          rows.map((row) => [
            row.id,
            row.name,
            row.hint,
            row.member,
            row.role,
            row.preset,
            row.created_at,
            row.revoked_at,
          ]),
        ),
      };
    },
  },
  {
    name: "key revoke",
    about: "the key stops working everywhere within a second, for good",
    arguments: ["key id"],
    async run(context, given) {
      const id = idOf("a key id", given.argument("key id"));
      const changed = await changeKey(await context.database(), { id, isRevoked: true, actor: ACTOR });
      if (changed === undefined || changed === "revoked") throw new Error(`there is no key ${id}`);
      const { workspaceId, key, isNew } = changed;
      return { json: keyJson(workspaceId, key), text: `key ${id} (${key.hint}) ${isNew ? "is" : "was"} revoked` };
    },
  },
];
