/** Files that mean harm are refused within their limits, reach nothing, and neighbours notice nothing. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Category, HOSTILE_FILES, hostileFiles, type HostileName } from "#tests/support/hostile-files/corpus.ts";
import { LAUGHS, nested, OUTSIDE, zipOf } from "#tests/support/hostile-files/documents.ts";
import { storm } from "#tests/support/storm.ts";

import { type CapabilityBench, startCapabilityBench } from "./bench.ts";

let bench: CapabilityBench;
const reached: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => (reached.push(request.url), new Response("x")),
});
const over = new AbortController();
let neighbour: Promise<number[]>;
beforeAll(async () => {
  bench = await startCapabilityBench();
  neighbour = work();
}, 60_000);
afterAll(async () => {
  over.abort();
  const statuses = await neighbour;
  expect(statuses.length).toBeGreaterThan(10);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(reached).toEqual([]);
  expect(await bench.stack.query("select * from audit_ledger()")).toEqual([]);
  expect(await bench.stack.query("select 1 from usage_record where status <> 'succeeded' and settled <> 0")).toEqual(
    [],
  );
  await bench.stop();
  await server.stop(true);
});

/** Makes calls of the same workspace until the test is over; returns their statuses. */
async function work(): Promise<number[]> {
  const statuses: number[] = [];
  while (!over.signal.aborted) {
    const body = { input: { image: { file_id: "file-sample-chart" } }, params: { width: 64 } };
    statuses.push((await bench.run("image.resize", body)).status);
    // It is a neighbour, no load.
    await Bun.sleep(250);
  }
  return statuses;
}

const bytes = (content: Buffer | string, mime?: string): object => ({
  base64: Buffer.from(content).toString("base64"),
  ...(mime === undefined ? {} : { mime_type: mime }),
});
const svg = (inner: string, head = "", size = 100): string =>
  `${head}<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}">${inner}</svg>`;
const uses = Array.from({ length: 9 }, (_, at) => `<g id="a${at + 1}">${`<use href="#a${at}"/>`.repeat(10)}</g>`).join(
  "",
);
const aliases = Array.from(
  { length: 30 },
  (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(",")}]`,
).join("\n");

interface Entry {
  readonly id: string;
  readonly member: string;
  readonly params?: object;
  readonly mime?: string;
  readonly asked: readonly Category[];
  /** Files that it makes something of, since they are whole as far as it looks. */
  readonly done?: readonly HostileName<Category>[];
}

const ENTRIES: readonly Entry[] = [
  {
    id: "image.resize",
    member: "image",
    params: { width: 10 },
    asked: ["picture"],
    done: [
      "a PNG whose data go on for gigabytes",
      "a PNG whose colours are told in a gigabyte",
      "a PNG with a comment of a gigabyte",
      "a PNG with a text of a gigabyte",
      "a WebP of five thousand frames",
      "a GIF of five thousand pixels, one a frame",
      "a JPEG with a page as its comment",
      "a JPEG that is a ZIP as well",
      "a PNG that is a page as well",
      "a WebP that is a ZIP as well",
    ],
  },
  { id: "image.resize", member: "image", params: { width: 10 }, mime: "image/png", asked: ["disguise"] },
  { id: "image.resize", member: "image", params: { width: 10 }, mime: "image/jpeg", asked: ["disguise"] },
  {
    id: "audio.convert",
    member: "audio",
    params: { format: "wav" },
    asked: ["sound", "disguise"],
    done: ["a WAV of a billion samples a second"],
  },
  {
    id: "audio.probe",
    member: "audio",
    asked: ["sound", "disguise"],
    done: [
      "a WAV of a billion samples a second",
      "a WAV of samples of no bits",
      "a WAV of samples of 8 KB",
      "a WAV of an unknown codec",
      "a WAV of a codec that names its own rate",
      "a WAV of ADPCM without blocks",
    ],
  },
  {
    id: "video.probe",
    member: "video",
    mime: "video/mp4",
    asked: ["film", "disguise"],
    done: ["a film without a clock", "a film without samples", "a film of billions of pictures"],
  },
  { id: "video.trim", member: "video", mime: "video/mp4", asked: ["film", "disguise"] },
  {
    id: "document.extract_text",
    member: "document",
    asked: ["document"],
    done: ["a PDF whose page is its own parent", "a PDF of an endless page"],
  },
  {
    id: "document.info",
    member: "document",
    asked: ["document", "disguise"],
    done: ["a PDF whose page is its own parent", "a PDF of an endless page"],
  },
  {
    id: "document.render_pages",
    member: "document",
    asked: ["document", "disguise"],
    done: ["a PDF whose page is its own parent"],
  },
  { id: "document.docx_to_markdown", member: "document", asked: ["document", "disguise"] },
  { id: "archive.extract", member: "archive", asked: ["archive", "disguise"], done: ["a ZIP"] },
  { id: "archive.decompress", member: "file", asked: ["archive", "disguise"] },
];

async function expectRefused(id: string, body: object): Promise<void> {
  const answer = await bench.run(id, body);
  const told = await answer.text();
  expect([400, 422], told.slice(0, 300)).toContain(answer.status);
  expect(told).not.toContain("root:");
}

describe.each(ENTRIES)("$id rejects invalid input:", ({ id, member, params = {}, mime, asked, done = [] }) => {
  test.each(hostileFiles(...asked))(
    "%s",
    async (name, make) => {
      const body = { input: { [member]: bytes(Buffer.from(await make()), mime) }, params };
      if (!done.includes(name)) await expectRefused(id, body);
      else expect(await bench.made(id, body)).toMatchObject({ status: "completed" });
    },
    60_000,
  );
});

/** Runs that take all the time or the memory that one may have. */
const LONG: readonly (readonly [string, string, object, object?])[] = [
  [
    "an SVG of endless uses",
    "image.render_svg",
    { svg: { text: svg(`<g id="a0"><path/></g>${uses}<use href="#a9"/>`) } },
  ],
  ["a jq program that takes all memory", "code.transform_json", { data: { text: "1" } }, { jq: "[range(1e12)]" }],
  ["a jq program without an end", "code.transform_json", { data: { text: "1" } }, { jq: "def f: f; f" }],
  [
    "a script that takes all memory",
    "code.run_javascript",
    { code: { text: "for (const a = [];;) a.push('x'.repeat(1e6) + a.length)" } },
  ],
];

describe("rejected:", () => {
  test.each<readonly [string, string, object, object?]>([
    ...storm(LONG.slice(-1), LONG),
    [
      "an image without its data",
      "image.ocr",
      { image: bytes(HOSTILE_FILES.picture["a PNG without its 49 million pixels"]()) },
    ],
    ["an SVG of endless entities", "image.render_svg", { svg: { text: svg("&a29;", LAUGHS) } }],
    ["an SVG with a file in an entity", "image.render_svg", { svg: { text: svg("<text>&f;</text>", OUTSIDE) } }],
    ["an SVG without bounds", "image.render_svg", { svg: { text: svg("", "", 100_000) } }],
    ["YAML of endless aliases", "code.transform_json", { data: { text: `a0: &a0 [x]\n${aliases}` } }, { from: "yaml" }],
    ["XML of endless entities", "code.transform_json", { data: { text: `${LAUGHS}<x>&a29;</x>` } }, { from: "xml" }],
    ["XML that is nested too deep", "code.transform_json", { data: { text: nested(100_000, "<a>", "</a>") } }],
    ["JSON that is nested too deep", "code.transform_json", { data: { text: nested(100_000) } }],
    ["a script without an end", "code.run_javascript", { code: { text: "for (;;) {}" } }, { timeout: 0.5 }],
    ["code that is nested too deep", "code.format", { code: { text: nested(20_000) } }, { language: "json" }],
    ["quotes in quotes without an end", "document.markdown_to_pdf", { markdown: { text: `${"> ".repeat(5_000)}x` } }],
    [
      "a table of too many cells",
      "document.convert_spreadsheet",
      { document: bytes(`${"1,".repeat(1_000)}\n`.repeat(2_000), "text/csv") },
      { to: "xlsx" },
    ],
  ])(
    "%s",
    async (_name, id, input, params = {}) => {
      await expectRefused(id, { input, params });
    },
    60_000,
  );
});

describe("accepted without effect outside:", () => {
  test("an SVG that names files and addresses", async () => {
    const inner = `<image href="file:///etc/passwd" width="9" height="9"/><image href="${server.url.href}a.png" width="9" height="9"/>`;
    const style = `<style>@import url(${server.url.href}b.css);</style>`;
    expect((await bench.run("image.render_svg", { input: { svg: { text: svg(inner + style) } } })).status).toBe(200);
  });

  test("a zip with paths outside its folder: they are skipped and reported", async () => {
    const archive = zipOf({ "../../../tmp/out": "x", "/abs": "x", "good.txt": "good" });
    const { output, files } = await bench.made("archive.extract", { input: { archive: bytes(archive) } });
    expect(files).toHaveLength(1);
    expect(output["skipped"]).toHaveLength(2);
  });

  test("a pattern that backtracks without end in other engines", async () => {
    const body = { input: { text: { text: `${"a".repeat(50_000)}!` } }, params: { pattern: "(a+)+$" } };
    expect((await bench.made("code.regex", body)).output).toMatchObject({ matches: [] });
  });
});
