import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { PROJECT_ROOT } from "../../support/infrastructure.ts";
import { createTestDatabase } from "../../support/postgres.ts";
import { admin } from "./commands.ts";

describe("a line that is wrong", () => {
  const ID = "01a1f8dd-5566-7628-a09c-696d4c1e1e7f";

  test.each<readonly [expected: string, ...args: string[]]>([
    ["expected a command, got none"],
    ["expected a command", "frobnicate"],
    ["expected workspace with list, disable, enable, create", "workspace", "destroy"],
    ["expected dead-letters with list, show, redrive, drop", "dead-letters", "resend", ID],
    ["expected <name>", "workspace", "create"],
    ['got "b" besides', "workspace", "create", "a", "b"],
    ["expected a name of 1 to 64", "workspace", "create", ""],
    ["expected a name of 1 to 64", "workspace", "create", "x".repeat(65)],
    ["expected a name of 1 to 64", "workspace", "create", "a\nb"],
    ["expected a name of 1 to 64", "workspace", "create", " a"],
    ["expected a name that is no id", "workspace", "create", ID],
    ["expected a name of 1 to 64", "member", "add", "w", "a\u0007", "--role", "owner"],
    ["expected --role <role>", "member", "add", "w", "a"],
    ["expected a role of owner", "member", "add", "w", "a", "--role", "king"],
    ["expected a role of owner", "member", "role", "w", "a", "king"],
    ["expected --member <name>", "key", "create", "w", "--preset", "free"],
    ["expected --preset <preset>", "key", "create", "w", "--member", "a"],
    ["expected a key id as a UUID", "key", "revoke", "slk_x"],
    ["expected a key id as a UUID", "preset", "set", "x", "free"],
    ["expected fallback-chains with list, set, delete", "fallback-chains", "show"],
    ["expected --workspace <workspace>", "fallback-chains", "list"],
    ["expected <model>", "fallback-chains", "set", "--workspace", "w"],
    ['got "b" besides', "fallback-chains", "delete", "a", "b", "--workspace", "w"],
    ["expected credits top-up as below", "credits", "top-up", "w", "1", "--idd", ID],
    ["expected credits top-up as below", "credits", "top-up", "w", "1", "--id"],
    ["expected --limit as a whole number", "credits", "ledger", "w", "--limit", "0"],
    ["expected --limit as a whole number", "holds", "list", "--limit", "1e3"],
    ["expected a job's id", "holds", "close", "x"],
    ["expected a job's id", "holds", "close", `${ID}.0`],
    ["expected --before-deadline yes or no", "holds", "close", ID, "--before-deadline", "x"],
    ["expected an id as a UUID", "dead-letters", "show", "1"],
    ["expected another model", "fallback-chains", "delete", "..", "--workspace", "w"],
    ["expected --url as http://… or https://…", "workspace", "list", "--url", "localhost:8080"],
    ["expected operator list as below", "operator", "list", "--url", "http://127.0.0.1:1"],
    [
      "expected --continue-streams yes or no",
      "fallback-chains",
      "set",
      "a",
      "b",
      "--workspace",
      "w",
      "--continue-streams",
      "x",
    ],
    ["expected a request id as a UUID", "usage", "w", "--request", "x"],
    ["expected no argument after credits check", "credits", "check", "w"],
    ["expected webhook with listen", "webhook", "send"],
    ["expected --port as a whole number from 0 to 65535", "webhook", "listen", "--port", "65536"],
    ["expected --answer as a whole number from 200 to 599", "webhook", "listen", "--answer", "101"],
    ["expected --secret as the channel shows it", "webhook", "listen", "--secret", "canary"],
  ])("hears %p and how to write it, with exit code 2", async (expected, ...args) => {
    // no database is named: a wrong line needs none to be refused
    const { code, stdout, stderr } = await admin(args, {});
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    const [sentence, ...usage] = stderr.split("\n");
    expect(sentence).toContain(expected);
    expect(usage.length).toBeGreaterThan(0);
    for (const line of usage) expect(line).toStartWith("usage: npm run admin -- ");
  });
});

describe("help", () => {
  test("lists every command, says which dead letters are not sent again, and needs no setting", async () => {
    const { code, stdout } = await admin(["help"], {});
    expect(code).toBe(0);
    expect(stdout).toContain("credits top-up <workspace> <credits> [--id <uuid>] [--note <text>] [--json]");
    expect(stdout).toContain("Dead letters of calls cannot be sent again");
    const list = JSON.parse((await admin(["help", "--json"], {})).stdout) as Record<string, string>[];
    for (const { usage = "" } of list) expect(stdout).toContain(usage);
    const needs = Object.groupBy(list, (row) => row["needs"] ?? "");
    expect(needs["nothing"]?.map(({ command }) => command)).toEqual([
      "catalogue check",
      "catalogue list",
      "nats keys",
      "compose env",
      "webhook listen",
      "help",
    ]);
    expect(needs["database"]?.map(({ command }) => command)).toContain("operator add");
    const titles = [
      "To a running service, with an operator token",
      "On the database of DATABASE_URL",
      "On this machine alone",
    ];
    expect(titles.map((title) => stdout.indexOf(`\n${title}`))).toEqual(
      titles.map((title) => stdout.indexOf(title) - 1),
    );
    expect(await admin(["--help"], {})).toMatchObject({ code: 0, stdout });
    const one = await admin(["key", "create", "--help"], {});
    expect(one).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("key create <workspace>") });
  });

  test("knows every command that documents name", async () => {
    const list = JSON.parse((await admin(["help", "--json"], {})).stdout) as { command: string }[];
    const known = list.map(({ command }) => command);
    for (const name of ["deploy/runbook.md", "CONTRIBUTING.md", "schemas/docs/guides/webhooks.md"]) {
      const guide = await Bun.file(join(PROJECT_ROOT, name)).text();
      const named = Array.from(
        guide.matchAll(/(?:\badmin|\badmin --) ([a-z][a-z-]*(?: [a-z][a-z-]*)?)/g),
        (hit) => hit[1],
      );
      const used = named.filter((words) => known.some((command) => command.split(" ")[0] === words?.split(" ")[0]));
      expect(used.length).toBeGreaterThan(0);
      for (const words of used)
        expect(
          known.some((command) => `${words} `.startsWith(`${command} `)),
          words,
        ).toBe(true);
    }
  });
});

describe("faults of the surroundings", () => {
  test.each<readonly [says: string, env: Record<string, string>]>([
    ["DATABASE_URL is not set, and no stack runs on /nowhere; start one with npm start, or set DATABASE_URL", {}],
    ["SLUICE_TYPO is not a setting of this version", { SLUICE_TYPO: "1" }],
    ["Postgres cannot be reached at DATABASE_URL", { DATABASE_URL: "postgres://u:canary-password@127.0.0.1:1/x" }],
  ])("are told in one sentence: %s", async (says, env) => {
    const { code, stdout, stderr } = await admin(["operator", "list", "--json"], env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toStartWith(`sluice: ${says}`);
    expect(stderr).not.toMatch(/\n|canary-password/);
  });

  test("a database without migrations is named as such", async () => {
    const empty = await createTestDatabase({ migrated: false });
    try {
      const said = await admin(["operator", "list"], { DATABASE_URL: empty.url });
      const stderr = expect.stringMatching(/^sluice: the database lacks \d+ migrations/) as string;
      expect(said).toMatchObject({ code: 1, stderr });
    } finally {
      await empty.drop();
    }
  });
});
