/**
 * Parts of a batch's output files. A part contains records of ended lines and is stored as an object until all lines have ended. A line
 * counts as ended when the row of its part is written. If the row is missing, the next leader stores the part again.
 */
import { createHash } from "node:crypto";

import { endLines, findParts, type Part, type PartRow, Superseded } from "#shared/database/batch-work.ts";
import type { BatchRow, EndedLine } from "#shared/database/batches.ts";
import { findBlocks } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { readFile } from "#shared/files/read.ts";
import { BATCHES_PREFIX } from "#shared/storage/claim-check.ts";
import { putObject, readObject, StorageError } from "#shared/storage/objects.ts";

import type { IngressContext } from "../../context.ts";

import type { LineRecord } from "./records.ts";

type Context = Pick<IngressContext, "database" | "storage">;
type LeaderContext = Context & Pick<IngressContext, "metrics">;

/** Size at which a part is stored, in bytes. A record is never split. */
const PART_BYTES = 1_048_576;

interface Gathered {
  records: Buffer[];
  lines: (Pick<LineRecord, "number" | "outcome"> & { readonly bytes: number })[];
  bytes: number;
  sinceMs: number;
}

const NOTHING = (): Gathered => ({ records: [], lines: [], bytes: 0, sinceMs: 0 });

/** Collects the records of ended lines and stores them as parts. */
export class Parts {
  private readonly context: LeaderContext;
  private readonly batch: BatchRow;
  private readonly onEnded: (numbers: readonly number[]) => void;
  private readonly gathered = { output: NOTHING(), error: NOTHING() };
  private stored = 0;

  /**
   * Creates an empty collection.
   * @param onEnded called with the numbers of lines once their end is recorded in the database
   */
  constructor(context: LeaderContext, batch: BatchRow, onEnded: (numbers: readonly number[]) => void) {
    this.context = context;
    this.batch = batch;
    this.onEnded = onEnded;
  }

  get isEmpty(): boolean {
    return this.gathered.output.bytes + this.gathered.error.bytes === 0;
  }

  async add({ number, outcome, text }: LineRecord): Promise<void> {
    const isOutput = outcome === "completed";
    const to = this.gathered[isOutput ? "output" : "error"];
    const record = Buffer.from(text);
    if (to.bytes === 0) to.sinceMs = performance.now();
    to.records.push(record);
    to.lines.push({ number, outcome, bytes: record.length });
    to.bytes += record.length;
    if (to.bytes >= PART_BYTES) await this.store(isOutput);
  }

  /** Stores the records that have been collected for at least `ms` milliseconds. @throws Superseded when another process leads the batch */
  async storeOlder(ms: number): Promise<void> {
    for (const isOutput of [true, false]) {
      const { bytes, sinceMs } = this.gathered[isOutput ? "output" : "error"];
      if (bytes > 0 && performance.now() - sinceMs >= ms) await this.store(isOutput);
    }
  }

  private async store(isOutput: boolean): Promise<void> {
    const name = isOutput ? "output" : "error";
    const { records, lines, bytes } = this.gathered[name];
    const { id, epoch } = this.batch;
    const body = Buffer.concat(records, bytes);
    this.stored += 1;
    const key = `${BATCHES_PREFIX}${id}/${epoch}-${this.stored}`;
    await putObject(this.context.storage, key, body);
    failpoint("batch.stored");
    const part: Part = { isOutput, key, sha256: createHash("sha256").update(body).digest(), lines };
    if (!(await endLines(this.context.database, this.batch, part))) throw new Superseded();
    for (const { outcome } of lines) this.context.metrics.batchLines.inc(outcome);
    this.gathered[name] = NOTHING();
    this.onEnded(lines.map(({ number }) => number));
  }
}

const READ_TRIES = 3;

/** Reads a part and verifies its checksum. @throws StorageError if the checksum does not match; the errors of the storage SDK */
export async function readPart({ storage }: Pick<Context, "storage">, part: PartRow): Promise<Buffer> {
  for (let tries = 1; ; tries += 1) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of readObject(storage, part.key, 0, part.bytes)) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (createHash("sha256").update(bytes).digest().equals(part.sha256)) return bytes;
    if (tries === READ_TRIES) throw new StorageError("damaged", `${part.key} has other bytes than were stored`);
  }
}

/** Maximum size of a page of records, in bytes. A larger record gets its own page. */
const PAGE_BYTES_MAX = 4 * 1_048_576;

/** Returns the first lines whose records fit into one page. */
export function onePage(lines: readonly EndedLine[]): readonly EndedLine[] {
  let bytes = 0;
  const over = lines.findIndex((line, at) => (bytes += line.record_bytes) > PAGE_BYTES_MAX && at > 0);
  return over < 0 ? lines : lines.slice(0, over);
}

/**
 * Returns the records of consecutive ended lines, without line breaks.
 * @throws ApiError `file_not_found` if the output file was deleted; `service_unavailable`
 */
export async function readRecords(context: Context, batch: BatchRow, lines: readonly EndedLine[]): Promise<string[]> {
  const texts = new Map<EndedLine, string>();
  for (const isOutput of [true, false]) {
    // Records within one file are contiguous.
    const own = lines.filter((line) => line.is_output === isOutput);
    const [first] = own;
    const last = own.at(-1);
    if (!first || !last) continue;
    const from = first.record_start;
    const bytes = await readSpan(context, batch, isOutput, from, last.record_start + BigInt(last.record_bytes));
    for (const line of own) {
      const at = Number(line.record_start - from);
      texts.set(line, bytes.toString("utf8", at, at + line.record_bytes - 1));
    }
  }
  return lines.map((line) => texts.get(line) ?? "");
}

async function readSpan(
  context: Context,
  batch: BatchRow,
  isOutput: boolean,
  from: bigint,
  to: bigint,
): Promise<Buffer> {
  const fileId = isOutput ? batch.output_file_id : batch.error_file_id;
  try {
    const bytes = fileId === null ? await spanOfParts(context, batch.id, isOutput, from, to) : await spanOfFile(context, fileId, from, to); // prettier-ignore
    if (bytes.length === Number(to - from)) return bytes;
    throw new Error("records are not where they were written");
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("service_unavailable", "The lines cannot be read right now; try again shortly.", {
      cause: error,
    });
  }
}

async function spanOfParts(context: Context, id: string, isOutput: boolean, from: bigint, to: bigint): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let next = from; next < to;) {
    const [part] = await findParts(context.database, id, isOutput, { from: next, max: 1 });
    if (!part) break;
    const bytes = await readPart(context, part);
    pieces.push(bytes.subarray(Number(next - part.start), Number(to - part.start)));
    next = part.start + BigInt(part.bytes);
  }
  return Buffer.concat(pieces);
}

async function spanOfFile({ database, storage }: Context, fileId: string, from: bigint, to: bigint): Promise<Buffer> {
  const blocks = await findBlocks(database, fileId);
  if (!blocks) throw new ApiError("file_not_found", `The file ${fileId} with these lines was deleted.`);
  const pieces: Uint8Array[] = [];
  for await (const piece of readFile(storage, blocks, Number(from), Number(to))) pieces.push(piece);
  return Buffer.concat(pieces);
}
