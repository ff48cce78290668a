/**
 * Writes the sample files of capabilities: `bun deploy/samples.ts` writes shared/calls/capabilities/samples. The output is deterministic,
 * so that a changed file means a changed program.
 */
import { join } from "node:path";

import { toBuffer } from "bwip-js/node";
import { BlobReader, TextReader, Uint8ArrayWriter, ZipWriter } from "@zip.js/zip.js";
import { PDFDocument, StandardFonts } from "@cantoo/pdf-lib";
import { utils, write } from "@e965/xlsx";
import sharp from "sharp";

import { MP4, runFilterGraph } from "#workers/children/filter-graph.ts";
import { docxOf } from "#workers/capabilities/document/docx.ts";
import { blocksOf } from "#workers/capabilities/document/markdown.ts";
import { PAGE_POINTS } from "#workers/capabilities/document/page-size.ts";

const FOLDER = join(import.meta.dir, "../shared/calls/capabilities/samples");

const PHOTO = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="800"><defs><linearGradient id="s" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#2b5c9e"/><stop offset="0.6" stop-color="#f2b880"/><stop offset="1" stop-color="#f7d9b0"/></linearGradient><linearGradient id="w" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#3a6f8f"/><stop offset="1" stop-color="#16324a"/></linearGradient></defs><rect width="1200" height="520" fill="url(#s)"/><circle cx="820" cy="380" r="70" fill="#fff3d6"/><path d="M0 520 L220 300 L360 440 L560 220 L800 520 Z" fill="#4a4f6a"/><path d="M420 520 L700 330 L980 480 L1200 360 L1200 520 Z" fill="#353a55"/><rect y="520" width="1200" height="280" fill="url(#w)"/><path d="M120 800 Q260 640 420 800 Z" fill="#1f3d2b"/><rect x="880" y="470" width="120" height="60" fill="#7a3b2e"/><path d="M870 470 L940 420 L1010 470 Z" fill="#a8553d"/></svg>`;

const CHART = `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="400"><rect width="640" height="400" fill="#ffffff"/><g fill="#3366ff"><rect x="80" y="220" width="90" height="120"/><rect x="210" y="140" width="90" height="200"/><rect x="340" y="180" width="90" height="160"/><rect x="470" y="80" width="90" height="260"/></g><path d="M60 40 V340 H600" fill="none" stroke="#222222" stroke-width="4"/></svg>`;

const LINES = ["Invoice 2026-117", "Three boxes of tea", "Total 42.50 EUR", "Paid on 3 November"];

async function scan(): Promise<Buffer> {
  const code = await toBuffer({
    bcid: "qrcode",
    text: "https://example.com/invoice/117",
    scale: 4,
    paddingwidth: 8,
    paddingheight: 8,
    backgroundcolor: "ffffff",
  });
  const rows = LINES.map((line, at) => `<text x="60" y="${110 + at * 70}">${line}</text>`).join("");
  const page = `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="640" font-family="DejaVu Sans" font-size="44"><rect width="900" height="640" fill="#fdfcf8"/>${rows}</svg>`;
  return sharp(Buffer.from(page))
    .composite([{ input: code, left: 660, top: 400 }])
    .png({ palette: true })
    .toBuffer();
}

const drawn = (svg: string) => sharp(Buffer.from(svg));

await Bun.write(join(FOLDER, "photo.jpg"), await drawn(PHOTO).jpeg({ quality: 78 }).toBuffer());
await Bun.write(join(FOLDER, "chart.png"), await drawn(CHART).png({ palette: true }).toBuffer());
await Bun.write(join(FOLDER, "scan.png"), await scan());

// Three notes of 0.8 s, with pauses of 0.6 s between them, in one channel.
const NOTES = [392, 523.25, 659.25].map(
  (hertz, at) => `gte(t,${at * 1.4})*lt(t,${at * 1.4 + 0.8})*sin(2*PI*${hertz}*t)*exp(-2*(t-${at * 1.4}))`,
);
await runFilterGraph({
  graph: `aevalsrc='0.5*(${NOTES.join("+")})':s=44100:d=3.6[a]`,
  streams: [{ label: "a", encoder: "libmp3lame", options: { b: "64k" } }],
  output: { path: join(FOLDER, "tune.mp3"), muxer: "mp3" },
  secondsMax: 10,
});

// A test pattern with a running clock, and a tone in the first half of each second.
await runFilterGraph({
  graph:
    "testsrc2=s=320x180:r=25:d=3[v];aevalsrc='0.3*lt(mod(t,1),0.5)*sin(2*PI*440*t)|0.3*lt(mod(t,1),0.5)*sin(2*PI*660*t)':s=44100:d=3[a]",
  streams: [
    { label: "v", encoder: "libx264", options: { crf: "34", preset: "slow", "x264-params": "mbtree=0" } },
    { label: "a", encoder: "aac", options: { b: "48k" } },
  ],
  output: { path: join(FOLDER, "clip.mp4"), ...MP4 },
  secondsMax: 10,
});

const bundle = new ZipWriter(new Uint8ArrayWriter(), {
  lastModDate: new Date(Date.UTC(2000, 0, 1)),
  extendedTimestamp: false,
});
await bundle.add("readme.txt", new TextReader("A small bundle of files.\n"));
await bundle.add("notes/tea.txt", new TextReader("Three boxes of tea.\n"));
await bundle.add("images/chart.png", new BlobReader(Bun.file(join(FOLDER, "chart.png"))));
await Bun.write(join(FOLDER, "bundle.zip"), await bundle.close());

const REPORT = [
  ["Report on tea", "Three boxes of tea were sold in the first week.", "Two of them were large."],
  ["Prices", "A small box costs 4.50 EUR, a large one 12.00 EUR."],
  ["Order form", "Customer", "Size", "I agree to the terms"],
] as const;

/** Creates a sample document of three pages: text, a picture and a form. */
async function report(): Promise<Uint8Array> {
  const document = await PDFDocument.create({ updateMetadata: false });
  document.setTitle("Report on tea");
  document.setAuthor("Sluice");
  const [plain, bold] = [StandardFonts.Helvetica, StandardFonts.HelveticaBold].map((name) =>
    document.embedStandardFont(name),
  );
  if (!plain || !bold) throw new Error("there are no fonts");
  for (const [title, ...lines] of REPORT) {
    const page = document.addPage([595.28, 841.89]);
    page.drawText(title, { x: 60, y: 760, size: 24, font: bold });
    for (const [at, line] of lines.entries()) page.drawText(line, { x: 60, y: 715 - at * 40, size: 12, font: plain });
  }
  const chart = await document.embedPng(await Bun.file(join(FOLDER, "chart.png")).bytes());
  const [, second, third] = document.getPages();
  if (!second || !third) throw new Error("there are no pages");
  second.drawImage(chart, { x: 60, y: 440, width: 384, height: 240 });
  const form = document.getForm();
  form.createTextField("customer").addToPage(third, { x: 200, y: 708, width: 250, height: 22, font: plain });
  const size = form.createDropdown("size");
  size.setOptions(["small", "large"]);
  size.addToPage(third, { x: 200, y: 668, width: 120, height: 22, font: plain });
  form.createCheckBox("agreed").addToPage(third, { x: 200, y: 630, width: 16, height: 16 });
  return document.save();
}

const LETTER = `# A letter about tea

Dear Ms Lovelace,

thank you for your **order** of *three boxes*. Our [shop](https://example.com/shop) sends:

1. two large boxes
2. one small box

| Box | Price |
|---|---:|
| large | 24.00 |
| small | 4.50 |

With kind regards
`;

await Bun.write(join(FOLDER, "report.pdf"), await report());
await Bun.write(
  join(FOLDER, "letter.docx"),
  await docxOf(blocksOf(LETTER), { title: "A letter about tea", size: PAGE_POINTS.a4 }),
);

const book = utils.book_new();
const ORDERS = [
  ["Customer", "Box", "Count", "Paid", "Day"],
  ["Ada", "large", 2, true, new Date(Date.UTC(2026, 10, 3))],
  ["Grace", "small", 1, false, new Date(Date.UTC(2026, 10, 4))],
];
const PRICES = [
  ["Box", "Price"],
  ["small", 4.5],
  ["large", 12],
];
utils.book_append_sheet(book, utils.aoa_to_sheet(ORDERS, { UTC: true, cellDates: true }), "Orders");
utils.book_append_sheet(book, utils.aoa_to_sheet(PRICES), "Prices");
await Bun.write(
  join(FOLDER, "sheet.xlsx"),
  write(book, { type: "buffer", bookType: "xlsx", compression: true, cellDates: true }) as Uint8Array,
);
