/** The admin command on a service and a database of the test's. It runs in this process: starting one for each takes most of a second. */
import { afterAll, beforeAll, expect } from "bun:test";

import { runAdminCommand } from "#deploy/admin/main.ts";
import { run } from "#deploy/embedded/process.mjs";
import { listen } from "#ingress/listen.ts";
import { newId } from "#shared/base/ids.ts";
import { openBed, type OperatorBed } from "#tests/ingress/routes/operator/bed.ts";

import { ENTRY, PROJECT_ROOT } from "../../support/infrastructure.ts";

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

/** An admin command with these settings and no others; without service and database where none is among them, whatever runs here. */
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
  readonly bed: () => OperatorBed;
  /** Settings for the service and its database. */
  readonly settings: () => Readonly<Record<"DATABASE_URL" | "SLUICE_URL" | "SLUICE_OPERATOR_TOKEN", string>>;
  /** Runs one whatever comes of it. */
  readonly outcome: (...args: string[]) => Promise<Outcome>;
  /** Runs one that must succeed; returns its output. */
  readonly text: (...args: string[]) => Promise<string>;
  /** Runs one that must succeed, with `--json`; returns the parsed output. */
  readonly json: <T = Json>(...args: string[]) => Promise<T>;
  /** The sentence of a command that is refused, as a fault unless the code of another exit is given. */
  readonly refusal: (...args: string[]) => Promise<string>;
  /** A workspace of its own with a developer `ada`. */
  readonly makeWorkspace: () => Promise<{ id: string; name: string }>;
  /** The audit log of a workspace, with its actors by the names of their tokens without an id. */
  readonly audited: (
    workspaceId: string,
  ) => Promise<{ actor: string; action: string; before: Json | null; after: Json | null }[]>;
}

/** Commands on a service of the test file's, which is all the settings they get. */
export function openCommands(): Commands {
  let opened: OperatorBed | undefined;
  let listening: ReturnType<typeof listen> | undefined;
  beforeAll(async () => {
    opened = await openBed();
    listening = listen(opened.context, { hostname: "127.0.0.1", port: 0 });
  });
  afterAll(async () => {
    await listening?.stop(true);
    await opened?.close();
  });
  const bed = (): OperatorBed => {
    if (opened === undefined) throw new Error("the service is not there yet");
    return opened;
  };
  const settings: Commands["settings"] = () => ({
    DATABASE_URL: bed().db.url,
    SLUICE_URL: `http://127.0.0.1:${listening?.port}`,
    SLUICE_OPERATOR_TOKEN: bed().tokens.money,
  });
  const outcome: Commands["outcome"] = (...args) => admin(args, settings());
  const text: Commands["text"] = async (...args) => {
    const said = await outcome(...args);
    expect(said).toMatchObject({ code: 0, stderr: "" });
    return said.stdout;
  };
  const json = async <T = Json>(...args: string[]): Promise<T> => JSON.parse(await text(...args, "--json")) as T;
  return {
    bed,
    settings,
    outcome,
    text,
    json,
    async refusal(...args) {
      const { code, stdout, stderr } = await outcome(...args);
      expect(stdout).toBe("");
      expect(stderr).toMatch(code === 1 ? /^sluice: [^\n]+$/ : /^[^\n]+\nusage: [^\n]+$/);
      return stderr.replace(/^sluice: |\nusage: .*/g, "");
    },
    async makeWorkspace() {
      const name = `team ${newId().slice(-12)}`;
      const { id } = await json<{ id: string }>("workspace", "create", name);
      await text("member", "add", name, "ada", "--role", "developer");
      return { id, name };
    },
    audited: (id) =>
      bed().db.query(
        "select split_part(actor->>'id', ' ', 1) as actor, action, before, after from audit_log where workspace_id = $1 order by id",
        [id],
      ),
  };
}
