/** Files that mean harm are refused within their limits, reach nothing, and neighbours notice nothing. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { storm } from "#tests/support/storm.ts";

import { type CapabilityBench, startCapabilityBench } from "./bench.ts";
import {
  CONCAT,
  docxOf,
  gzipBomb,
  hugePng,
  LAUGHS,
  longGif,
  OUTSIDE,
  pdfBomb,
  pdfOf,
  PLAYLIST,
  zipOf,
} from "./hostile-files.ts";

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
const nested = (depth: number, open = "[", close = "]"): string => open.repeat(depth) + close.repeat(depth);
const uses = Array.from({ length: 9 }, (_, at) => `<g id="a${at + 1}">${`<use href="#a${at}"/>`.repeat(10)}</g>`).join(
  "",
);
const aliases = Array.from(
  { length: 30 },
  (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(",")}]`,
).join("\n");
const PAGES = "<< /Type /Catalog /Pages 2 0 R >>";
const loop = (pages: string, page = "<< /Type /Page /Parent 2 0 R >>"): object => bytes(pdfOf([PAGES, pages, page]));

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

describe("is refused:", () => {
  test.each<readonly [string, string, object, object?]>([
    ...storm(LONG.slice(-1), LONG),
    [
      "an image of more pixels than are taken",
      "image.resize",
      { image: bytes(hugePng(30_000, 30_000)) },
      { width: 10 },
    ],
    ["an image without its data", "image.ocr", { image: bytes(hugePng(7_000, 7_000)) }],
    ["an animation of too many frames", "image.resize", { image: bytes(longGif(2_000, 5_000)) }, { width: 10 }],
    ["an SVG of endless entities", "image.render_svg", { svg: { text: svg("&a29;", LAUGHS) } }],
    ["an SVG with a file in an entity", "image.render_svg", { svg: { text: svg("<text>&f;</text>", OUTSIDE) } }],
    ["an SVG without bounds", "image.render_svg", { svg: { text: svg("", "", 100_000) } }],
    ["an SVG that calls itself PNG", "image.resize", { image: bytes(svg(""), "image/png") }, { width: 10 }],
    ["a page that calls itself JPEG", "image.resize", { image: bytes("<html></html>", "image/jpeg") }, { width: 10 }],
    [
      "a zip behind a GIF's head",
      "archive.extract",
      { archive: bytes(Buffer.concat([Buffer.from("GIF89a"), zipOf([])])) },
    ],
    ["a zip bomb", "archive.extract", { archive: bytes(zipOf([{ name: "a", data: Buffer.alloc(300_000_000) }])) }],
    ["a gzip bomb", "archive.decompress", { file: bytes(gzipBomb(300_000_000)) }],
    ["a document with a file in an entity", "document.extract_text", { document: bytes(docxOf(OUTSIDE, "&f;")) }],
    ["a document of endless entities", "document.docx_to_markdown", { document: bytes(docxOf(LAUGHS, "&a29;")) }],
    [
      "a document that unpacks to too much",
      "document.extract_text",
      { document: bytes(docxOf("", "x".repeat(300_000_000))) },
    ],
    [
      "a document that is nested too deep",
      "document.extract_text",
      { document: bytes(docxOf("", nested(200_000, "<w:x>", "</w:x>"))) },
    ],
    [
      "a PDF whose pages hold themselves",
      "document.extract_text",
      { document: loop("<< /Type /Pages /Kids [2 0 R] /Count 5 >>") },
    ],
    [
      "a PDF whose page is its own parent",
      "document.info",
      { document: loop("<< /Type /Pages /Parent 3 0 R /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 3 0 R >>") },
    ],
    [
      "a PDF that claims endless pages",
      "document.render_pages",
      { document: loop("<< /Type /Pages /Kids [] /Count 100000000 >>") },
    ],
    [
      "a PDF of an endless page",
      "document.render_pages",
      {
        document: loop(
          "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
          "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9999999 9999999] >>",
        ),
      },
    ],
    ["a PDF whose drawing unpacks to too much", "document.render_pages", { document: bytes(pdfBomb(200_000_000)) }],
    ["a playlist that calls itself video", "video.probe", { video: bytes(PLAYLIST, "video/mp4") }],
    ["a playlist", "audio.probe", { audio: bytes(PLAYLIST) }],
    ["a list of files that calls itself video", "video.trim", { video: bytes(CONCAT, "video/mp4") }],
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
      const answer = await bench.run(id, { input, params });
      const told = await answer.text();
      expect([400, 422], told.slice(0, 300)).toContain(answer.status);
      expect(told).not.toContain("root:");
    },
    60_000,
  );
});

describe("is done, and leads nowhere:", () => {
  test("an SVG that names files and addresses", async () => {
    const inner = `<image href="file:///etc/passwd" width="9" height="9"/><image href="${server.url.href}a.png" width="9" height="9"/>`;
    const style = `<style>@import url(${server.url.href}b.css);</style>`;
    expect((await bench.run("image.render_svg", { input: { svg: { text: svg(inner + style) } } })).status).toBe(200);
  });

  test("a zip whose names lead out of its folder: they are left out and told", async () => {
    const archive = zipOf([
      { name: "../../../tmp/out", data: Buffer.from("x") },
      { name: "/abs", data: Buffer.from("x") },
      { name: "good.txt", data: Buffer.from("good") },
    ]);
    const { output, files } = await bench.made("archive.extract", { input: { archive: bytes(archive) } });
    expect(files).toHaveLength(1);
    expect(output["skipped"]).toHaveLength(2);
  });

  test("a pattern that backtracks without an end elsewhere", async () => {
    const body = { input: { text: { text: `${"a".repeat(50_000)}!` } }, params: { pattern: "(a+)+$" } };
    expect((await bench.made("code.regex", body)).output).toMatchObject({ matches: [] });
  });
});
