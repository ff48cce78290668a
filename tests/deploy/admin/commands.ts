/** The admin command on a database of the test's. It runs in this process: starting one for each takes most of a second. */
import { expect } from "bun:test";

import { runAdminCommand } from "#deploy/admin/main.ts";
import { run } from "#deploy/embedded/process.mjs";
import { newId } from "#shared/ids.ts";

import { ENTRY, PROJECT_ROOT } from "../../support/infrastructure.ts";
import type { TestDatabase } from "../../support/postgres.ts";

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Json = Record<string, unknown>;

/** Formats of times and ids in JSON. */
export const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;
export const UUID = /^[0-9a-f-]{36}$/;

/** Runs the entry with these arguments to its end with these settings and no others. */
export function sluice(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Outcome> {
  const home = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/" };
  const command = [...ENTRY.slice(1), ...args];
  return run({ name: args.join(" "), command: ENTRY[0], args: command, cwd: PROJECT_ROOT, env: { ...home, ...env } });
}

/** An admin command with these settings and no others; without a database where none is among them, whatever runs here. */
export async function admin(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const said = { stdout: "", stderr: "" };
  const code = await runAdminCommand(args, {
    stdout: (text) => (said.stdout += text),
    stderr: (text) => (said.stderr += text),
    environment: { SLUICE_DATA_DIR: "/nowhere", ...environment },
  });
  const text = (what: string): string => what.replace(/\n$/, "");
  return { code, stdout: text(said.stdout), stderr: text(said.stderr) };
}

export interface Commands {
  /** Runs one whatever comes of it. */
  readonly outcome: (...args: string[]) => Promise<Outcome>;
  /** Runs one that must succeed; returns its output. */
  readonly text: (...args: string[]) => Promise<string>;
  /** Runs one that must succeed, with `--json`; returns the parsed output. */
  readonly json: <T = Json>(...args: string[]) => Promise<T>;
  /** The sentence of a command that is refused. */
  readonly refusal: (...args: string[]) => Promise<string>;
  /** A workspace of its own with a developer `ada`. */
  readonly makeWorkspace: () => Promise<{ id: string; name: string }>;
  /** The audit log of a workspace. */
  readonly audited: (
    workspaceId: string,
  ) => Promise<{ actor: string; action: string; before: Json | null; after: Json | null }[]>;
}

/** Commands on this database, which is all the settings they get. */
export function commandsOn(database: () => TestDatabase): Commands {
  const outcome: Commands["outcome"] = (...args) => admin(args, { DATABASE_URL: database().url });
  const text: Commands["text"] = async (...args) => {
    const said = await outcome(...args);
    expect(said).toMatchObject({ code: 0, stderr: "" });
    return said.stdout;
  };
  const json = async <T = Json>(...args: string[]): Promise<T> => JSON.parse(await text(...args, "--json")) as T;
  return {
    outcome,
    text,
    json,
    async refusal(...args) {
      const { code, stdout, stderr } = await outcome(...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^sluice: [^\n]+$/);
      return stderr.slice("sluice: ".length);
    },
    async makeWorkspace() {
      const name = `team ${newId().slice(-12)}`;
      const { id } = await json<{ id: string }>("workspace", "create", name);
      await text("member", "add", name, "ada", "--role", "developer");
      return { id, name };
    },
    audited: (id) =>
      database().query(
        "select actor->>'id' as actor, action, before, after from audit_log where workspace_id = $1 order by id",
        [id],
      ),
  };
}
