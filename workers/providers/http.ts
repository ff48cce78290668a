/**
 * HTTP client for all providers. Hosts and credentials come only from the catalogue and the environment. Redirects are never followed.
 * Responses are limited in size after decompression. The caller's signal contains the deadlines of each call.
 */
import { pipeline, Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

import { ApiError } from "#shared/base/errors.ts";

import { watchConnect } from "./connect-limit.ts";
import { ProviderError } from "./provider.ts";

/** Largest response of a provider after decompression, in bytes. */
export const PROVIDER_BYTES_MAX = 64 * 1_048_576;

/** Base URL of a provider, and the headers with our credentials. */
export interface Endpoint {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ProviderRequest {
  /** HTTP method. Default: POST. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** URL path set by the adapter. It contains no input of a caller. */
  readonly path: string;
  /** JSON text, a form, or bytes whose content type is in the headers. Absent for requests without a body. */
  readonly body?: string | FormData | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Request with a JSON body, the most common kind. */
export interface JsonRequest extends ProviderRequest {
  readonly body: string;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly headers: Headers;
}

/**
 * Reserves memory while a response is read. Called before each further `more` bytes of the response are read, except for the first
 * `UNRESERVED_BYTES`. Resolves when the memory is reserved.
 * @param most maximum size of the response in bytes: its declared length, or the size limit if no length is declared
 */
export type ReserveBytes = (more: number, most: number) => Promise<void>;

/**
 * Sends a request and reads the whole response.
 * @throws ProviderError `failed` for a broken connection or too large response, `aborted` when the signal fires; the errors of
 * `reserveBytes`
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
 * Sends a request. For a 2xx status, returns the unread body, which the caller must read to its end or cancel. Otherwise returns a limited
 * part of the body as `text`.
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

/**
 * Sends a request and reads the whole response as bytes, for audio and images.
 * @throws the errors of `post`
 */
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

/** Number of bytes of a response that need no memory reservation. Also the minimum size of a reservation after them. */
const UNRESERVED_BYTES = 1_048_576;

async function send(endpoint: Endpoint, request: ProviderRequest, outer: AbortSignal): Promise<Response> {
  const url = endpoint.baseUrl + request.path;
  const connecting = watchConnect(url, outer);
  const { signal } = connecting;
  let hasAnswered = false;
  try {
    const headers = {
      // `fetch` sets the content type of a form, including the boundary.
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
      // Bun's idle limit of 300 s is shorter than some models think; the signal carries the deadlines.
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
 * Returns the response unless it has one of two faults that Bun's `fetch` accepts. A status outside 200 to 599 is unknown to every adapter.
 * A response that is chunked and has a length is rejected too, because `fetch` ignores the length and `readText` would exceed its limit.
 * @throws ProviderError `failed`
 */
function wellFormed(response: Response): Response {
  const { status, headers } = response;
  const isFramedTwice = headers.has("content-length") && headers.has("transfer-encoding");
  if (status >= 200 && status <= 599 && !isFramedTwice) return response;
  // Reading `body` makes Bun create a stream, a tenth of the call's CPU; `text()` alone needs none.
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
    // A declared length without compression is exact; other bodies are counted while they arrive.
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
  // A compressed response grows beyond its declared length.
  const most = response.headers.has("content-encoding") ? bytesMax : declared || bytesMax;
  const reserve = reserveBytes && reserverOf(reserveBytes, most);
  try {
    for await (const piece of response.body ?? []) {
      bytes += piece.length;
      if (bytes > bytesMax)
        throw new ProviderError("failed", `answer is over ${bytesMax} bytes`, { status: response.status });
      // Bun pauses reading from the connection during the wait.
      await reserve?.(bytes);
      pieces.push(piece);
    }
  } catch (error) {
    throw error instanceof ProviderError || error instanceof ApiError ? error : connectionError(error, signal);
  }
  return Buffer.concat(pieces, bytes);
}

/**
 * Returns a function that reserves memory while a response is read. Its argument is the number of bytes read so far. It resolves when
 * memory for all these bytes is reserved.
 */
export function reserverOf(reserveBytes: ReserveBytes, most: number): (bytes: number) => Promise<void> {
  let reservedBytes = UNRESERVED_BYTES;
  return async (bytes) => {
    if (bytes <= reservedBytes) return;
    const more = Math.max(UNRESERVED_BYTES, bytes - reservedBytes);
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
 * Bun's error codes for a connection that was never established. EPROTO is excluded: Bun uses it for a failed handshake and for a broken
 * record after the request (measured with 1.4.4).
 */
const UNSENT: ReadonlySet<string> = new Set(["ConnectionRefused", "FailedToOpenSocket", "ECONNREFUSED", "ENOTFOUND"]);
/**
 * Matches error codes for an invalid server certificate. The request was then not sent, because the certificate is verified first (OpenSSL:
 * x509_verify_cert_error_string).
 */
const BAD_CERTIFICATE =
  /^(?:CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_SELF_SIGNED_CERT$|ERR_TLS_CERT_|INVALID_(?:CA|PURPOSE)$|HOSTNAME_MISMATCH$|PATH_LENGTH_EXCEEDED$)/;

/**
 * Returns the error for a failed connection: `aborted` if our own signal ended the connection, otherwise `failed`. It is marked as unsent
 * if the connection was never established.
 */
export function connectionError(error: unknown, signal: AbortSignal): ProviderError {
  if (signal.aborted) return new ProviderError("aborted", "the call was aborted", { cause: error });
  const code = String((error as { code?: unknown } | null)?.code);
  return new ProviderError("failed", error instanceof Error ? error.message : "connection failed", {
    cause: error,
    isUnsent: UNSENT.has(code) || BAD_CERTIFICATE.test(code),
  });
}

// Decompresses responses that are compressed although we request none. Bun would decompress a whole chunk at once, and a few kilobytes can
// become a gigabyte. This code decompresses in small steps, as fast as the reader reads.

/**
 * Size up to which any response may be decompressed, in bytes. Above it, a response may have at most `GROWTH_MAX` times its compressed
 * size. Text is compressed to about a tenth, a decompression bomb to a thousandth.
 */
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
 * Returns the response with a decompressed body. Returns an uncompressed response unchanged. Cancelling the body closes the connection.
 * @throws ProviderError `failed` for an unknown encoding
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
  // The reader of the decompressed bytes receives the error.
  pipeline(source, packedCount, inflate, grownCount, () => undefined);
  const body = Readable.toWeb(grownCount) as unknown as ReadableStream<Uint8Array>;
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Returns a stream that passes chunks through while `mayPass` returns true, and fails otherwise. */
function passing(mayPass: (bytes: number) => boolean): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (mayPass(chunk.length)) done(null, chunk);
      else done(new ProviderError("failed", "the answer grows beyond measure when it is inflated"));
    },
  });
}
