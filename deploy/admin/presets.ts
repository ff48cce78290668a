/** Quota presets: what they allow, and which key has which. They are defined in the catalogue. */
import { changeKey } from "#shared/operators/keys.ts";

import { idOf } from "./arguments.ts";
import { type Command, quote } from "./command.ts";
import { ACTOR, type Context } from "./context.ts";
import { keyJson } from "./key-json.ts";
import { tableOr } from "./table.ts";

export const PRESET_COMMANDS: readonly Command[] = [
  {
    name: "preset list",
    about: "the presets of the catalogue",
    arguments: [],
    async run(context) {
      const { presets } = await context.catalogue();
      const rows = [...presets.values()];
      return {
        json: rows.map(({ name, requests_per_minute, daily_tokens }) => ({ name, requests_per_minute, daily_tokens })),
        text: tableOr(
          "the catalogue has no preset",
          ["Name", "Requests a minute", "Tokens a day"],
          rows.map((row) => [row.name, row.requests_per_minute ?? "unlimited", row.daily_tokens ?? "unlimited"]),
          ["Requests a minute", "Tokens a day"],
        ),
      };
    },
  },
  {
    name: "preset set",
    about: "gives a key another preset, in force within a second",
    arguments: ["key id", "preset"],
    async run(context, given) {
      const id = idOf("a key id", given.argument("key id"));
      const preset = await requirePreset(context, given.argument("preset"));
      const changed = await changeKey(await context.database(), { id, preset, actor: ACTOR });
      if (changed === undefined) throw new Error(`there is no key ${id}`);
      if (changed === "revoked") throw new Error(`the key ${id} is revoked`);
      const { workspaceId, key, isNew } = changed;
      return {
        json: keyJson(workspaceId, key),
        text: isNew
          ? `key ${id} (${key.hint}) has the preset ${preset} now`
          : `key ${id} (${key.hint}) had the preset ${preset} already`,
      };
    },
  },
];

/** @throws Error when the catalogue has no such preset */
export async function requirePreset(context: Context, name: string): Promise<string> {
  const { presets } = await context.catalogue();
  if (presets.has(name)) return name;
  throw new Error(`expected a preset of ${[...presets.keys()].join(", ")}, got ${quote(name)}`);
}
