/** CSV as every capability reads it, and what spreadsheets make of its values. */
import { describe, expect, test } from "bun:test";

import { read, utils } from "@e965/xlsx";

import { DOCUMENT_CELLS_MAX } from "#workers/capabilities/csv.ts";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

interface Options {
  readonly delimiter?: string;
}

/** The capabilities that make records of CSV. */
const READERS: Readonly<Record<string, (text: string, options: Options) => Promise<unknown>>> = {
  "document.convert_spreadsheet": async (text, options) => {
    const made = await runCapability(
      "document.convert_spreadsheet",
      { document: { text } },
      { to: "json", ...options },
    );
    return JSON.parse(Buffer.from(made.bytes()).toString());
  },
  "code.transform_json": async (text, options) => {
    const made = await runCapability("code.transform_json", { data: { text } }, { from: "csv", ...options });
    return JSON.parse(String(made.output?.["text"]));
  },
};

describe.each(Object.keys(READERS))("%s", (id) => {
  test.each<[string, string, Options, unknown]>([
    ["equal names", "a,a,b\n1,2,3\n", {}, [{ a: "1", a_2: "2", b: "3" }]],
    ["names that are taken by others", "a_3,a,a,a\n1,2,3,4\n", {}, [{ a_3: "1", a: "2", a_4: "3", a_5: "4" }]],
    ["empty names", "a,,\n1,2,3\n", {}, [{ a: "1", column_2: "2", column_3: "3" }]],
    ["a name of every object", "__proto__,b\n1,2\n", {}, [JSON.parse('{"__proto__":"1","b":"2"}')]],
    ["short rows", "a,b\n1\n2,3\n", {}, [{ a: "1", b: null }, { a: "2", b: "3" }]], // prettier-ignore
    ["long rows", "a\n1,2\n3\n", { delimiter: "comma" }, [{ a: "1", column_2: "2" }, { a: "3", column_2: null }]], // prettier-ignore
    ["long rows of a found delimiter", "a\n1,2\n3,4\n", {}, [{ a: "1", column_2: "2" }, { a: "3", column_2: "4" }]], // prettier-ignore
    ["empty lines", "\na,b\n\n1,2\n\n", {}, [{ a: "1", b: "2" }]],
    ["a byte order mark", "\ufeffa,b\n1,2\n", {}, [{ a: "1", b: "2" }]],
    ["semicolons and decimal commas", "Tee;Preis\nmild;1,50\nstark;2,00\n", {}, [{ Tee: "mild", Preis: "1,50" }, { Tee: "stark", Preis: "2,00" }]], // prettier-ignore
    ["tabs", "a\tb\n1,2\t3;4\n", {}, [{ a: "1,2", b: "3;4" }]],
    ["commas beside semicolons", 'a,b\n"x;y",1\nz;z,2\n', {}, [{ a: "x;y", b: "1" }, { a: "z;z", b: "2" }]], // prettier-ignore
    ["a delimiter in quotes alone", '"a;b",c\n"1;2",3\n', {}, [{ "a;b": "1", c: "3" }].map(() => ({ "a;b": "1;2", c: "3" }))], // prettier-ignore
    ["lines in quotes", 'a,b\n"1\n2",3\n', {}, [{ a: "1\n2", b: "3" }]],
    ["a line that names the delimiter", "\ufeffsep=|\r\na;b|c\r\n1;2|3\r\n", {}, [{ "a;b": "1;2", c: "3" }]],
    ["one column", "a\n1\n2\n", {}, [{ a: "1" }, { a: "2" }]],
    ["another delimiter by name", "a,b;c\n1;2\n", { delimiter: "semicolon" }, [{ "a,b": "1", c: "2" }]],
    ["a head alone", "a,b\n", {}, []],
    ["nothing", "", {}, []],
  ])("reads %s", async (_what, text, options, records) => {
    expect(JSON.stringify(await READERS[id]?.(text, options))).toBe(JSON.stringify(records));
  });

  test("finds the delimiter of a long text by its start", async () => {
    const records = (await READERS[id]?.(`a;b\n${"1,5;2\n".repeat(12_000)}`, {})) as readonly object[];
    expect([records.length, records.at(-1)]).toEqual([12_000, { a: "1,5", b: "2" }]);
  });

  test("finds the delimiter of a text whose start ends within quotes", async () => {
    const long = "words, and words\n".repeat(60);
    const records = (await READERS[id]?.(`a;b;c\n${`1;"${long}";2\n`.repeat(80)}`, {})) as readonly object[];
    expect([records.length, records.at(-1)]).toEqual([80, { a: "1", b: long, c: "2" }]);
  });

  test("rejects rows that one wide row would expand into too many cells", async () => {
    const text = `a,b\n${"1,2\n".repeat(2_000)}${"x,".repeat(1_000)}y\n`;
    const said = `too_large: Expected at most ${DOCUMENT_CELLS_MAX} cells, got more.`;
    expect(await refused(READERS[id]?.(text, { delimiter: "comma" }) ?? Promise.resolve())).toBe(said);
  });

  test("reports the error of an open quote", async () => {
    expect(await refused(READERS[id]?.('a,"b\n', {}) ?? Promise.resolve())).toStartWith(
      "corrupt: The CSV cannot be read: ",
    );
  });
});

test("CSV is detected without its name by any delimiter", async () => {
  for (const [delimiter, text] of Object.entries({
    comma: "a,b\n1,2\n",
    semicolon: "a;b\n1;2\n",
    tab: "a\tb\n1\t2\n",
  })) {
    const made = await runCapability("code.transform_json", { data: { text } }, { to: "yaml" });
    expect([delimiter, made.output]).toEqual([delimiter, { from: "csv", text: '- a: "1"\n  b: "2"\n' }]);
  }
});

test("CSV with a detected delimiter is written with commas", async () => {
  const made = await runCapability(
    "document.convert_spreadsheet",
    { document: { text: "a;b\n1;2,5\n" } },
    { to: "csv" },
  );
  expect(Buffer.from(made.bytes()).toString()).toBe('a,b\n1,"2,5"\n');
});

const NUMBERS = ["0", "-1", "12.5", "123456789012345", "0.001"];
const TEXTS = ["1.10", "007", "1e5", "1E5", "-0", "+1", ".5", "5.", "1,5", "0x1f", "1234567890123456", "123456789012.3456", "0.0000001", "NaN", "Infinity", "1 000", "TRUE", "2026-01-02"]; // prettier-ignore

test.each(["xlsx", "ods"])("a CSV value is a number in %s only if it prints unchanged", async (to) => {
  const text = [...NUMBERS, ...TEXTS].map((value) => `"${value}",x\n`).join("");
  const made = await runCapability("document.convert_spreadsheet", { document: { text } }, { to });
  const { Sheets, SheetNames } = read(made.bytes());
  const rows = utils.sheet_to_json<unknown[]>(Sheets[SheetNames[0] ?? ""] ?? {}, { header: 1, raw: true });
  expect(rows.map(([value]) => value)).toEqual([...NUMBERS.map(Number), ...TEXTS]);
  const back = await runCapability("document.convert_spreadsheet", { document: made.bytes() }, { to: "csv" });
  expect(Buffer.from(back.bytes()).toString().replaceAll('"', "")).toBe(text.replaceAll('"', ""));
});
