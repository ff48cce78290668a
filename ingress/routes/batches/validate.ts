/** Validates a batch's input file: every line is checked before the first line runs. */
import { type BatchLine, beginBatch, dropLines, insertLines } from "#shared/database/batch-work.ts";
import { type BatchRow, KEPT_LINES_MAX } from "#shared/database/batches.ts";
import { findBlocks } from "#shared/database/files.ts";
import { readFile } from "#shared/files/read.ts";
import { TIME_SLICE_MS, TimeSlices } from "#shared/base/time-slices.ts";

import type { IngressContext } from "../../context.ts";
import { type BatchFault, endLed } from "./end.ts";
import { jobOfLine } from "./ids.ts";
import { checkLine, LineFault, type LineTarget } from "./read-line.ts";

/** Maximum number of lines per batch and of texts in all its embeddings calls, both as at OpenAI, and of stored lines per workspace. */
const BOUNDS = { lines: 50_000, inputs: 50_000, keptLines: KEPT_LINES_MAX };

/** Maximum number of faults that a batch reports. */
const FAULTS_MAX = 100;

/** Number of lines that one SQL statement inserts. */
const CHUNK = 500;

/** Pauses the reading of a file when its time slice is over. It leaves half of the thread's time to other requests. */
async function yieldThread(slices: TimeSlices): Promise<void> {
  if (!slices.isOver) return;
  await Bun.sleep(TIME_SLICE_MS);
  await slices.next();
}

/**
 * Validates the input file and stores its lines. Returns true if the lines may start; false if the batch has failed, is ending or has
 * another leader. @throws Superseded when another process has taken over the batch
 */
export async function validateBatch(
  context: Pick<IngressContext, "database" | "metrics" | "storage"> & {
    readonly config: Pick<IngressContext["config"], "storageBytesMax">;
  },
  batch: BatchRow,
  target: LineTarget,
  isLed: () => boolean,
  own: Partial<typeof BOUNDS> = {},
): Promise<boolean> {
  const bounds = { ...BOUNDS, ...own };
  const { database, storage } = context;
  // Lines that a previous leader has inserted.
  await dropLines(database, batch);
  const blocks = await findBlocks(database, batch.input_file_id);
  const reading = new Validation({ database }, batch, target, bounds);
  if (blocks) {
    for await (const line of linesOf(readFile(storage, blocks))) {
      if (!isLed()) return false;
      await reading.take(line);
      if (reading.isOver) break;
    }
    await reading.end();
  } else {
    reading.fault({ code: "file_not_found", message: "The input file was deleted.", param: "input_file_id" });
  }
  if (!isLed()) return false;
  const { faults, total, model } = reading;
  if (faults.length === 0) {
    const { storageBytesMax } = context.config;
    const verdict = await beginBatch(database, batch, { total, model, linesMax: bounds.keptLines, storageBytesMax });
    if (verdict === "begun" || verdict === "gone") return verdict === "begun";
    reading.fault(
      verdict === "full" ? STORAGE_LIMIT_EXCEEDED : { ...TOO_MANY_KEPT, message: tooManyKept(bounds.keptLines) },
    );
  }
  await dropLines(database, batch);
  const first = faults.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, FAULTS_MAX);
  await endLed(context, batch, { state: "failed", faults: first });
  return false;
}

const STORAGE_LIMIT_EXCEEDED = {
  code: "storage_limit_exceeded",
  message: "The lines of this batch would exceed the workspace's storage limit; delete files, or raise the limit.",
  param: "input_file_id",
};
const TOO_MANY_KEPT = { code: "too_many_lines", param: null };

function tooManyKept(max: number): string {
  return `Expected at most ${max} lines in all stored batches of the workspace, got more. Ended batches count until they expire.`;
}

class Validation {
  readonly faults: BatchFault[] = [];
  total = 0;
  private blanks = 0;
  private inputs = 0;
  private readonly models = new Set<string | undefined>();
  private chunk: BatchLine[] = [];
  private readonly slices = new TimeSlices();
  private readonly context: Pick<IngressContext, "database">;
  private readonly batch: BatchRow;
  private readonly target: LineTarget;
  private readonly bounds: typeof BOUNDS;

  constructor(context: Pick<IngressContext, "database">, batch: BatchRow, target: LineTarget, bounds: typeof BOUNDS) {
    this.bounds = bounds;
    this.context = context;
    this.batch = batch;
    this.target = target;
  }

  get isOver(): boolean {
    const { faults, inputs, bounds } = this;
    return faults.length >= FAULTS_MAX || this.hasTooMany || inputs > bounds.inputs;
  }

  /** True when the file has too many lines. Blank lines are counted separately, because a file may have 200 million of them. */
  private get hasTooMany(): boolean {
    return this.total > this.bounds.lines || this.blanks > this.bounds.lines;
  }

  get model(): string | null {
    const [model] = this.models;
    return this.models.size === 1 ? (model ?? null) : null;
  }

  fault(fault: Omit<BatchFault, "line">, line: number | null = null): void {
    this.faults.push({ ...fault, line });
  }

  async take({ number, start, bytes }: Line): Promise<void> {
    await yieldThread(this.slices);
    if (bytes === undefined) {
      const message = `Expected a line of at most ${LINE_BYTES_MAX} bytes.`;
      this.fault({ code: "line_too_long", message, param: null }, number);
      return;
    }
    if (isBlank(bytes)) {
      this.blanks += 1;
      return;
    }
    this.total += 1;
    try {
      const { customId, model, inputs } = await checkLine(bytes, this.batch.endpoint, this.target, this.slices);
      this.inputs += inputs;
      // Two different models are enough to know that there is no single one.
      if (this.models.size < 2) this.models.add(model);
      const { id, workspace_id } = this.batch;
      const job_id = jobOfLine(workspace_id, id, number);
      this.chunk.push({ number, custom_id: customId, start: BigInt(start), bytes: bytes.length, job_id });
    } catch (error) {
      if (!(error instanceof LineFault)) throw error;
      this.fault({ code: error.code, message: error.message, param: error.param }, number);
    }
    if (this.chunk.length >= CHUNK) await this.write();
  }

  async end(): Promise<void> {
    await this.write();
    const { lines, inputs } = this.bounds;
    if (this.hasTooMany) {
      this.fault({ code: "too_many_lines", message: `Expected at most ${lines} lines, got more.`, param: null });
    }
    if (this.inputs > inputs && !this.hasTooMany) {
      const message = `Expected at most ${inputs} texts in all embeddings calls in total, got more.`;
      this.fault({ code: "too_many_inputs", message, param: null });
    }
    if (this.total === 0 && this.faults.length === 0) {
      this.fault({ code: "empty_file", message: "Expected a file with at least one line.", param: null });
    }
  }

  private async write(): Promise<void> {
    const { chunk } = this;
    if (chunk.length === 0) return;
    this.chunk = [];
    const written = await insertLines(this.context.database, this.batch, chunk);
    for (const { number } of chunk) {
      if (written.has(number)) continue;
      const message = "Expected a unique custom_id, got one of an earlier line.";
      this.fault({ code: "duplicate_custom_id", message, param: "custom_id" }, number);
    }
  }
}

/** Splits a file that arrives in blocks into lines. Only one line is in memory at a time. */

/** Maximum length of a line without its line break, in bytes. A call with some megabytes of media fits. */
export const LINE_BYTES_MAX = 8 * 1_048_576;

/** Line without its line break. */
interface Line {
  /** Line number, starting at 1. */
  readonly number: number;
  /** Offset of the line's first byte in the file. */
  readonly start: number;
  /** Content of the line. Undefined if the line is too long and was skipped. */
  readonly bytes: Uint8Array | undefined;
}

const LF = 0x0a;
const CR = 0x0d;

/** Yields every line of a file. The last line may lack a line break; a final line break is not followed by an empty line. */
export async function* linesOf(
  blocks: AsyncIterable<Uint8Array>,
  bytesMax = LINE_BYTES_MAX,
): AsyncGenerator<Line, void, void> {
  let number = 1;
  let start = 0;
  let length = 0;
  // Copies, because the reader may reuse a block when the next one is requested.
  let pieces: Uint8Array[] = [];
  const add = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > bytesMax + 1) pieces = [];
    else if (piece.length > 0) pieces.push(new Uint8Array(piece));
  };
  const lineOf = (): Line => {
    const bytes = length > bytesMax + 1 ? undefined : withoutReturn(pieces.length === 1 ? pieces[0] : joined(pieces));
    return { number, start, bytes: bytes && bytes.length <= bytesMax ? bytes : undefined };
  };
  for await (const block of blocks) {
    let from = 0;
    for (let end = block.indexOf(LF); end >= 0; end = block.indexOf(LF, from)) {
      add(block.subarray(from, end));
      yield lineOf();
      number += 1;
      start += length + 1;
      length = 0;
      pieces = [];
      from = end + 1;
    }
    add(block.subarray(from));
  }
  if (length > 0) yield lineOf();
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(pieces);
}

function withoutReturn(bytes: Uint8Array = new Uint8Array(0)): Uint8Array {
  return bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes;
}

/** Maximum length of a line that is checked for being blank, in bytes. Checking a line of 8 MiB blocked the thread for 400 ms. */
const BLANK_BYTES_MAX = 4_096;

/** Returns true for a line of only spaces and tabs, which is skipped. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.length <= BLANK_BYTES_MAX && bytes.every((byte) => byte === 0x20 || byte === 0x09);
}
