/**
 * Request bodies: media type, size, time, and how much of them is in memory at once are bounded here, since the server
 * underneath bounds none of them for us.
 */
import type { FormParts } from "#shared/calls/kinds/kind.ts";
import { ApiError } from "#shared/errors.ts";
import { type ExactIntegers, exactIntegersOf, findingExactIntegers } from "#shared/exact-integers.ts";
import type { FairLimit } from "#shared/fair-limit.ts";
import { type JsonBody, type JsonBounds, readJson, readJsonInSlices } from "#shared/json.ts";
import { openRequestLimit } from "#shared/request-limit.ts";
import { TimeSlices } from "#shared/time-slices.ts";
import { JSON_AT_ONCE_BYTES_MAX, SMALL_BODY_BYTES_MAX } from "#shared/json-tokens.ts";
import { paced } from "#shared/pace.ts";

import type { IngressContext } from "./context.ts";
import { withPermit } from "./long-work.ts";
import type { RouteCall } from "./serve.ts";

/** Large JSON bodies that a process handles at once, in all and of one workspace; so many others wait this long. */
const LARGE_BODIES_BYTES_MAX = 134_217_728;
const LARGE_BODIES_WORKSPACE_BYTES_MAX = 67_108_864;
const LARGE_BODIES_WAITING_MAX = 256;
const LARGE_BODY_WAIT_MS = paced(20_000);

/** A body has this long to arrive, plus its size at 64 KB/s (Bun never cuts a dripping body). */
export const BODY_READ = { baseMs: 10_000, bytesPerSecond: 65_536 } as const;

export interface ReadBody extends JsonBody {
  /** Length of the received body, in bytes. */
  readonly textBytes: number;
  /** To be waited for between steps that go over the whole of a body: of a large one each takes as long as others should have to wait. */
  readonly pause: () => Promise<void>;
  /** Work on it, in slices; of large bodies of a workspace on one at a time. @throws ApiError `overloaded` */
  readonly work: <T>(work: (slices: TimeSlices) => Promise<T>) => Promise<T>;
}

/** The body of a call, read in slices where it is large. @throws ApiError as `readJsonBody` and `readJson`; `overloaded` */
export async function readBody(
  { config }: { readonly config: Pick<IngressContext["config"], "bodyBytesMax"> },
  call: Pick<RouteCall, "caller" | "request">,
  bounds?: JsonBounds,
): Promise<ReadBody> {
  return parseBody(call, await readJsonBody(call.request, config.bodyBytesMax), bounds);
}

/** Parses a body that has been received. @throws ApiError as `readJson`; `overloaded` */
export async function parseBody(
  call: Pick<RouteCall, "caller" | "request">,
  bytes: Uint8Array,
  bounds?: JsonBounds,
): Promise<ReadBody> {
  const textBytes = bytes.length;
  if (textBytes <= JSON_AT_ONCE_BYTES_MAX) return { ...readJson(bytes, bounds), textBytes, ...AT_ONCE };
  const body = await withPermit(call, (slices) => readJsonInSlices(bytes, slices, bounds));
  const slices = new TimeSlices();
  return { ...body, textBytes, pause: () => slices.next(), work: (work) => withPermit(call, work) };
}

const AT_ONCE: Pick<ReadBody, "pause" | "work"> = {
  pause: () => Promise.resolve(),
  work: (work) => work(new TimeSlices()),
};

/** The exact integers of a body's text, found in slices where it is large. @throws ApiError `overloaded` */
export async function exactIntegersIn({ text, textBytes, work }: ReadBody): Promise<ExactIntegers | undefined> {
  if (textBytes <= JSON_AT_ONCE_BYTES_MAX) return exactIntegersOf(text);
  return work((slices) => slices.run(findingExactIntegers(text)));
}

/**
 * The whole body, at most `bytesMax` bytes.
 * @throws ApiError `unsupported_media_type`, `request_too_large`, `request_timeout`
 */
export async function readJsonBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  checkMediaType(request.headers);
  const deadline = startDeadline(declared || 0);
  try {
    if (declared <= SMALL_BODY_BYTES_MAX) {
      return new Uint8Array(await Promise.race([request.arrayBuffer(), deadline.late]));
    }
    return await readPieces(request.body, bytesMax, deadline);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The connection closed, or what came was no chunk: the client cannot hear an answer, and the fault is not ours.
    throw new ApiError("request_timeout", "The request body arrived incomplete.", { cause: error });
  } finally {
    deadline.stop();
  }
}

interface Deadline {
  /** Rejects when the time is over. */
  readonly late: Promise<never>;
  /** A body that says no size has time for what has come of it. */
  received(bytes: number): void;
  stop(): void;
}

function startDeadline(declaredBytes: number): Deadline {
  const { promise: late, reject } = Promise.withResolvers<never>();
  late.catch(() => undefined);
  const startedAt = performance.now();
  let bytes = declaredBytes;
  const check = (): void => {
    const allowedMs = BODY_READ.baseMs + (bytes / BODY_READ.bytesPerSecond) * 1_000;
    const leftMs = startedAt + allowedMs - performance.now();
    if (leftMs > 0) timer = setTimeout(check, leftMs);
    else reject(new ApiError("request_timeout", "The request body did not arrive in time."));
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  check();
  return {
    late,
    received: (count) => {
      bytes = Math.max(bytes, count);
    },
    stop: () => clearTimeout(timer),
  };
}

async function readPieces(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
  deadline: Deadline,
): Promise<Uint8Array> {
  if (!body) return new Uint8Array();
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), deadline.late]);
      if (done) return Buffer.concat(pieces, size);
      size += value.length;
      if (size > bytesMax) throw tooLarge(bytesMax);
      deadline.received(size);
      pieces.push(value);
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    throw error;
  }
}

function checkMediaType(headers: Headers): void {
  const type = headers.get("content-type") ?? "";
  const [media = "", ...parameters] = type.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((part) => part.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "");
  if (media !== "application/json" || (charset !== undefined && charset !== "utf-8" && charset !== "utf8")) {
    throw new ApiError("unsupported_media_type", "Expected a body of media type application/json in UTF-8.");
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    throw new ApiError(
      "unsupported_media_type",
      "Compressed request bodies are not supported; send the body uncompressed.",
    );
  }
}

function tooLarge(bytesMax: number): ApiError {
  return new ApiError("request_too_large", `The request body is larger than ${bytesMax} bytes.`);
}

/**
 * Large JSON bodies that a process handles at once, in bytes: read, parsed, checked and put aside, each takes about five
 * times its size meanwhile (measured: 145 MB for an edit of 27 MB). Small ones, which nearly all are, wait for nothing.
 */
export function openLargeBodies(): FairLimit {
  return openRequestLimit({
    max: LARGE_BODIES_BYTES_MAX,
    perWorkspaceMax: LARGE_BODIES_WORKSPACE_BYTES_MAX,
    waitingMax: LARGE_BODIES_WAITING_MAX,
    waitMs: LARGE_BODY_WAIT_MS,
    noun: "large requests",
  });
}

/** Returns the most bytes that a request may bring into memory, as JSON or as a form; 0 where they are few. */
export function largeBodyBytes({ headers }: Request, bytesMax: number, form?: FormParts): number {
  // Its body is not looked at: that alone would make a stream of it.
  const declared = headers.get("content-length");
  if (declared === null && headers.get("transfer-encoding") === null) return 0;
  const isHeldForm = Object.values(form?.files ?? {}).some(({ member }) => member !== undefined);
  const held = isHeldForm ? /^(?:application\/json|multipart\/form-data)\b/i : /^application\/json\b/i;
  if (!held.test(headers.get("content-type") ?? "")) return 0;
  const bytes = declared === null ? bytesMax : Number(declared);
  return bytes > SMALL_BODY_BYTES_MAX ? Math.min(bytes, bytesMax) : 0;
}
