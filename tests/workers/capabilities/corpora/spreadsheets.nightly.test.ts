/** Workbooks of other projects: the values of every cell, as openpyxl reads them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { unpackedPackages } from "#tests/support/debian-program.ts";

import { runCapability } from "../in-folder.ts";
import { type Case, isRefused, testCorpus } from "./corpus.ts";

// Wrong in pandas: openpyxl calls a number beyond the calendar an error. In readxl: the 29th of February 1900, which openpyxl moves by a day;
// and cells whose text stands partly outside of its runs (2). In POI: two formats whose cells openpyxl takes for numbers or dates.
await testCorpus(
  "workbooks of pandas",
  { name: "pandas", version: "2.2.3+dfsg", release: "trixie", folder: "pandas/tests/io/data/excel" },
  { right: 58, refused: 0, wrong: 2 },
  casesIn,
);
await testCorpus(
  "workbooks of readxl",
  { name: "r-cran-readxl", version: "1.4.5", release: "trixie", folder: "tests/testthat/sheets" },
  { right: 35, refused: 0, wrong: 3 },
  casesIn,
);
await testCorpus(
  "workbooks of Apache POI",
  { name: "libapache-poi-java", version: "4.0.1", release: "trixie", folder: "test-data/spreadsheet" },
  { right: 242, refused: 1, wrong: 2 },
  casesIn,
);

/** Sheets that are compared in each workbook. */
const SHEETS_MAX = 5;

/** Memory of openpyxl, in bytes. A sheet of a million declared rows takes all of the machine's memory within its two minutes otherwise. */
const READER_BYTES_MAX = 3 * 1_073_741_824;

/**
 * Prints a line for each file: name and rows of each sheet, or null for a workbook that openpyxl does not read. A date is
 * `[milliseconds since 1970]`, a time of day or a duration `[milliseconds, "time"]`.
 */
const READER = `
import datetime, json, math, resource, signal, sys, warnings
warnings.simplefilter("ignore")
import openpyxl
zero = datetime.datetime(1970, 1, 1)
def plain(value):
    if isinstance(value, datetime.datetime): return [round((value - zero).total_seconds() * 1000)]
    if isinstance(value, datetime.date): return [round((datetime.datetime(value.year, value.month, value.day) - zero).total_seconds() * 1000)]
    if isinstance(value, datetime.time): return [((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + round(value.microsecond / 1000), "time"]
    if isinstance(value, datetime.timedelta): return [round(value.total_seconds() * 1000), "time"]
    if isinstance(value, float) and not math.isfinite(value): return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
def timeout(*_): raise TimeoutError()
signal.signal(signal.SIGALRM, timeout)
resource.setrlimit(resource.RLIMIT_AS, (${READER_BYTES_MAX}, ${READER_BYTES_MAX}))
for path in sys.argv[1:]:
    signal.alarm(120)
    try:
        book = openpyxl.load_workbook(path, data_only=True)
        sheets = [[sheet.title, [[plain(cell) for cell in row] for row in sheet.iter_rows(values_only=True)]] for sheet in book.worksheets[:${SHEETS_MAX}]]
    except Exception:
        sheets = None
    signal.alarm(0)
    print(json.dumps(sheets))
`;
const PYTHON_PATH = "usr/lib/python3/dist-packages";

type Read = number | string | boolean | null | readonly [number, "time"?];
type Sheets = readonly (readonly [name: string, rows: readonly (readonly Read[])[]])[];

async function readAll(paths: readonly string[]): Promise<readonly (Sheets | null)[]> {
  const packages = ["python3-openpyxl", "python3-et-xmlfile"];
  const folder = await unpackedPackages({ release: "trixie", packages, path: `${PYTHON_PATH}/openpyxl` });
  const env = { ...process.env, PYTHONPATH: join(folder, PYTHON_PATH) };
  const { stdout } = Bun.spawnSync(["python3", "-c", READER, ...paths], { env, stderr: "ignore" });
  const lines = stdout.toString().trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Sheets | null);
}

/** A workbook that neither side reads is right; one that openpyxl alone does not read is left out. */
async function* casesIn(folder: string): AsyncIterable<Case> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.xls[xm]$/i.test(name))
    .toSorted();
  const found = await readAll(names.map((name) => join(folder, name)));
  for (const [at, name] of names.entries()) {
    const document = readFileSync(join(folder, name));
    const sheets = found[at] ?? undefined;
    const convert = (sheet?: string) =>
      runCapability("document.convert_spreadsheet", { document }, { to: "json", header: false, ...(sheet === undefined ? {} : { sheet }) }); // prettier-ignore
    if (sheets === undefined) {
      if (await isRefused(convert())) yield { name, isRight: () => true };
      continue;
    }
    yield {
      name,
      isRight: async () => {
        for (const [title, rows] of sheets) {
          const made = JSON.parse(Buffer.from((await convert(title)).bytes()).toString()) as readonly Own[][];
          const differing = firstDifference(made, rows);
          if (differing !== undefined) throw new Error(`${title} ${differing}`);
        }
        return true;
      },
    };
  }
}

type Own = number | string | boolean | null;

/** Place and both values of the first cell that differs. */
function firstDifference(own: readonly (readonly Own[])[], read: readonly (readonly Read[])[]): string | undefined {
  for (let row = 0; row < Math.max(own.length, read.length); row += 1) {
    for (let column = 0; column < Math.max(own[row]?.length ?? 0, read[row]?.length ?? 0); column += 1) {
      const [one, other] = [own[row]?.[column] ?? null, read[row]?.[column] ?? null];
      if (!isSame(one, other)) return `row ${row + 1}, column ${column + 1}: ${JSON.stringify([one, other])}`;
    }
  }
  return undefined;
}

/** A time of day, or a duration with more than 24 hours. */
const TIME = /^(-?)(\d{2,}):(\d\d):(\d\d(?:\.\d+)?)$/;

function timeMs(text: string): number {
  const [, sign, hours, minutes, seconds] = TIME.exec(text) ?? [];
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1_000;
  return sign === "-" ? -ms : ms;
}

function isSame(own: Own, read: Read): boolean {
  if (typeof read === "object" && read !== null) {
    const [ms, isTime] = read;
    if (typeof own !== "string") return false;
    return Math.abs((isTime ? timeMs(own) : Date.parse(own)) - ms) <= 1;
  }
  if (typeof read === "number" && typeof own === "number") return Math.abs(own - read) <= 1e-9 * Math.abs(read);
  return plain(own ?? "") === plain(read ?? "");
}

/** openpyxl leaves the codes of control characters, such as `_x000D_`, and the line breaks of the XML as they are. */
function plain(value: Own): Own {
  if (typeof value !== "string") return value;
  const decoded = value.replaceAll(/_x([0-9A-F]{4})_/gi, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16))); // prettier-ignore
  return decoded.replaceAll(/\r\n?/g, "\n");
}
