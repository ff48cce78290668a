/** Pages for operators: what they name exists, their commands and statements are valid, and their links lead somewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "bun:test";

import { readLine } from "#deploy/admin/command.ts";
import { runAdminCommand } from "#deploy/admin/main.ts";
import { CLIENT_VARIABLES } from "#shared/config/config.ts";
import { newId } from "#shared/base/ids.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

import manifest from "../../package.json" with { type: "json" };

const FOLDER = join(PROJECT_ROOT, "schemas/docs/operate");
const pages = readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), "utf8")] as const);
const texts = new Map(pages);
const everything = [...texts.values()].join("\n");

/** Returns the distinct first groups of all matches. */
function named(pattern: RegExp): string[] {
  return [...new Set(Array.from(everything.matchAll(pattern), (match) => match[1] ?? ""))];
}

/** Returns the code blocks of a language, without the indentation of a list. */
function blocks(text: string, language: string): string[] {
  const found = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^\\1\`\`\`$`, "gm"));
  return Array.from(found, ([, indent = "", code = ""]) => code.replaceAll(new RegExp(`^${indent}`, "gm"), ""));
}

/** Returns the anchors of the headings of a page. */
function anchorsOf(text: string): Set<string> {
  const headings = Array.from(text.matchAll(/^#{2,6} (.+)$/gm), ([, heading = ""]) => heading.toLowerCase());
  return new Set(headings.map((heading) => heading.replaceAll(/[^a-z0-9 -]/g, "").replaceAll(" ", "-")));
}

test("the pages name only metrics that exist", async () => {
  const metrics = createMetrics("test");
  const page = await metrics.registry.metrics();
  metrics.close();
  const names = named(/`((?:sluice|process)_[a-z_]+)[`{]/g);
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => !page.includes(`# TYPE ${name} `))).toEqual([]);
});

test("the pages name only settings that exist", async () => {
  const settings = await Bun.file(join(PROJECT_ROOT, "deploy/env.example")).text();
  const names = named(/\b(SLUICE_[A-Z0-9_]+)/g);
  expect(names.length).toBeGreaterThan(40);
  const unknown = names.filter((name) => !settings.includes(`\n${name}=`));
  expect(unknown.filter((name) => !CLIENT_VARIABLES.includes(name))).toEqual([]);
});

test("the pages name only alerts and scripts that exist", async () => {
  const rules = await Bun.file(join(PROJECT_ROOT, "deploy/alerts/sluice.rules.yaml")).text();
  const alerts = named(/`(Sluice[A-Z]\w+)`/g);
  expect(alerts.length).toBeGreaterThan(30);
  expect(alerts.filter((name) => !rules.includes(`alert: ${name}\n`))).toEqual([]);
  const scripts = named(/npm run (?:-s )?([a-z]+(?::[a-z]+)*)/g);
  expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
});

/** Admin commands in blocks and in the text, as the shell passes their words on. */
const commands = named(/(?:npm run (?:-s )?admin --|--no-deps admin|--rm admin|sluice\.ts admin) ([a-z][^`\n]*)/g);

let help = "";
await runAdminCommand(["help", "--json"], {
  stdout: (text) => (help = text),
  stderr: () => undefined,
  environment: {},
});
const usages = (JSON.parse(help) as { command: string; usage: string }[]).toSorted(
  (a, b) => b.command.length - a.command.length,
);

test.each(commands)("the command %s can be called", (line) => {
  const words = line
    .replaceAll(/<[^>]+>/g, "placeholder")
    .replace(/ > .*/, "")
    .matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g);
  const args = Array.from(words, ([, single, double, plain]) => String(single ?? double ?? plain));
  const found = usages.find(({ command }) => `${args.join(" ")} `.startsWith(`${command} `));
  const { command, usage } = found ?? { command: "", usage: "" };
  expect([line, command]).toEqual([line, expect.stringMatching(/./)]);
  expect(() => readLine({ usage, needs: "service" }, args.slice(command.split(" ").length))).not.toThrow();
});

test.each(pages)("the shell reads every block of %s", async (_page, text) => {
  for (const block of blocks(text, "sh")) {
    const script = block.replaceAll(/<[a-zA-Z_./ -]+…?>/g, "placeholder");
    const { exitCode, stderr } = Bun.spawnSync(["bash", "-n", "-c", script]);
    expect([block, exitCode, stderr.toString()]).toEqual([block, 0, ""]);
  }
  for (const block of blocks(text, "yaml")) expect(Bun.YAML.parse(block)).toBeObject();
  for (const block of blocks(text, "json")) expect(JSON.parse(block)).toBeObject();
});

test("the log lines that the pages quote are logged", async () => {
  const quotes = Array.from(everything.matchAll(/[Ll]og lines? ((?:`[^`]+`(?:, | and )?)+)/g), ([, list = ""]) =>
    Array.from(list.matchAll(/`([^`]+)`/g), ([, line = ""]) => line),
  ).flat();
  expect(quotes.length).toBeGreaterThan(20);
  const sources = await Promise.all(
    ["shared", "ingress", "workers", "deploy"].flatMap((folder) =>
      [...new Bun.Glob("**/*.{ts,mjs}").scanSync(join(PROJECT_ROOT, folder))].map((name) =>
        Bun.file(join(PROJECT_ROOT, folder, name)).text(),
      ),
    ),
  );
  const code = sources.join("\n");
  // Both audits of workers/janitor/money.ts share their messages.
  const isLogged = (line: string): boolean => code.includes(line.replace(/^(?:ledger|storage) audit/, "${name} audit"));
  expect([...new Set(quotes)].filter((line) => !isLogged(line))).toEqual([]);
});

test("the catalogue's page names only fields of its schema", async () => {
  const schema = await Bun.file(join(PROJECT_ROOT, "schemas/catalogue.schema.json")).text();
  const others = await Promise.all(
    ["pricing", "model-entry", "provider", "allowed-params"].map((name) =>
      Bun.file(join(PROJECT_ROOT, `schemas/${name}.schema.json`)).text(),
    ),
  );
  const rows = (texts.get("catalogue.md") ?? "").matchAll(/^\| `([a-z_]+)(?:: true)?`/gm);
  const fields = Array.from(rows, ([, field = ""]) => field);
  expect(fields.length).toBeGreaterThan(10);
  expect(fields.filter((field) => !`${schema}${others.join("")}`.includes(`"${field}"`))).toEqual([]);
});

test("the statements are valid on a database of this version", async () => {
  const statements = pages.flatMap(([page, text]) => [
    ...blocks(text, "sql").map((sql) => [page, sql] as const),
    ...Array.from(text.matchAll(/`(select [^`]+)`/g), ([, sql = ""]) => [page, sql] as const),
  ]);
  expect(statements.length).toBeGreaterThan(12);
  const db = await createTestDatabase();
  try {
    for (const [page, sql] of statements) {
      const runnable = sql
        .replaceAll(/^(begin|commit);$/gm, "")
        .replaceAll("role sluice", "role current_user")
        .replaceAll(/'<[a-z ]*day>'/g, "'2026-01-01'")
        .replaceAll(/'?<(?:workspace|batch|file|request)(?: id)?>'?/g, "'00000000-0000-7000-8000-000000000001'")
        .replaceAll(/<[a-z ]+>/g, "1");
      // Postgres parses, plans and runs every statement, and the block undoes them.
      const block = `do $page$ begin ${intoPlpgsql(runnable)} raise exception 'undone'; end $page$`;
      const fault = await db.query(block).catch((error: Error) => error.message);
      expect([page, sql, fault]).toEqual([page, sql, "undone"]);
    }
  } finally {
    await db.drop();
  }
});

test("the query of the page on budgets finds the first wrong day, and its statements correct it", async () => {
  const db = await createTestDatabase();
  try {
    const id = await createWorkspace(db);
    const text = texts.get("usage-and-budgets.md") ?? "";
    const [find = "", correct = ""] = blocks(text, "sql").filter((sql) => sql.includes("spent_day"));
    const differences = async (): Promise<[day: string, difference: string][]> => {
      const rows = await db.query<{ day: string; difference: string }>(
        `select day::text, difference::text from (${find.replace("<workspace id>", id).replace(";", "")}) found`,
      );
      return rows.map(({ day, difference }) => [day, difference]);
    };
    // One call of 10 on each of four days; the third day began with 3 too little.
    const days = ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"];
    for (const [index, day] of days.entries()) {
      await db.query(
        "insert into ledger_entry (workspace_id, kind, amount, source_id, at) values ($1, 'settle', -10, $2, $3)",
        [id, newId(), `${day}T12:00:00Z`],
      );
      const spent = index * 10 - (index >= 2 ? 3 : 0);
      await db.query("insert into spent_day (workspace_id, day, spent) values ($1, $2, $3)", [id, day, spent]);
    }
    await db.query("update balance set amount = amount - 40, spent = 37 where workspace_id = $1", [id]);
    expect(await differences()).toEqual(days.map((day, index) => [day, index >= 2 ? "3" : "0"]));
    const spentFaults = async (): Promise<object[]> =>
      db.query("select expected, found from audit_ledger() where fault = 'spent is not the sum of settles'");
    expect(await spentFaults()).toEqual([{ expected: "40", found: "37" }]);
    const values = { "<workspace id>": id, "<difference>": "3", "<first wrong day>": "2026-03-03" };
    const statements = Object.entries(values).reduce((sql, [name, value]) => sql.replaceAll(name, value), correct);
    for (const sql of statements.split(";").filter((statement) => statement.trim().startsWith("update")))
      await db.query(sql);
    expect(await differences()).toEqual(days.map((day) => [day, "0"]));
    expect(await spentFaults()).toEqual([]);
  } finally {
    await db.drop();
  }
});

/** PL/pgSQL discards the rows of a query only with `perform`. */
function intoPlpgsql(sql: string): string {
  return sql
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "")
    .map((statement) => `${statement.replace(/^select\b([^]*)$/i, "perform * from (select$1) rows")};`)
    .join(" ");
}

test("the upgrade with Compose replaces every role", async () => {
  const compose = Bun.YAML.parse(await Bun.file(join(PROJECT_ROOT, "deploy/compose.yaml")).text()) as {
    services: Record<string, { image: string }>;
  };
  const roles = Object.keys(compose.services).filter((name) => compose.services[name]?.image === "sluice:local");
  const replaced = /for service in ([^;]+);/.exec(texts.get("upgrade.md") ?? "")?.[1]?.split(" ") ?? [];
  expect(new Set(["migrate", "admin", ...replaced])).toEqual(new Set(roles));
});

describe.each(pages)("%s", (_page, text) => {
  test("starts with its title, section, order and a summary of one sentence", () => {
    const [, head = ""] = /^---\n([^]*?)\n---\n/.exec(text) ?? [];
    expect(Bun.YAML.parse(head)).toEqual({
      title: expect.stringMatching(/^[A-Z][^.]{2,40}$/),
      section: "Operate",
      order: expect.any(Number),
      summary: expect.stringMatching(/^[A-Z][^.]+(?:\.[a-z][^.]*)*\.$/),
    });
    expect(text).not.toMatch(/^# [A-Z]/m);
  });

  test("links only to pages and headings that exist", () => {
    const dead = Array.from(text.matchAll(/\]\((?!https?:|\.\.\/)([^)#]*)(?:#([^)]+))?\)/g), ([link, file, anchor]) => {
      const target = file === "" ? text : texts.get(file ?? "");
      if (target === undefined) return link;
      return anchor === undefined || anchorsOf(target).has(anchor) ? null : link;
    }).filter((link) => link !== null);
    expect(dead).toEqual([]);
  });
});

test("no two pages have the same order", () => {
  const orders = pages.map(([, text]) => /^order: (\d+)$/m.exec(text)?.[1]);
  expect(new Set(orders).size).toBe(orders.length);
});
