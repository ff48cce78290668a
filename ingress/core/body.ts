/** Limits of request bodies: media type, size, reading time, and total bytes in memory. The HTTP server enforces none of them. */
import type { FormParts } from "#shared/calls/kinds/kind.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type ExactIntegers, exactIntegersOf, findingExactIntegers } from "#shared/json/serialize.ts";
import type { FairLimit } from "#shared/limits/fair-limit.ts";
import { type JsonBody, type JsonBounds, readJson, readJsonInSlices } from "#shared/json/parse.ts";
import { openRequestLimit } from "#shared/limits/request-limit.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";
import { JSON_AT_ONCE_BYTES_MAX, SMALL_BODY_BYTES_MAX } from "#shared/json/tokens.ts";
import { paced } from "#shared/config/pace.ts";

import { type Requester, withPermit } from "./long-work.ts";

/**
 * Limits of large JSON bodies in one process: bytes handled at once in total and per workspace, number of waiting requests, and their
 * timeout.
 */
const LARGE_BODIES_BYTES_MAX = 134_217_728;
const LARGE_BODIES_WORKSPACE_BYTES_MAX = 67_108_864;
const LARGE_BODIES_WAITING_MAX = 256;
const LARGE_BODY_WAIT_MS = paced(20_000);

/** Timeout of reading a body: a base time plus the body's size at this rate. Bun itself has no timeout for a slowly sent body. */
export const BODY_READ = { baseMs: 10_000, bytesPerSecond: 65_536 } as const;

export interface ReadBody extends JsonBody {
  /** Length of the received body, in bytes. */
  readonly textBytes: number;
  /** Lets the event loop run once. Await it between steps that each process a whole large body. */
  readonly pause: () => Promise<void>;
  /**
   * Runs a computation on the body in time slices. Large bodies of one workspace are processed one at a time. @throws ApiError `overloaded`
   */
  readonly work: <T>(work: (slices: TimeSlices) => Promise<T>) => Promise<T>;
}

/**
 * Reads and parses the body of a request. A large body is parsed in time slices.
 * @throws the errors of `readJsonBody` and `readJson`; ApiError `overloaded`
 */
export async function readBody(
  { config }: { readonly config: { readonly bodyBytesMax: number } },
  call: Requester,
  bounds?: JsonBounds,
): Promise<ReadBody> {
  const bytes = await readJsonBody(call.request, config.bodyBytesMax);
  return parseBody(call, bytes, bounds);
}

/** Parses a received body. A large body is parsed in time slices. @throws the errors of `readJson`; ApiError `overloaded` */
export async function parseBody(call: Requester, bytes: Uint8Array, bounds?: JsonBounds): Promise<ReadBody> {
  const textBytes = bytes.length;
  call.capture?.onRequest(bytes);
  if (textBytes <= JSON_AT_ONCE_BYTES_MAX) return { ...noted(call, readJson(bytes, bounds)), textBytes, ...AT_ONCE };
  const work: ReadBody["work"] = (sliced) => withPermit(call, sliced);
  const body = await work((slices) => readJsonInSlices(bytes, slices, bounds));
  const slices = new TimeSlices();
  return { ...noted(call, body), textBytes, pause: () => slices.next(), work };
}

/** Notes the model of a body, for the record of a refused call. */
function noted<Body extends JsonBody>({ asked }: Requester, body: Body): Body {
  if (asked && typeof body.value === "object" && body.value !== null && "model" in body.value) {
    asked.model = body.value.model;
  }
  return body;
}

const AT_ONCE: Pick<ReadBody, "pause" | "work"> = {
  pause: () => Promise.resolve(),
  work: (work) => work(new TimeSlices()),
};

/**
 * Finds the integers in a body's text that JavaScript numbers cannot represent exactly. A large body is searched in time slices. @throws
 * ApiError `overloaded`
 */
export async function exactIntegersIn({ text, textBytes, work }: ReadBody): Promise<ExactIntegers | undefined> {
  if (textBytes <= JSON_AT_ONCE_BYTES_MAX) return exactIntegersOf(text);
  return work((slices) => slices.run(findingExactIntegers(text)));
}

/**
 * Reads the whole body of a request, of at most `bytesMax` bytes.
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
    // The connection closed, or a chunk was malformed. The client cannot receive a response, and the service is not at fault.
    throw new ApiError("request_timeout", "The request body arrived incomplete.", { cause: error });
  } finally {
    deadline.stop();
  }
}

interface Deadline {
  /** Promise that rejects when the timeout has passed. */
  readonly late: Promise<never>;
  /** Extends the timeout of a body without a declared size. @param bytes total number of received bytes */
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
    const remainingMs = startedAt + allowedMs - performance.now();
    if (remainingMs > 0) timer = setTimeout(check, remainingMs);
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
 * Creates the limit of large JSON bodies that a process handles at once, in bytes. Processing a body takes memory of about five times its
 * size (measured: 145 MB for an image edit of 27 MB). Small bodies, nearly all, never wait.
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

/** Returns the maximum number of bytes to reserve for a request's JSON body or form; 0 for small bodies. */
export function largeBodyBytes({ headers }: Request, bytesMax: number, form?: FormParts): number {
  // Reading `request.body` alone would make Bun build a stream.
  const declared = headers.get("content-length");
  if (declared === null && headers.get("transfer-encoding") === null) return 0;
  const isHeldForm = Object.values(form?.files ?? {}).some(({ member }) => member !== undefined);
  const held = isHeldForm ? /^(?:application\/json|multipart\/form-data)\b/i : /^application\/json\b/i;
  if (!held.test(headers.get("content-type") ?? "")) return 0;
  const bytes = declared === null ? bytesMax : Number(declared);
  return bytes > SMALL_BODY_BYTES_MAX ? Math.min(bytes, bytesMax) : 0;
}
