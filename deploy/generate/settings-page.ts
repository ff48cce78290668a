/** The page "Settings": every environment variable with its default, from deploy/env.example and the table of settings. */
import { join } from "node:path";

import { listSettings, type Setting } from "#shared/config/reader.ts";
import { SETTINGS } from "#shared/config/settings.ts";

import { ROOT_DIR } from "./schema-files.ts";

const HEAD = `---
title: Settings
section: Reference
order: 20
summary: Every environment variable of the service, with its default.
---
\`npm run generate\` writes this page from \`deploy/env.example\` and \`shared/config/settings.ts\`.

- **Empty values** count as unset.
- **Unknown variables** that begin with \`SLUICE_\` stop the start, so that a misspelled setting is not ignored.
- **All faults are reported at once**, each with the name of its variable. Secrets are never printed.
`;

interface Group {
  readonly title: string;
  readonly variables: Variable[];
}

interface Variable {
  readonly name: string;
  readonly usual: string;
  readonly description: string;
}

export async function settingsPage(): Promise<string> {
  const example = await Bun.file(join(ROOT_DIR, "deploy/env.example")).text();
  const byName = new Map(listSettings(SETTINGS).flatMap((setting) => setting.names.map((name) => [name, setting])));
  const groups = groupsOf(example).filter(({ variables }) => variables.length > 0);
  return [HEAD, ...groups.map((group) => groupText(group, byName))].join("\n");
}

/** Groups of deploy/env.example: a line of dashes with the title, then comments, each above its variable. */
function groupsOf(example: string): readonly Group[] {
  const groups: Group[] = [];
  let comment: string[] = [];
  for (const line of example.split("\n")) {
    const [, title] = /^# --- (.*?) -+$/.exec(line) ?? [];
    const [, name, usual = ""] = /^([A-Z0-9_]+)=(.*)$/.exec(line) ?? [];
    if (title !== undefined) groups.push({ title, variables: [] });
    if (name !== undefined) groups.at(-1)?.variables.push({ name, usual, description: comment.join(" ") });
    comment = title === undefined && line.startsWith("# ") ? [...comment, line.slice(2)] : [];
  }
  return groups;
}

function groupText({ title, variables }: Group, byName: ReadonlyMap<string, Setting<unknown>>): string {
  const rows = variables.map(({ name, usual, description }) => {
    const { accepts, secret } = byName.get(name) ?? {};
    const notes = [
      withCode(description),
      ...(accepts === undefined || saysValues(description, accepts) ? [] : [`Accepts ${accepts}.`]),
      ...(secret === undefined ? [] : [secret === "value" ? "Secret." : "The password in it is secret."]),
    ];
    const shown = usual === "" ? "none" : `\`${usual}\``;
    return `| \`${name}\` | ${shown} | ${notes.join(" ").replaceAll("|", String.raw`\|`)} |`;
  });
  return `## ${title}\n\n| Variable | Default | Description |\n|---|---|---|\n${rows.join("\n")}\n`;
}

/** The description states the accepted values itself. */
function saysValues(description: string, accepts: string): boolean {
  return description.includes(accepts) || /^on: /.test(description);
}

/** Addresses become code: as links they would lead nowhere. */
function withCode(description: string): string {
  return description.replaceAll(/(?<!`)\b[a-z0-9]+:\/\/[^\s`,]*[^\s`,.]/g, "`$&`");
}
