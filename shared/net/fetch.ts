/**
 * Sends requests to URLs that callers provide. The host is resolved once and all its addresses are checked. The connection uses one of
 * these addresses, so that a name whose addresses change gains nothing. Uses node:http, because Bun's `fetch` ignores `lookup` and uses
 * proxy variables. TLS still verifies the host name.
 */
import { isUtf8 } from "node:buffer";
import { lookup } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { type Duplex, pipeline, Readable } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";

import type { CookieJar } from "tough-cookie";

import { beforeAbort } from "#shared/base/abortable.ts";
import { type Countdown, startCountdown } from "#shared/base/countdown.ts";
import { paced } from "#shared/config/pace.ts";

import { isAllowedHost } from "./allowance.ts";
import { assertPublicUrl, isDialable } from "./guard.ts";

/** Maximum time without data from a server of a caller's URL, in milliseconds. */
export const OUTBOUND_STALL_MS = paced(10_000);

/** Maximum number of redirects. Media servers redirect to a store or a mirror, rarely further. */
export const OUTBOUND_REDIRECTS_MAX = 3;

export interface OutboundRequest {
  readonly signal: AbortSignal;
  /** Maximum size of a response body in bytes, checked for the received bytes and again after each content decoding. */
  readonly bytesMax: number;
  /** Total timeout in milliseconds, from the look-up over redirects to the last byte. The duration of `onBytes` does not count. */
  readonly timeoutMs: number;
  /** Maximum time without data within the body, in milliseconds, without the duration of `onBytes`. Default: OUTBOUND_STALL_MS. */
  readonly stallMs?: number;
  readonly accept?: string;
  /** HTTP method. Default: GET. */
  readonly method?: "GET" | "HEAD" | "POST" | "PUT";
  /**
   * Request headers. Connection headers are dropped. A request with headers does not follow redirects, because headers may be secrets. If
   * `redirectsMax` is set, it follows them, but sends the headers to the first origin only.
   */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /**
   * Maximum number of redirects. Default: three for a plain GET, otherwise none. Cookies set by redirects are sent by the rules of RFC
   * 6265, until the call ends.
   */
  readonly redirectsMax?: number;
  /**
   * True if a response with a status other than 2xx is read and returned. False: such a response throws an OutboundError with its status
   * and without its body.
   */
  readonly anyStatus?: boolean;
  /** Called and awaited before the request to each URL. An exception ends the call. */
  readonly before?: (url: URL) => Promise<void>;
  /** Receives the bytes as they arrive; `bytes` of the response then stays empty. Reading pauses until the promise resolves. */
  readonly onBytes?: (bytes: Uint8Array) => Promise<void>;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** Media type of the response, in lower case and without parameters; empty if the server sent none. */
  readonly contentType: string;
  /** URL of the response, after redirects. */
  readonly url: string;
}

/**
 * Reason why a request failed. `unsafe`: the target is not allowed for callers. `unreachable`: the connection failed or broke. `timeout`:
 * the server was too slow. `too_large`: the body was above the limit. `redirects`: there were more redirects than allowed. `status`: the
 * response was not 2xx (unless allowed), or unreadable.
 */
export type OutboundFault = "unsafe" | "unreachable" | "timeout" | "too_large" | "redirects" | "status";

/** Error of a request to a caller's URL. Its message may be logged, because it contains neither the address nor data of the target. */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly fault: OutboundFault;
  /** HTTP status of the target; undefined if its last response had not begun. */
  readonly status: number | undefined;

  constructor(fault: OutboundFault, why: string, status?: number) {
    super(`outbound ${fault}: ${why}`);
    this.fault = fault;
    this.status = status;
  }
}

/** HTTP statuses below 500 with which a server requests a retry. */
const BUSY_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Returns the error code for a caller's URL that was not fetched. Returns `input_unavailable` if the same request can succeed later,
 * because the server was down, busy or slow.
 */
export function addressFault({
  fault,
  status = 0,
}: OutboundError): "unsafe_url" | "unprocessable_input" | "input_unavailable" {
  if (fault === "unsafe") return "unsafe_url";
  const isBusy = fault === "status" && (status >= 500 || BUSY_STATUSES.has(status));
  return isBusy || fault === "unreachable" || fault === "timeout" ? "input_unavailable" : "unprocessable_input";
}

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a host name to all its addresses. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

const resolveBySystem: Resolve = (host) => lookup(host, { all: true, verbatim: true });

/**
 * Sends one request and reads the whole response. Each followed redirect is checked like the first URL.
 * @param resolve replaces the system's resolver in tests
 * @throws OutboundError; the reason of the caller's signal; an error of `before` or `onBytes`
 */
export async function fetchPublic(
  address: string,
  request: OutboundRequest,
  resolve: Resolve = resolveBySystem,
): Promise<OutboundAnswer> {
  request.signal.throwIfAborted();
  const own = new AbortController();
  const stop = (error: OutboundError): void => own.abort(error);
  let status: number | undefined;
  const total = startCountdown(request.timeoutMs, () =>
    stop(new OutboundError("timeout", `not done in ${request.timeoutMs} ms`, status)),
  );
  const signal = AbortSignal.any([request.signal, own.signal]);
  // An error of `onBytes` is no fault of the target.
  let takerFault: { readonly cause: unknown } | undefined;
  const onTakerFault = (cause: unknown): void => {
    takerFault = { cause };
  };
  const isPlainGet = (request.method ?? "GET") === "GET" && !request.headers && request.body === undefined;
  const redirectsMax = request.redirectsMax ?? (isPlainGet ? OUTBOUND_REDIRECTS_MAX : undefined);
  try {
    let url = judge(address);
    const { origin } = url;
    let isHome = true;
    let cookies: CookieJar | undefined;
    for (let redirects = 0; ; redirects += 1) {
      await beforeAbort(request.before?.(url) ?? Promise.resolve(), signal).catch((cause: unknown) => {
        onTakerFault(cause);
        throw cause;
      });
      const addresses = await addressesOf(url, resolve, signal);
      isHome &&= url.origin === origin;
      const sent = {
        ...request,
        headers: isHome ? (request.headers ?? {}) : {},
        cookies: await cookies?.getCookieString(url.href),
      };
      const response = await send(url, addresses, sent, signal);
      try {
        const next = redirectsMax === undefined ? undefined : redirectTarget(response, url);
        if (next === undefined) {
          status = response.statusCode;
          return await readAnswer(response, url, request, { stop, total, onTakerFault });
        }
        if (redirects === redirectsMax) throw new OutboundError("redirects", `more than ${redirectsMax} redirects`);
        cookies = await withCookies(cookies, response, url);
        url = judge(next);
      } finally {
        // Closes the connection of a response that was not read to its end.
        response.destroy();
      }
    }
  } catch (error) {
    if (takerFault) throw takerFault.cause;
    if (signal.aborted) throw signal.reason;
    if (error instanceof OutboundError) throw error;
    throw new OutboundError("unreachable", codeOf(error), status);
  } finally {
    total.stop();
  }
}

function judge(address: string): URL {
  try {
    return assertPublicUrl(address, "");
  } catch {
    throw new OutboundError("unsafe", "the URL is not allowed");
  }
}

/**
 * Returns the addresses allowed for this URL. A name with an internal address is rejected, because its next resolution could return only
 * that one. An address literal in the URL was already checked, and needs no look-up.
 */
async function addressesOf(url: URL, resolve: Resolve, signal: AbortSignal): Promise<readonly ResolvedAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return [];
  // The system's resolver cannot be aborted, so its result is ignored.
  const addresses = await beforeAbort(resolve(host), signal);
  if (addresses.length === 0) throw new OutboundError("unreachable", "the name has no address");
  if (!isAllowedHost(url) && !addresses.every(({ address }) => isDialable(address))) {
    throw new OutboundError("unsafe", "the name leads inside");
  }
  return addresses;
}

function send(
  url: URL,
  addresses: readonly ResolvedAddress[],
  { method = "GET", accept, headers = {}, body, cookies }: OutboundRequest & { readonly cookies: string | undefined },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const passed = passedOn(headers);
  const cookie = [passed["cookie"], cookies].filter(Boolean).join("; ");
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
      method,
      headers: {
        "user-agent": OUR_AGENT,
        accept: "*/*",
        ...passed,
        ...(cookie === "" ? {} : { cookie }),
        ...(accept === undefined ? {} : { accept }),
        "accept-encoding": "identity",
      },
      // No connection reuse: a kept connection could have been opened for another name.
      agent: false,
      rejectUnauthorized: true,
      lookup: (_host, options, done) => {
        const [first] = addresses;
        if (options.all) done(null, [...addresses]);
        else if (first) done(null, first.address, first.family);
        else done(new Error("no address was judged"), "", 0);
      },
    });
    const onAbort = (): void => {
      request.destroy();
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    request.on("response", resolve);
    request.on("error", reject);
    request.on("close", () => {
      signal.removeEventListener("abort", onAbort);
      reject(new OutboundError("unreachable", "closed without an answer"));
    });
    request.end(body);
  });
}

/** User agent of our requests, unless the caller sets one. */
export const OUR_AGENT = "Sluice";

/** Matches headers with which a caller could control where a message ends or is sent. */
const CONNECTION_HEADERS =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/i;

/** Returns true for a header that is never forwarded from a caller. */
export const isConnectionHeader = (name: string): boolean => CONNECTION_HEADERS.test(name);

function passedOn(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !isConnectionHeader(name));
  return Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), value]));
}

const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

function redirectTarget(response: IncomingMessage, from: URL): string | undefined {
  const { location } = response.headers;
  if (!REDIRECTS.has(response.statusCode) || location === undefined) return undefined;
  // Headers are decoded as Latin-1; browsers decode a URL in one as UTF-8 if it is valid.
  const utf8 = Buffer.from(location, "latin1");
  const target = isUtf8(utf8) ? utf8.toString() : location;
  if (!URL.canParse(target, from.href)) throw new OutboundError("status", "a redirect to nowhere");
  return new URL(target, from).href;
}

/**
 * Stores the cookies of a redirect in the jar, and creates the jar if it is missing. Skips cookies that the server of the redirect may not
 * set.
 */
async function withCookies(
  jar: CookieJar | undefined,
  response: IncomingMessage,
  url: URL,
): Promise<CookieJar | undefined> {
  const set = response.headers["set-cookie"] ?? [];
  if (set.length === 0) return jar;
  const { CookieJar: Jar } = await import("tough-cookie");
  const kept = jar ?? new Jar();
  for (const cookie of set) await kept.setCookie(cookie, url.href, { ignoreError: true });
  return kept;
}

async function readAnswer(
  response: IncomingMessage,
  url: URL,
  { method, bytesMax, stallMs = OUTBOUND_STALL_MS, anyStatus = false, onBytes }: OutboundRequest,
  {
    stop,
    total,
    onTakerFault,
  }: {
    readonly stop: (error: OutboundError) => void;
    readonly total: Countdown;
    readonly onTakerFault: (cause: unknown) => void;
  },
): Promise<OutboundAnswer> {
  const status = response.statusCode ?? 0;
  if (!anyStatus && (status < 200 || status > 299)) throw new OutboundError("status", `answered ${status}`, status);
  const answer = {
    status,
    contentType: (response.headers["content-type"] ?? "").split(";", 1).join("").trim().toLowerCase(),
    url: url.href,
  };
  if (method === "HEAD") {
    const headers = headersOf(response);
    const length = response.headers["content-length"];
    // Length of the omitted body: callers of HEAD need it.
    if (length !== undefined) headers.set("content-length", length);
    return { ...answer, headers, bytes: new Uint8Array() };
  }
  const tooLarge = new OutboundError("too_large", `more than ${bytesMax} bytes`, status);
  const codings = codingsOf(response.headers["content-encoding"]);
  if (!codings) throw new OutboundError("status", "an unknown content coding", status);
  if (Number(response.headers["content-length"] ?? 0) > bytesMax) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const stall = startCountdown(stallMs, () => stop(new OutboundError("timeout", `silent for ${stallMs} ms`, status)));
  try {
    const body = await decoded(response, codings, (body) => bounded(body, bytesMax, tooLarge));
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > bytesMax) throw tooLarge;
      if (onBytes) {
        total.pause();
        stall.pause();
        await onBytes(chunk).catch((cause: unknown) => {
          onTakerFault(cause);
          throw cause;
        });
        total.resume();
      } else chunks.push(chunk);
      stall.restart();
    }
  } finally {
    stall.stop();
  }
  return { ...answer, headers: headersOf(response), bytes: Buffer.concat(chunks) };
}

/** Returns the response headers. Omits headers that describe the encoded bytes, because the returned bytes are decoded. */
function headersOf(response: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    if (CONNECTION_HEADERS.test(name) || name === "content-encoding") continue;
    for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}

/** Returns the system's code of a connection error, such as ECONNREFUSED. The message is not used, because it contains addresses. */
function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" && /^[A-Z0-9_]{2,60}$/.test(code) ? code : "the connection failed";
}

// Decoders of compressed bodies.

const DECODERS: ReadonlyMap<string, () => Duplex> = new Map<string, () => Duplex>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["br", createBrotliDecompress],
  // A window of at most 8 MiB, as in browsers (RFC 9659): a decoder allocates the window that a body declares.
  ["zstd", () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } })],
]);

/** Maximum number of content codings of one body. */
const CODINGS_MAX = 4;

/**
 * Returns the content codings of a body, the last applied first; undefined if one is unknown. Servers send some codings without being
 * asked.
 */
function codingsOf(header = "identity"): readonly string[] | undefined {
  const names = header.split(",").map((name) => name.trim().toLowerCase());
  const codings = names.filter((name) => name !== "" && name !== "identity").toReversed();
  const isKnown = (name: string): boolean => name === "deflate" || DECODERS.has(name);
  return codings.length <= CODINGS_MAX && codings.every(isKnown) ? codings : undefined;
}

function decoded(
  response: Readable,
  codings: readonly string[],
  bound: (body: Readable) => Readable,
): Promise<Readable> {
  return codings.reduce<Promise<Readable>>(async (before, coding) => {
    const body = bound(await before);
    if (coding === "deflate") return inflated(body);
    const decoder = DECODERS.get(coding)?.();
    // The loop over the decoder receives errors of both streams.
    return decoder ? pipeline(body, decoder, () => undefined) : body;
  }, Promise.resolve(response));
}

/**
 * Limits the size of a compressed body before decoding. Without this limit, an endless body that decodes to no bytes would never exceed the
 * limit of decoded bytes.
 */
function bounded(body: Readable, bytesMax: number, tooLarge: OutboundError): Readable {
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    let length = 0;
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      length += piece.length;
      if (length > bytesMax) throw tooLarge;
      yield piece;
    }
  };
  return Readable.from(pieces());
}

/** Decompresses a `deflate` body. Servers send it with the zlib frame, as specified, or without; the first byte shows which. */
async function inflated(body: Readable): Promise<Readable> {
  const pieces = body[Symbol.asyncIterator]() as AsyncIterableIterator<Uint8Array>;
  const { value: first } = (await pieces.next()) as { readonly value?: Uint8Array };
  if (!first) return Readable.from([]);
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    yield first;
    yield* pieces;
  };
  const decoder = ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
  return pipeline(Readable.from(whole()), decoder, () => undefined);
}
