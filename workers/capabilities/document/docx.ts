/** Writes blocks as a Word document. The same blocks give the same bytes. */
import {
  BlobReader,
  configure,
  TextReader,
  Uint8ArrayReader,
  Uint8ArrayWriter,
  ZipReader,
  ZipWriter,
} from "@zip.js/zip.js";
import {
  AlignmentType,
  BorderStyle,
  Document,
  ExternalHyperlink,
  HeadingLevel,
  LevelFormat,
  Packer,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from "docx";

import type { Block, Run } from "./markdown.ts";

configure({ useWebWorkers: false });

/** Number of twips per point. A twip is Word's unit of length and a twentieth of a point. */
const TWIP = 20;
const HEADINGS = [
  HeadingLevel.HEADING_1,
  HeadingLevel.HEADING_2,
  HeadingLevel.HEADING_3,
  HeadingLevel.HEADING_4,
  HeadingLevel.HEADING_5,
  HeadingLevel.HEADING_6,
] as const;
const LEVELS = 9;
const DATE = "2000-01-01T00:00:00Z";

/** Position of a block: its indent, its list level, and the numbering of lists. */
interface Place {
  readonly indent: number;
  readonly level: number;
  readonly starts: Map<string, number>;
  readonly next: () => number;
}

/** Creates a Word document. @param size page size in points */
export async function docxOf(
  blocks: readonly Block[],
  { title, size }: { readonly title: string; readonly size: readonly [number, number] },
): Promise<Uint8Array> {
  const starts = new Map<string, number>();
  let lists = 0;
  const next = (): number => (lists += 1);
  const children = blocks.flatMap((block) => paragraphsOf(block, { indent: 0, level: 0, starts, next }));
  const [width, height] = [Math.round(size[0] * TWIP), Math.round(size[1] * TWIP)];
  const document = new Document({
    title,
    creator: "",
    lastModifiedBy: "",
    numbering: { config: [...starts].map(numbersFrom) },
    sections: [{ properties: { page: { size: { width, height } } }, children }],
  });
  return settled(await Packer.toBuffer(document));
}

/** Returns a separate numbering for a list. Otherwise a list would continue the numbers of the list before. */
function numbersFrom([reference, start]: readonly [string, number]) {
  const levels = Array.from({ length: LEVELS }, (_, level) => ({
    level,
    format: LevelFormat.DECIMAL,
    text: `%${level + 1}.`,
    alignment: AlignmentType.START,
    start,
    style: { paragraph: { indent: { left: 720 * (level + 1), hanging: 360 } } },
  }));
  return { reference, levels };
}

function paragraphsOf(block: Block, place: Place): (Paragraph | Table)[] {
  const indent = place.indent === 0 ? {} : { indent: { left: place.indent } };
  switch (block.kind) {
    case "heading":
      return [
        new Paragraph({ heading: HEADINGS[block.depth - 1] ?? HEADINGS[5], children: textRuns(block.runs), ...indent }),
      ];
    case "paragraph":
      return [new Paragraph({ children: textRuns(block.runs), spacing: { after: 120 }, ...indent })];
    case "code": {
      const lines = block.text
        .split("\n")
        .map((line, at) => ({ text: kept(line, "    "), font: "Courier New", ...(at > 0 ? { break: 1 } : {}) }));
      const shading = { fill: "F3F4F6" };
      return [
        new Paragraph({
          children: lines.map((line) => new TextRun(line)),
          shading,
          spacing: { after: 120 },
          ...indent,
        }),
      ];
    }
    case "quote":
      return block.blocks.flatMap((one) => paragraphsOf(one, { ...place, indent: place.indent + 720 }));
    case "list":
      return block.items.flatMap(itemsOf(block.start, place));
    case "table":
      return [tableOf(block)];
    case "rule": {
      const line = { style: BorderStyle.SINGLE, size: 6, color: "999999", space: 1 };
      return [new Paragraph({ children: [], border: { bottom: line } })];
    }
    default:
      return block satisfies never;
  }
}

function itemsOf(start: number | undefined, place: Place): (item: readonly Block[]) => (Paragraph | Table)[] {
  const { starts } = place;
  const reference = `list-${place.next()}`;
  const level = Math.min(place.level, LEVELS - 1);
  if (start !== undefined) starts.set(reference, start);
  const mark = start === undefined ? { bullet: { level } } : { numbering: { reference, level } };
  const below = { ...place, level: place.level + 1, indent: 720 * (place.level + 1) };
  return (item) => {
    const [first, ...others] = item;
    const runs = first?.kind === "paragraph" ? first.runs : [];
    const rest = first?.kind === "paragraph" ? others : item;
    return [new Paragraph({ children: textRuns(runs), ...mark }), ...rest.flatMap((one) => paragraphsOf(one, below))];
  };
}

const ALIGNMENTS = { left: AlignmentType.LEFT, center: AlignmentType.CENTER, right: AlignmentType.RIGHT } as const;

function tableOf({ head, rows, align }: Extract<Block, { readonly kind: "table" }>): Table {
  const row = (cells: readonly (readonly Run[])[], isHead: boolean): TableRow =>
    new TableRow({
      tableHeader: isHead,
      children: head.map((_, at) => {
        const runs = (cells[at] ?? []).map((run) => (isHead ? { ...run, isBold: true } : run));
        return new TableCell({
          children: [new Paragraph({ children: textRuns(runs), alignment: ALIGNMENTS[align[at] ?? "left"] })],
        });
      }),
    });
  return new Table({
    width: { size: 100, type: WidthType.PERCENTAGE },
    rows: [row(head, true), ...rows.map((cells) => row(cells, false))],
  });
}

/** Replaces tabs in a text, and removes characters that XML does not allow. */
function kept(text: string, tab: string): string {
  return text.replaceAll("\t", tab).replaceAll(/[^\P{Cc}\n]|[\ufffe\uffff]/gu, "");
}

function textRuns(runs: readonly Run[]): (TextRun | ExternalHyperlink)[] {
  return runs.map((run) => {
    const text = kept(run.text, " ");
    const formatting = {
      ...(run.isBold === true ? { bold: true } : {}),
      ...(run.isItalic === true ? { italics: true } : {}),
      ...(run.isStruck === true ? { strike: true } : {}),
      ...(run.isRaised === true ? { superScript: true } : {}),
      ...(run.isCode === true ? { font: "Courier New" } : {}),
    };
    if (text === "\n") return new TextRun({ break: 1 });
    if (run.link === undefined) return new TextRun({ text, ...formatting });
    return new ExternalHyperlink({
      link: run.link,
      children: [new TextRun({ text, ...formatting, style: "Hyperlink" })],
    });
  });
}

/** Replaces dates and random IDs from the library, so that the output is reproducible. */
async function settled(bytes: Uint8Array): Promise<Uint8Array> {
  const reader = new ZipReader(new Uint8ArrayReader(bytes));
  const writer = new ZipWriter(new Uint8ArrayWriter(), {
    lastModDate: new Date(Date.UTC(2000, 0, 1)),
    extendedTimestamp: false,
  });
  const names = new Map<string, string>();
  for (const entry of await reader.getEntries()) {
    if (entry.directory) continue;
    const data = await entry.getData(new Uint8ArrayWriter());
    if (!/\.(?:xml|rels)$/.test(entry.filename)) {
      await writer.add(entry.filename, new BlobReader(new Blob([data])));
      continue;
    }
    const text = Buffer.from(data)
      .toString()
      .replaceAll(/(<dcterms:(?:created|modified)[^>]*>)[^<]*/g, `$1${DATE}`)
      .replaceAll(/\brId([a-z0-9_-]{21})(?=")/g, (_, id: string) => {
        if (!names.has(id)) names.set(id, `rIdLink${names.size + 1}`);
        return names.get(id) ?? "";
      });
    await writer.add(entry.filename, new TextReader(text));
  }
  await reader.close();
  return writer.close();
}
