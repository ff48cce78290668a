/**
 * Probes the inputs of a run before admission, because the cost depends on their size, frames or length. After a failed or slow probe, an
 * input counts as unknown. The run then holds the maximum that its limits allow, and continues.
 */
import { objectKey } from "#shared/files/id.ts";
import { readImageExtent, readTiffExtent, tiffDirectoryAt } from "#shared/media/image-extent.ts";
import type { MediaProbes } from "#shared/media/media-probes.ts";
import { openRequestLimit } from "#shared/limits/request-limit.ts";
import type { Storage } from "#shared/storage/client.ts";
import { readObject } from "#shared/storage/objects.ts";

import type { Category } from "./entry.ts";
import type { InputFacts, KnownInputs } from "./expected.ts";
import { sampleFile } from "./samples.ts";

/**
 * Timeout of probing all inputs of one run, in milliseconds. For inputs that are still unknown then, the hold assumes the largest size that
 * the limits allow.
 */
const CAPABILITY_PROBE_TIMEOUT_MS = 5_000;

/**
 * Maximum number of bytes that all probes of one run together read from the object store. The second limit is the maximum size of a file
 * that a probe reads as a whole.
 */
export const CAPABILITY_PROBE_BYTES_MAX = 16 * 1_048_576;
export const CAPABILITY_PROBE_WHOLE_FILE_BYTES_MAX = 4 * 1_048_576;

/**
 * Maximum number of concurrent probes in one process, half of them for one workspace; and maximum number of waiting probes. Each probe
 * needs a few megabytes of memory.
 */
export const CAPABILITY_PROBES_CONCURRENT_MAX = 8;
const CAPABILITY_PROBES_WAITING_MAX = 1_024;

export interface ProbeContext {
  readonly storage: Storage;
  readonly probes: Pick<MediaProbes, "audio" | "video">;
}

/** An input of a run: bytes in the body, or a stored file. URLs are not probed. */
export interface ProbedInput {
  readonly member: string;
  readonly bytes?: Uint8Array;
  readonly fileId?: string;
}

/** Input that can be read from any offset. */
interface Source {
  readonly total: number;
  read(from: number, to: number): Promise<Uint8Array>;
}

/** Limits running probes per process and per workspace. Probes may be slow, so one workspace leaves capacity for others. */
const probing = openRequestLimit({
  max: CAPABILITY_PROBES_CONCURRENT_MAX,
  perWorkspaceMax: CAPABILITY_PROBES_CONCURRENT_MAX / 2,
  waitingMax: CAPABILITY_PROBES_WAITING_MAX,
  waitMs: CAPABILITY_PROBE_TIMEOUT_MS,
  noun: "inspections of inputs",
});

/**
 * Probes the inputs of a run and returns their properties by member of `input`.
 * @param sizes sizes of the stored files in bytes, by file id
 */
export async function probeInputs(
  context: ProbeContext & { readonly workspaceId: string },
  category: Category,
  inputs: readonly ProbedInput[],
  sizes: ReadonlyMap<string, number>,
): Promise<KnownInputs> {
  const probe = PROBES[category];
  if (probe === undefined || inputs.length === 0) return {};
  const signal = AbortSignal.timeout(CAPABILITY_PROBE_TIMEOUT_MS);
  const budget = { remainingBytes: CAPABILITY_PROBE_BYTES_MAX };
  const found: Record<string, InputFacts[]> = {};
  const unprobed = (one: ProbedInput): void => void (found[one.member] ??= []).push({});
  const isNew = inputs.some((one) => knownFacts(category, one) === undefined);
  const permit = isNew ? await probing.take({ owner: context.workspaceId }, signal).catch(() => undefined) : undefined;
  try {
    for (const one of inputs) {
      const facts = knownFacts(category, one);
      if (facts) {
        (found[one.member] ??= []).push(facts);
        continue;
      }
      const source = permit && sourceOf(context.storage, one, sizes, budget, signal);
      if (source === undefined || signal.aborted) unprobed(one);
      else {
        const seen = await probe(source, context.probes, signal).catch((): InputFacts => ({}));
        remember(category, one, seen);
        (found[one.member] ??= []).push(seen);
      }
    }
    return found;
  } finally {
    permit?.release();
  }
}

/** Cached properties of stored files: the bytes of an id never change. */
const seenFiles = new Map<string, InputFacts>();
const SEEN_FILES_MAX = 4_096;

function knownFacts(category: Category, { fileId }: ProbedInput): InputFacts | undefined {
  return fileId === undefined ? undefined : seenFiles.get(`${category} ${fileId}`);
}

/** Caches the properties of a stored file. An empty result is not cached, because the object store may have been unavailable. */
function remember(category: Category, { fileId }: ProbedInput, facts: InputFacts): void {
  if (fileId === undefined || Object.keys(facts).length === 0) return;
  const [oldest] = seenFiles.keys();
  if (seenFiles.size >= SEEN_FILES_MAX && oldest !== undefined) seenFiles.delete(oldest);
  seenFiles.set(`${category} ${fileId}`, facts);
}

type Probe = (source: Source, probes: ProbeContext["probes"], signal: AbortSignal) => Promise<InputFacts>;

/** Probes by category. Categories whose price does not depend on their inputs have none. */
const PROBES: Readonly<Partial<Record<Category, Probe>>> = {
  image: async (source) => {
    const image = await imageExtent(source);
    return image ? { image } : {};
  },
  audio: async (source, probes, signal) => {
    const { seconds } = await probes.audio({ bytes: await mediaBytes(source) }, signal);
    return { media: { seconds, width: 0, height: 0 } };
  },
  video: async (source, probes, signal) => {
    const { seconds, width, height } = await probes.video({ bytes: await mediaBytes(source) }, signal);
    return { media: { seconds, width, height } };
  },
};

/** Returns random access to the bytes of an input; undefined if the input is neither inline data nor a known stored file. */
function sourceOf(
  storage: Storage,
  { bytes, fileId }: ProbedInput,
  sizes: ReadonlyMap<string, number>,
  budget: { remainingBytes: number },
  signal: AbortSignal,
): Source | undefined {
  const held = bytes ?? (fileId === undefined ? undefined : sampleFile(fileId)?.read());
  if (held) return { total: held.length, read: (from, to) => Promise.resolve(held.subarray(from, to)) };
  const total = fileId === undefined ? undefined : sizes.get(fileId);
  if (fileId === undefined || total === undefined) return undefined;
  return {
    total,
    async read(from, to) {
      const end = Math.min(to, total);
      budget.remainingBytes -= Math.max(0, end - from);
      if (budget.remainingBytes < 0) throw new Error("more would be read than a look may");
      const pieces: Uint8Array[] = [];
      if (end > from) {
        for await (const piece of readObject(storage, objectKey(fileId), from, end)) {
          signal.throwIfAborted();
          pieces.push(piece);
        }
      }
      return Buffer.concat(pieces);
    },
  };
}

/** Number of bytes read first. They contain the headers of most images, or a whole small image, so that its frames can be counted. */
const HEAD_BYTES = 64 * 1_024;
/**
 * Number of bytes read if the first `HEAD_BYTES` do not contain the size of the image. Cameras and printers write previews and profiles
 * before the size.
 */
const LONG_HEAD_BYTES = 1_024 * 1_024;

async function imageExtent(source: Source) {
  for (const bytes of [HEAD_BYTES, LONG_HEAD_BYTES]) {
    const head = await source.read(0, bytes);
    const directory = tiffDirectoryAt(head);
    if (directory !== undefined && directory >= head.length) {
      return readTiffExtent(head, await source.read(directory, directory + HEAD_BYTES), directory, source.total);
    }
    const extent = readImageExtent(head, source.total);
    if (extent || head.length === source.total) return extent;
  }
  return undefined;
}

const BOXES_MAX = 64;
const BOX_HEAD_BYTES = 16;

/** Returns all bytes of a small file. For a large MP4, returns only the header and tables, which describe everything but the samples. */
async function mediaBytes(source: Source): Promise<Uint8Array> {
  if (source.total <= CAPABILITY_PROBE_WHOLE_FILE_BYTES_MAX) return source.read(0, source.total);
  const first = Buffer.from(await source.read(0, BOX_HEAD_BYTES));
  if (first.toString("latin1", 4, 8) !== "ftyp") throw new Error("too large to be looked at whole");
  const kept = [Buffer.from(await source.read(0, first.readUInt32BE(0)))];
  let at = first.readUInt32BE(0);
  for (let boxes = 1; at + 8 <= source.total && boxes < BOXES_MAX; boxes++) {
    const head = Buffer.from(await source.read(at, at + BOX_HEAD_BYTES));
    const name = head.toString("latin1", 4, 8);
    const declaredSize = head.readUInt32BE(0);
    const size =
      declaredSize === 1 ? Number(head.readBigUInt64BE(8)) : declaredSize === 0 ? source.total - at : declaredSize;
    // A fragmented file has many parts, each with its own tables.
    if (size < 8 || name === "moof") throw new Error("no plain MP4");
    if (name === "moov") {
      kept.push(Buffer.from(await source.read(at, at + size)));
      return Buffer.concat(kept);
    }
    at += size;
  }
  throw new Error("no tables were found");
}
