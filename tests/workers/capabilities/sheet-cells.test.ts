/** Dates and errors of workbooks as other programs write them: the XML is written by hand. */
import { describe, expect, test } from "bun:test";

import { zipOf } from "#tests/support/hostile-files/documents.ts";
import { countFormulas } from "#workers/capabilities/document/formulas.ts";
import { SHEET_CHARACTERS_MAX } from "#workers/capabilities/document/sheets.ts";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

interface Book {
  /** Cells of one column, as XML without their place; style 1 is a date with a time, style 2 a time, style 3 a duration. */
  readonly cells: readonly string[];
  readonly strings?: readonly string[];
  readonly is1904?: boolean;
}

function xlsx({ cells, strings = [], is1904 = false }: Book): Uint8Array {
  const rows = cells.map((cell, at) => `<row r="${at + 1}">${cell.replace("<c", `<c r="A${at + 1}"`)}</row>`);
  const type = "application/vnd.openxmlformats-officedocument.spreadsheetml";
  return zipOf({
    "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${type}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="${type}.sharedStrings+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><workbookPr date1904="${is1904}"/><sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${RELATIONS}/styles" Target="styles.xml"/><Relationship Id="r3" Type="${RELATIONS}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    "xl/styles.xml": `<styleSheet xmlns="${MAIN}"><numFmts count="3"><numFmt numFmtId="170" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/><numFmt numFmtId="171" formatCode="hh:mm:ss.000"/><numFmt numFmtId="172" formatCode="[hh]:mm:ss"/></numFmts><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="170" applyNumberFormat="1"/><xf numFmtId="171" applyNumberFormat="1"/><xf numFmtId="172" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    "xl/sharedStrings.xml": `<sst xmlns="${MAIN}">${strings.map((text) => `<si><t>${text}</t></si>`).join("")}</sst>`,
    "xl/worksheets/sheet1.xml": `<worksheet xmlns="${MAIN}"><sheetData>${rows.join("")}</sheetData></worksheet>`,
  });
}

function ods(cells: readonly string[]): Uint8Array {
  const namespaces = ["office", "table", "text"].map(
    (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  );
  const rows = cells.map((cell) => `<table:table-row>${cell}</table:table-row>`).join("");
  return zipOf({
    mimetype: "application/vnd.oasis.opendocument.spreadsheet",
    "META-INF/manifest.xml": "<manifest/>",
    "styles.xml": "<office:document-styles/>",
    "content.xml": `<office:document-content ${namespaces.join(" ")} xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"><office:body><office:spreadsheet><table:table table:name="One">${rows}</table:table></office:spreadsheet></office:body></office:document-content>`,
  });
}

const linesOf = async (document: Uint8Array) => {
  const made = await runCapability("document.convert_spreadsheet", { document }, { to: "csv" });
  return Buffer.from(made.bytes()).toString().trimEnd().split("\n");
};

describe("a time in a sheet", () => {
  /** Days since 1899-12-30 with the 15 to 17 digits that Excel and LibreOffice write. */
  const serial = (time: string) => Date.parse(time) / 86_400_000 + 25_569;

  test("is the entered second, for every second of an hour", async () => {
    const times = Array.from({ length: 3_600 }, (_, at) => new Date(Date.UTC(2026, 10, 3, 9, 0, at)).toISOString());
    const cells = times.map((time) => `<c s="1"><v>${serial(time)}</v></c>`);
    expect(await linesOf(xlsx({ cells }))).toEqual(times);
  });

  test.each([
    ["45292.427095150466", false, "2024-01-01T10:15:01.021Z"],
    ["45292", false, "2024-01-01"],
    ["45292.999999999", false, "2024-01-02"],
    ["43830.5", true, "2024-01-01T12:00:00.000Z"],
    ["1", false, "1900-01-01"],
    ["60", false, "60"],
    ["61", false, "1900-03-01"],
    ["1e15", false, "1000000000000000"],
  ])("of the number %s (1904: %p) is %s", async (value, is1904, text) => {
    expect(await linesOf(xlsx({ cells: [`<c s="1"><v>${value}</v></c>`], is1904 }))).toEqual([text]);
  });

  test("of an ods is the written one", async () => {
    const date =
      '<table:table-cell office:value-type="date" office:date-value="2026-11-03T09:15:01"><text:p>x</text:p></table:table-cell>';
    const time =
      '<table:table-cell office:value-type="time" office:time-value="PT09H15M01S"><text:p>x</text:p></table:table-cell>';
    expect(await linesOf(ods([date, time]))).toEqual(["2026-11-03T09:15:01.000Z", "09:15:01"]);
  });

  test.each([[false], [true]])("without a day is a time of day (1904: %p)", async (is1904) => {
    const cells = ["0.3855439814814815", "0", "0.5000057870"].map((value) => `<c s="2"><v>${value}</v></c>`);
    expect(await linesOf(xlsx({ cells, is1904 }))).toEqual(["09:15:11", "00:00:00", "12:00:00.500"]);
  });

  test.each([[false], [true]])("beyond a day in an elapsed format is a duration (1904: %p)", async (is1904) => {
    const values = ["1.5", "0.5", "40.2500057870", "-0.5", "1000"];
    const cells = values.map((value) => `<c s="3"><v>${value}</v></c>`);
    const texts = ["36:00:00", "12:00:00", "966:00:00.500", "-12:00:00", "24000:00:00"];
    const document = xlsx({ cells, is1904 });
    expect(await linesOf(document)).toEqual(texts);
    const json = await runCapability("document.convert_spreadsheet", { document }, { to: "json", header: false });
    expect(JSON.parse(Buffer.from(json.bytes()).toString())).toEqual(texts.map((text) => [text]));
    for (const to of ["xlsx", "ods"]) {
      const made = await runCapability("document.convert_spreadsheet", { document }, { to });
      expect([to, await linesOf(made.bytes())]).toEqual([to, texts]);
    }
  });

  test("is unchanged after xlsx and ods", async () => {
    const times = ["09:15:01", "2026-11-03T09:15:01.000Z", "2026-11-03T09:15:02.337Z", "2026-11-04"];
    const cells = times.map((time) =>
      time.includes("-")
        ? `<c s="1"><v>${serial(time)}</v></c>`
        : `<c s="2"><v>${serial(`1899-12-30T${time}Z`)}</v></c>`,
    );
    for (const to of ["xlsx", "ods"]) {
      const made = await runCapability("document.convert_spreadsheet", { document: xlsx({ cells }) }, { to });
      expect([to, await linesOf(made.bytes())]).toEqual([to, times]);
    }
  });
});

describe("an error of a cell is its text", () => {
  const errors = [
    "#NULL!",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "#NAME?",
    "#NUM!",
    "#N/A",
    "#GETTING_DATA",
    "#SPILL!",
    "#CALC!",
  ];
  const document = xlsx({ cells: errors.map((error) => `<c t="e"><v>${error}</v></c>`) });

  test("in CSV and in text", async () => {
    expect(await linesOf(document)).toEqual(errors);
    const read = await runCapability("document.extract_text", { document });
    expect(read.output?.["text"]).toBe(errors.join("\n"));
  });

  test("in JSON, xlsx and ods", async () => {
    const json = await runCapability("document.convert_spreadsheet", { document }, { to: "json", header: false });
    expect(JSON.parse(Buffer.from(json.bytes()).toString())).toEqual(errors.map((error) => [error]));
    for (const to of ["xlsx", "ods"]) {
      const made = await runCapability("document.convert_spreadsheet", { document }, { to });
      expect([to, await linesOf(made.bytes())]).toEqual([to, errors]);
    }
  });

  test("in an ods of LibreOffice", async () => {
    const texts = ["#N/A", "#DIV/0!", "Err:502"];
    const cells = texts.map(
      (text) =>
        `<table:table-cell office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>${text}</text:p></table:table-cell>`,
    );
    expect(await linesOf(ods(cells))).toEqual(texts);
  });
});

describe("formulas", () => {
  /** Formulas without a value, with an empty one, and with a value, as openpyxl and Excel write them. */
  const cells = [
    "<c><f>1+1</f></c>",
    "<c><f>1+1</f><v/></c>",
    "<c><f>1+1</f><v></v></c>",
    '<c><f t="shared" si="0"/><v>2</v></c>',
    '<c t="str"><f>"a"&amp;"b"</f> <v>ab</v></c>',
    '<c t="str"><f>""</f><v></v></c>',
    "<c><v>3</v></c>",
  ];
  const missing =
    "3 of 6 formulas have no stored value, and their cells are empty. Open the workbook in a spreadsheet program and save it to store the values.";
  const document = xlsx({ cells });

  test("without a stored value are noted by every reader, and dropped formulas by the writers of workbooks", async () => {
    const read = await runCapability("document.extract_text", { document });
    expect(read.output).toMatchObject({ text: "\n\n\n2\nab\n\n3", notes: [missing] });
    for (const to of ["csv", "json"]) {
      const made = await runCapability("document.convert_spreadsheet", { document }, { to });
      expect([to, made.output?.["notes"]]).toEqual([to, [missing]]);
    }
    for (const to of ["xlsx", "ods"]) {
      const made = await runCapability("document.convert_spreadsheet", { document }, { to });
      const dropped = "Not kept: 6 formulas; their cells have the stored values.";
      expect([to, made.output?.["notes"]]).toEqual([to, [dropped, missing]]);
    }
  });

  test("are counted in any pieces of a sheet", () => {
    const bytes = Buffer.from(cells.join(""));
    for (let size = 1; size < 200; size++) {
      const counter = countFormulas();
      for (let at = 0; at < bytes.length; at += size) counter.add(bytes.subarray(at, at + size));
      counter.end();
      expect([size, counter.counted()]).toEqual([size, { all: 6, withoutValue: 3 }]);
    }
  });
});

test("a workbook whose cells share a long text is rejected as too large by every reader", async () => {
  const document = xlsx({
    cells: Array.from({ length: 4_000 }, () => '<c t="s"><v>0</v></c>'),
    strings: ["x".repeat(1_048_576)],
  });
  const said = `too_large: Expected cells of at most ${SHEET_CHARACTERS_MAX} characters in all, got ${4_000 * 1_048_576}.`;
  expect(await refused(runCapability("document.extract_text", { document }))).toBe(said);
  for (const to of ["csv", "json", "xlsx", "ods"]) {
    expect(await refused(runCapability("document.convert_spreadsheet", { document }, { to }))).toBe(said);
  }
});
