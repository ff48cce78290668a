/**
 * The one place that speaks HTTP to providers: host and credentials come from the catalogue and the environment only,
 * redirects are never followed, answers are bounded after inflation, and every call hangs on its caller's signal,
 * which carries the deadlines.
 */
import { pipeline, Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

import { ApiError } from "#shared/errors.ts";

import { watchConnect } from "./connect-limit.ts";
import { ProviderError } from "./provider.ts";

/** One provider answer, after inflation. */
export const PROVIDER_BYTES_MAX = 64 * 1_048_576;

/** Address of a provider, and the headers that identify us there. */
export interface Endpoint {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ProviderRequest {
  /** POST where absent. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Fixed by the adapter; nothing of a caller's reaches it. */
  readonly path: string;
  /** JSON text, a form, or bytes whose type is in the headers; absent for requests without a body. */
  readonly body?: string | FormData | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request whose body is JSON text, as nearly all are. */
export interface JsonRequest extends ProviderRequest {
  readonly body: string;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly headers: Headers;
}

/**
 * Waited for while an answer is read, each time before `more` of its bytes are in memory; the first `ROOMLESS_BYTES` need none.
 * @param most what all of the answer may come to: its declared length, else its limit
 */
export type ReserveBytes = (more: number, most: number) => Promise<void>;

/**
 * Sends and reads the whole answer.
 * @throws ProviderError `failed` (connection), `aborted` (signal), `failed` (too large); what `reserveBytes` throws
 */
export async function post(
  endpoint: Endpoint,
  request: ProviderRequest,
  signal: AbortSignal,
  reserveBytes?: ReserveBytes,
): Promise<ProviderAnswer & { readonly text: string }> {
  const response = await send(endpoint, request, signal);
  if (reserveBytes) {
    const bytes = await readBytes(response, PROVIDER_BYTES_MAX, signal, reserveBytes);
    return { status: response.status, headers: response.headers, text: new TextDecoder().decode(bytes) };
  }
  const text = await readText(response, PROVIDER_BYTES_MAX, signal);
  return { status: response.status, headers: response.headers, text };
}

/**
 * Sends and hands the body over unread when the status is 2xx; otherwise reads it (bounded) as `text`.
 * The caller must read the body to its end or cancel it.
 */
export async function postStream(
  endpoint: Endpoint,
  request: ProviderRequest,
  signal: AbortSignal,
): Promise<ProviderAnswer & { readonly body: ReadableStream<Uint8Array> | null; readonly text: string }> {
  const response = await send(endpoint, request, signal);
  if (response.ok) return { status: response.status, headers: response.headers, body: response.body, text: "" };
  const text = await readText(response, PROVIDER_BYTES_MAX, signal);
  return { status: response.status, headers: response.headers, body: null, text };
}

/** Sends and reads the whole answer as bytes: audio, images. @throws as `post` */
export async function fetchBytes(
  endpoint: Endpoint,
  request: ProviderRequest,
  signal: AbortSignal,
  bytesMax: number = PROVIDER_BYTES_MAX,
  reserveBytes?: ReserveBytes,
): Promise<ProviderAnswer & { readonly bytes: Uint8Array }> {
  const response = await send(endpoint, request, signal);
  const bytes = await readBytes(response, bytesMax, signal, reserveBytes);
  return { status: response.status, headers: response.headers, bytes };
}

/** Bytes that any answer may have without asking for room, and the least that is asked for at a time beyond them. */
const ROOMLESS_BYTES = 1_048_576;

async function send(endpoint: Endpoint, request: ProviderRequest, outer: AbortSignal): Promise<Response> {
  const url = endpoint.baseUrl + request.path;
  const connecting = watchConnect(url, outer);
  const { signal } = connecting;
  let hasAnswered = false;
  try {
    const headers = {
      // A form names its own type, with the boundary.
      ...(typeof request.body === "string" ? { "content-type": "application/json" } : {}),
      "accept-encoding": "identity",
      ...request.headers,
      ...endpoint.headers,
    };
    const { method = "POST", body } = request;
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal,
      // Bun's own idle limit is 300 s, less than a model may think; the deadlines are the signal's.
      timeout: false,
      decompress: false,
    } as BunFetchRequestInit);
    hasAnswered = true;
    return inflated(wellFormed(response));
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    if (connecting.isUnreachable()) {
      throw new ProviderError("failed", "its address cannot be reached", { cause: error });
    }
    throw connectionError(error, outer);
  } finally {
    connecting.stop(hasAnswered);
  }
}

/**
 * Returns the response; Bun's `fetch` accepts two faults that end here. A status outside 200 to 599 means nothing to any adapter.
 * A length beside chunks limits nothing: `fetch` reads the chunks to their end, so `readText` would exceed its limit.
 * @throws ProviderError `failed`
 */
function wellFormed(response: Response): Response {
  const { status, headers } = response;
  const isFramedTwice = headers.has("content-length") && headers.has("transfer-encoding");
  if (status >= 200 && status <= 599 && !isFramedTwice) return response;
  // Bun makes a stream of the body when it is named, a tenth of the call's CPU: `text()` alone needs none.
  response.body?.cancel().catch(() => undefined);
  const fault = isFramedTwice ? "the answer states a length and chunks" : `the answer has the status ${status}`;
  throw new ProviderError("failed", fault);
}

export async function readText(response: Response, bytesMax: number, signal: AbortSignal): Promise<string> {
  const declared = Number(response.headers.get("content-length") ?? Number.NaN);
  if (declared > bytesMax) {
    await response.body?.cancel();
    throw new ProviderError("failed", `answer of ${declared} bytes is over the limit`, { status: response.status });
  }
  try {
    // A stated length without compression cannot grow; anything else is counted as it arrives.
    if (declared <= bytesMax && !response.headers.has("content-encoding")) return await response.text();
    if (!response.body) return "";
    return await readBounded(response.body, bytesMax, response.status);
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    throw connectionError(error, signal);
  }
}

async function readBytes(
  response: Response,
  bytesMax: number,
  signal: AbortSignal,
  reserveBytes?: ReserveBytes,
): Promise<Uint8Array> {
  const declared = Number(response.headers.get("content-length") ?? Number.NaN);
  if (declared > bytesMax) {
    await response.body?.cancel();
    throw new ProviderError("failed", `answer of ${declared} bytes is over the limit`, { status: response.status });
  }
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // A compressed answer grows beyond what it declares.
  const most = response.headers.has("content-encoding") ? bytesMax : declared || bytesMax;
  const reserve = reserveBytes && reserverOf(reserveBytes, most);
  try {
    for await (const piece of response.body ?? []) {
      bytes += piece.length;
      if (bytes > bytesMax)
        throw new ProviderError("failed", `answer is over ${bytesMax} bytes`, { status: response.status });
      // Meanwhile Bun stops to read from the connection.
      await reserve?.(bytes);
      pieces.push(piece);
    }
  } catch (error) {
    throw error instanceof ProviderError || error instanceof ApiError ? error : connectionError(error, signal);
  }
  return Buffer.concat(pieces, bytes);
}

/** Waits until an answer of so many bytes so far has room for them. */
export function reserverOf(reserveBytes: ReserveBytes, most: number): (bytes: number) => Promise<void> {
  let reservedBytes = ROOMLESS_BYTES;
  return async (bytes) => {
    if (bytes <= reservedBytes) return;
    const more = Math.max(ROOMLESS_BYTES, bytes - reservedBytes);
    await reserveBytes(more, most);
    reservedBytes += more;
  };
}

async function readBounded(body: ReadableStream<Uint8Array>, bytesMax: number, status: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop cancels the body, which closes the connection.
    if (bytes > bytesMax) throw new ProviderError("failed", `answer is over ${bytesMax} bytes`, { status });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Bun's codes for a connection that was never established. EPROTO is not among these: Bun uses it both for a failed handshake and
 * for a broken record after the request (measured with 1.4.4).
 */
const UNSENT: ReadonlySet<string> = new Set(["ConnectionRefused", "FailedToOpenSocket", "ECONNREFUSED", "ENOTFOUND"]);
/** A server's certificate is judged before a byte of the request is sent (OpenSSL's x509_verify_cert_error_string). */
const BAD_CERTIFICATE =
  /^(?:CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_SELF_SIGNED_CERT$|ERR_TLS_CERT_|INVALID_(?:CA|PURPOSE)$|HOSTNAME_MISMATCH$|PATH_LENGTH_EXCEEDED$)/;

/** A connection that failed on the way; when our own signal ended it, that is what is said. */
export function connectionError(error: unknown, signal: AbortSignal): ProviderError {
  if (signal.aborted) return new ProviderError("aborted", "the call was aborted", { cause: error });
  const code = String((error as { code?: unknown } | null)?.code);
  return new ProviderError("failed", error instanceof Error ? error.message : "connection failed", {
    cause: error,
    isUnsent: UNSENT.has(code) || BAD_CERTIFICATE.test(code),
  });
}

// Answers that come compressed, though we ask for none: Bun would inflate a whole piece of one at once, and a few kilobytes can be a
// gigabyte. Here they are inflated bit by bit, as fast as they are read.

/** An answer may grow to this size, and beyond it by this factor: text shrinks to a tenth, a bomb to a thousandth. */
const GROWN_BYTES_MIN = 1_048_576;
const GROWTH_MAX = 100;

const INFLATERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * The response with its body inflated; itself when it is not compressed. Leaving the body ends the connection.
 * @throws ProviderError `failed` for an encoding that is not known
 */
function inflated(response: Response): Response {
  const encoding = response.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || response.body === null) return response;
  const inflate = INFLATERS[encoding]?.();
  if (!inflate) {
    response.body.cancel().catch(() => undefined);
    throw new ProviderError("failed", "the answer has an unknown encoding", { status: response.status });
  }
  const source = Readable.fromWeb(response.body);
  let packed = 0;
  let grown = 0;
  const packedCount = passing((bytes) => {
    packed += bytes;
    return true;
  });
  const grownCount = passing((bytes) => {
    grown += bytes;
    return grown <= GROWN_BYTES_MIN + packed * GROWTH_MAX;
  });
  // The reader of the inflated bytes gets the fault.
  pipeline(source, packedCount, inflate, grownCount, () => undefined);
  const body = Readable.toWeb(grownCount) as unknown as ReadableStream<Uint8Array>;
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Passes on what `mayPass`, and fails at what may not. */
function passing(mayPass: (bytes: number) => boolean): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (mayPass(chunk.length)) done(null, chunk);
      else done(new ProviderError("failed", "the answer grows beyond measure when it is inflated"));
    },
  });
}
