import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { readLine } from "#deploy/admin/command.ts";

import { PROJECT_ROOT } from "../../support/infrastructure.ts";
import { createTestDatabase } from "../../support/postgres.ts";
import { admin } from "./commands.ts";

describe("an invalid command line", () => {
  const ID = "01a1f8dd-5566-7628-a09c-696d4c1e1e7f";

  test.each<readonly [expected: string, ...args: string[]]>([
    ["missing command; `npm run admin -- help` lists the commands"],
    ['unknown command "frobnicate"; `npm run admin -- help` lists', "frobnicate"],
    ['unknown command "workspcae list"; did you mean "workspace list"?', "workspcae", "list"],
    ['unknown command "wrkspace make"; did you mean "workspace"?', "wrkspace", "make"],
    ['unknown command "kay revok"; did you mean "key revoke"?', "kay", "revok"],
    [
      'unknown command "credits topup"; credits has top-up, correct, balance, ledger, check; did you mean "credits top-up"?',
      "credits",
      "topup",
    ],
    ['incomplete command "credits"; credits has top-up', "credits", "--json"],
    [
      'unknown command "key creat"; key has list, revoke, tools, limits, create; did you mean "key create"?',
      "help",
      "key",
      "creat",
    ],
    ['unknown command "workspace destroy"; workspace has list, disable, enable, create', "workspace", "destroy"],
    ["dead-letters has list, show, redrive, drop", "dead-letters", "resend", ID],
    ["missing <name> after workspace create", "workspace", "create"],
    ['unexpected argument "b"; expected <name> after workspace create', "workspace", "create", "a", "b"],
    ["expected a name of 1 to 64", "workspace", "create", ""],
    ["expected a name of 1 to 64", "workspace", "create", "x".repeat(65)],
    ["expected a name of 1 to 64", "workspace", "create", "a\nb"],
    ["expected a name of 1 to 64", "workspace", "create", " a"],
    ["expected a name that is not an id", "workspace", "create", ID],
    ["expected a name of 1 to 64", "member", "add", "w", "a\u0007", "--role", "owner"],
    ["missing --role <role>", "member", "add", "w", "a"],
    ["expected a role of owner", "member", "add", "w", "a", "--role", "king"],
    ["expected a role of owner", "member", "role", "w", "a", "king"],
    ['unknown option "--credits-per-dy"; did you mean --credits-per-day?', "member", "limits", "w", "a", "--credits-per-dy", "5"], // prettier-ignore
    ["expected --credits-total as a decimal number", "member", "limits", "w", "a", "--credits-total", "5x"],
    ['unknown option "--models"', "end-user", "limits", "w", "alice", "--models", "gpt-4o"],
    ["expected --warn-at as a decimal number", "end-user", "limits", "w", "alice", "--warn-at", "80,x"],
    ['unknown command "budget-alert create"; budget-alert has list, set, delete', "budget-alert", "create", "w", "a"],
    ['unknown command "budget-alrt set"; did you mean "budget-alert set"?', "budget-alrt", "set", "w", "a"],
    ['unknown option "--treshold"; did you mean --threshold?', "budget-alert", "set", "w", "a", "--treshold", "5"],
    ['expected a period of daily, weekly, monthly, got "month"', "budget-alert", "set", "w", "a", "--period", "month"],
    ["expected --stops-calls yes or no", "budget-alert", "set", "w", "a", "--stops-calls", "true"],
    ["expected a name of 1 to 64", "balance-alert", "set", "w", " a", "--below-days", "7"],
    ["expected --below-days as a decimal number", "balance-alert", "set", "w", "a", "--below-days", "week"],
    ["missing --member <name>", "key", "create", "w", "--preset", "free"],
    ["missing --preset <preset>", "key", "create", "w", "--member", "a"],
    ["expected a key id as a UUID", "key", "revoke", "slk_x"],
    ["expected a key id as a UUID", "preset", "set", "x", "free"],
    ["fallback-chains has list, set, delete", "fallback-chains", "show"],
    ["missing --workspace <workspace>", "fallback-chains", "list"],
    ["missing <model>", "fallback-chains", "set", "--workspace", "w"],
    ['unexpected argument "b"', "fallback-chains", "delete", "a", "b", "--workspace", "w"],
    ['unknown option "--idd"; did you mean --id?', "credits", "top-up", "w", "1", "--idd", ID],
    ['unknown option "--jsn"; did you mean --json?', "workspace", "list", "--jsn"],
    ["missing value after --id", "credits", "top-up", "w", "1", "--id"],
    ["expected --limit as a whole number", "credits", "ledger", "w", "--limit", "0"],
    ["expected --limit as a whole number", "holds", "list", "--limit", "1e3"],
    ["expected the id of a job", "holds", "close", "x"],
    ["expected the id of a job", "holds", "close", `${ID}.0`],
    ["expected --before-deadline yes or no", "holds", "close", ID, "--before-deadline", "x"],
    ["expected an id as a UUID", "dead-letters", "show", "1"],
    ['".." is no valid model', "fallback-chains", "delete", "..", "--workspace", "w"],
    ["expected --url as http://… or https://…", "workspace", "list", "--url", "localhost:8080"],
    ['unknown option "--url"', "operator", "list", "--url", "http://127.0.0.1:1"],
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
    ['unexpected argument "w"; expected no argument after credits check', "credits", "check", "w"],
    ['unknown command "webhook send"; webhook has listen', "webhook", "send"],
    ["expected --port as a whole number from 0 to 65535", "webhook", "listen", "--port", "65536"],
    ["expected --answer as a whole number from 200 to 599", "webhook", "listen", "--answer", "101"],
    ["expected --secret as whsec_ and base64", "webhook", "listen", "--secret", "canary"],
  ])("%p is answered with an explanation, the correct usage and exit code 2", async (expected, ...args) => {
    // no database is named: a wrong line needs none to be refused
    const { code, stdout, stderr } = await admin(args, {});
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    const [sentence, ...usage] = stderr.split("\n");
    expect(sentence).toContain(expected);
    expect(usage.length).toBeGreaterThan(0);
    for (const line of usage) expect(line).toStartWith("usage: npm run admin -- ");
  });
});

interface Row {
  readonly command: string;
  readonly usage: string;
  readonly needs: string;
}

describe("help", () => {
  test("lists every command by task, and needs no setting", async () => {
    const { code, stdout } = await admin(["help"], {});
    expect(code).toBe(0);
    const list = JSON.parse((await admin(["help", "--json"], {})).stdout) as Row[];
    const listed = Array.from(stdout.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?)\*? {2,}[A-Z]/gm), ([, name]) => name);
    expect([...new Set(listed)]).toHaveLength(list.length);
    expect(new Set(listed)).toEqual(new Set(list.map(({ command }) => command)));
    const needs = Object.groupBy(list, (row) => row.needs);
    expect(needs["nothing"]?.map(({ command }) => command)).toEqual([
      "catalogue check",
      "catalogue list",
      "import litellm",
      "nats keys",
      "compose env",
      "webhook listen",
      "help",
    ]);
    const marked = Array.from(stdout.matchAll(/^ {2}([a-z -]+)\*/gm), ([, name]) => name);
    expect(new Set(marked)).toEqual(new Set(needs["database"]?.map(({ command }) => command)));
    const titles = ["Workspaces, members and keys", "Credits and usage", "Models and providers", "Installation"];
    const places = titles.map((title) => stdout.indexOf(`\n${title}\n`));
    expect(places).toEqual(places.filter((place) => place > 0).toSorted((a, b) => a - b));
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
    expect(await admin(["--help"], {})).toMatchObject({ code: 0, stdout });
  });

  test("of a command describes every argument and option, with an example that parses", async () => {
    const list = JSON.parse((await admin(["help", "--json"], {})).stdout) as Row[];
    for (const { command, usage } of list) {
      const { code, stdout, stderr } = await admin(["help", ...command.split(" ")], {});
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(await admin([...command.split(" "), "--help"], {})).toMatchObject({ code: 0, stdout });
      expect(stdout).toStartWith(`usage: npm run admin -- ${usage}\n`);
      const parameters = Array.from(usage.matchAll(/--[a-z-]+|(?<!--[a-z-]+ )<[^>]+>/g), ([term]) => term);
      for (const term of parameters) {
        const row = stdout.split("\n").find((line) => line.startsWith(`  ${term}`));
        expect([command, term, row]).toEqual([command, term, expect.stringMatching(/^ {2}\S.* {2,}\S.*[a-z]/)]);
      }
      const [, example = ""] = /\nExample:\n {2}npm run admin -- (.+)\n/.exec(stdout) ?? [];
      expect([command, example.startsWith(command)]).toEqual([command, true]);
      const words = Array.from(
        example.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
        ([, one, two, three]) => one ?? two ?? three,
      );
      const left = words.slice(command.split(" ").length).map(String);
      expect(() => readLine({ usage, needs: "service" }, left)).not.toThrow();
    }
  });

  test("knows every command that documents name", async () => {
    const list = JSON.parse((await admin(["help", "--json"], {})).stdout) as { command: string }[];
    const known = list.map(({ command }) => command);
    for (const name of ["schemas/docs/operate/access.md", "CONTRIBUTING.md", "schemas/docs/guides/webhooks.md"]) {
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

describe("errors of the environment", () => {
  test.each<readonly [says: string, env: Record<string, string>]>([
    ["DATABASE_URL is not set, and no stack runs on /nowhere; start one with npm start, or set DATABASE_URL", {}],
    ["SLUICE_TYPO is not a setting of this version", { SLUICE_TYPO: "1" }],
    ["Postgres cannot be reached at DATABASE_URL", { DATABASE_URL: "postgres://u:canary-password@127.0.0.1:1/x" }],
  ])("are reported in one sentence: %s", async (says, env) => {
    const { code, stdout, stderr } = await admin(["operator", "list", "--json"], env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toStartWith(`sluice: ${says}`);
    expect(stderr).not.toMatch(/\n|canary-password/);
  });

  test("name a database without migrations", async () => {
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
