/** The release before runs on a database that is upgraded: what a migration after the first release may do to it. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";

import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { brokenMigrationRules } from "#tests/support/migration-rules.ts";

const FOLDER = `${PROJECT_ROOT}/shared/database/migrations`;

/** Rules that a file of release 3 breaks, behind the first release's. */
const broken = (text: string, said = ""): string[] =>
  brokenMigrationRules([
    ["0001_first.sql", "create table thing (id int primary key, name text not null); drop table if exists nothing;"],
    ["0002_second.sql", `-- Release 3${said}\n${text}`],
  ]).map(({ rule }) => rule);

test("the migrations keep the previous release working", () => {
  const files = readdirSync(FOLDER)
    .toSorted()
    .map((name) => [name, readFileSync(`${FOLDER}/${name}`, "utf8")] as const);
  expect(files.length).toBeGreaterThan(10);
  expect(brokenMigrationRules(files)).toEqual([]);
});

test.each([
  ["drop table thing;", "drops"],
  ["alter table thing drop column name;", "drops"],
  ["drop function f(int);", "drops"],
  ["-- unread since release 3\nalter table thing drop column name;", "drops"],
  ["alter table thing rename column name to title;", "renames"],
  ["alter table thing rename to item;", "renames"],
  ["alter table thing alter column name type varchar(10);", "changes a column's type"],
  ["alter table thing alter name set data type int;", "changes a column's type"],
  ["alter table thing add column size int not null;", "adds a column"],
  ["ALTER TABLE thing\n  ADD COLUMN a int,\n  ADD size numeric(10, 2) NOT NULL;", "adds a column"],
  ["alter table thing alter column name set not null;", "sets not null"],
  ["create index thing_name on thing (name);", "makes an index"],
  ["create unique index on thing (name);", "makes an index"],
  ["create index concurrently thing_name on thing (name);", "in a transaction"],
  ["alter table thing add constraint thing_named check (name <> '');", "adds a constraint"],
  ["create or replace function f() returns int language sql as $$ select 1; $$;", "replaces a function"],
])("a file after the first release is rejected: %s", (text, rule) => {
  expect(broken(text)).toEqual([expect.stringContaining(rule)]);
});

test.each([
  "create table item (id int primary key, name text not null); create index item_name on item (name);",
  "alter table thing add column size int, add column colour text not null default 'red';",
  "alter table thing add constraint thing_named check (name <> '') not valid; alter table thing validate constraint thing_named;",
  "-- The column is unread since release 2.\nalter table thing drop column name;",
  "create function f2() returns int language plpgsql as $$ begin drop table t; return 1; end $$;",
  "alter table thing alter column name drop not null; update thing set name = 'renamed' where id = 1;",
])("a file after the first release may: %s", (text) => {
  expect(broken(text)).toEqual([]);
});

test.each([
  ["create index concurrently on thing (name);", "can be repeated"],
  ["alter table thing add column size int;", "can be repeated"],
  ["create index concurrently thing_name on thing (name); update thing set name = '';", "can be repeated"],
  ["-- unread since release 2\ndrop index concurrently thing_name;", "can be repeated"],
])("a file outside a transaction is rejected: %s", (text, rule) => {
  expect(broken(text, ", outside a transaction")).toEqual([expect.stringContaining(rule)]);
});

test.each([
  "-- why\ncreate unique index concurrently thing_name on thing (lower(name)) where name <> '';",
  "create index concurrently if not exists thing_name on thing (name);\n-- unread since release 2\ndrop index concurrently if exists thing_old;",
])("a file outside a transaction may: %s", (text) => {
  expect(broken(text, ", outside a transaction")).toEqual([]);
});

test("releases follow one another", () => {
  const files = [
    ["0001_a.sql", "select 1;"],
    ["0002_b.sql", "-- Release 2\nselect 1;"],
    ["0003_c.sql", "select 1;"],
  ] as const;
  expect(brokenMigrationRules(files)).toEqual([
    { file: "0003_c.sql", rule: "stands behind one of release 2, and names none or an earlier one" },
  ]);
});
