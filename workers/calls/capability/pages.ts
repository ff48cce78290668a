/** Fetches web pages for a run. The child process receives the body as a file and needs no network. */
import { ApiError } from "#shared/base/errors.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import { fetchPublic, OUR_AGENT, OutboundError, type OutboundRequest } from "#shared/net/fetch.ts";
import { WEB_PAGE_BYTES_MAX, WEB_HEADER_CHARACTERS_MAX, WEB_REDIRECTS_MAX } from "#workers/capabilities/limits.ts";
import { SNIFF_BYTES } from "#shared/media/sniff.ts";

import type { InputPage } from "../../capabilities/define.ts";
import type { RobotsTask } from "../../capabilities/web/robots.ts";

import { fetchFault, openFile } from "./taken.ts";

/** Timeout of one fetch, from the DNS look-up to the last byte, in milliseconds. */
const WEB_FETCH_MS = 30_000;

/** Maximum number of response headers that a run receives. */
const WEB_ANSWER_HEADERS_MAX = 100;

/** Maximum size of a robots.txt, in bytes; later rules are ignored. RFC 9309 requires readers to parse at least 500 KiB. */
const WEB_ROBOTS_BYTES_MAX = 500 * 1_024;
export const WEB_ROBOTS_MS = 10_000;

/** Properties of a run that are needed to fetch its pages. */
export interface PageRun {
  readonly params: Readonly<Record<string, unknown>>;
  readonly folder: string;
  /** Reserves disk space. Awaited before `bytes` further bytes are written to the disk. */
  readonly reserveBytes: (bytes: number) => Promise<void>;
  readonly signal: AbortSignal;
  /** Evaluates a site's robots.txt in a child process. */
  readonly judgeRobots: (task: RobotsTask) => Promise<boolean>;
}

/** Parameters of capabilities that change the request for a page. Capabilities without them send a plain GET. */
export interface PageParams {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: "GET" | "HEAD";
  readonly max_bytes?: number;
  readonly respect_robots?: boolean;
}

/**
 * Fetches a page, and writes its body to the file `path`.
 * @param param name of the parameter with the page's URL, for error messages
 * @throws ApiError that names `param`
 */
export async function bringPage(run: PageRun, address: string, path: string, param: string): Promise<InputPage> {
  const { headers = {}, method = "GET", max_bytes: own, respect_robots: respects } = run.params as PageParams;
  const bytesMax = own ?? WEB_PAGE_BYTES_MAX;
  const file = openFile(path);
  let bytes = 0;
  const request: OutboundRequest = {
    method,
    headers,
    bytesMax,
    signal: run.signal,
    timeoutMs: WEB_FETCH_MS,
    redirectsMax: WEB_REDIRECTS_MAX,
    onBytes: async (piece) => {
      bytes += piece.length;
      await run.reserveBytes(piece.length);
      await file.write(piece);
    },
    ...(respects === true ? { before: robotsCheck(run, agentOf(headers), param) } : {}),
  };
  try {
    const answer = await fetchPublic(address, request);
    await file.end();
    return {
      path,
      bytes,
      name: "page",
      mediaType: await typeOf(path, answer.contentType),
      address: answer.url,
      status: answer.status,
      contentType: answer.headers.get("content-type") ?? "",
      headers: selectHeaders(answer.headers),
    };
  } catch (error) {
    throw fetchFault(error, param, bytesMax);
  } finally {
    await file.end();
  }
}

/**
 * Returns the media type of a fetched page. It is detected from the bytes; the server's content type is used if the bytes do not contradict
 * it.
 */
async function typeOf(path: string, claim: string): Promise<string> {
  const head = await Bun.file(path).slice(0, SNIFF_BYTES).bytes();
  const isPlain = /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,80}$/.test(claim);
  try {
    return await settleMediaType(head, isPlain ? claim : undefined, "");
  } catch (error) {
    if (error instanceof ApiError) return settleMediaType(head, undefined, "");
    throw error;
  }
}

/** Returns the response headers for the run. Omits cookies, because no later request sends them. */
function selectHeaders(headers: Headers): Record<string, string> {
  const selected = [...headers].filter(
    ([name, value]) => name !== "set-cookie" && value.length <= WEB_HEADER_CHARACTERS_MAX,
  );
  return Object.fromEntries(selected.slice(0, WEB_ANSWER_HEADERS_MAX));
}

function agentOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === "user-agent")?.[1] ?? OUR_AGENT;
}

/**
 * Returns a check for every URL in a chain of redirects. The check fetches the robots.txt of the URL's site, and throws an ApiError if that
 * robots.txt does not allow the URL.
 */
function robotsCheck({ signal, judgeRobots }: PageRun, agent: string, param: string): (url: URL) => Promise<void> {
  const known = new Map<string, string>();
  const refused = (said: string): ApiError => new ApiError("unprocessable_input", said, { param });
  return async (url) => {
    const address = new URL("/robots.txt", url).href;
    const robots = known.get(address) ?? (await fetchRobots(address, signal));
    if (robots === undefined) throw refused(`The robots.txt of ${url.host} cannot be read.`);
    known.set(address, robots);
    if (await judgeRobots({ robots, address, url: url.href, agent })) return;
    throw refused(`The robots.txt of ${url.host} does not allow this address.`);
  };
}

/** Maximum compressed size of robots.txt at each stage of decompression, in bytes. At most 500 KiB of the decompressed text are read. */
const ROBOTS_WIRE_BYTES_MAX = 64 * 1_048_576;

/**
 * Fetches the text of robots.txt. Following RFC 9309, returns an empty text if the file does not exist, which allows every visit. Returns
 * undefined if the server is unreachable, which forbids every visit.
 */
async function fetchRobots(address: string, signal: AbortSignal): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let missing = WEB_ROBOTS_BYTES_MAX;
  const isRead = new Error("as much is read as counts");
  try {
    await fetchPublic(address, {
      bytesMax: ROBOTS_WIRE_BYTES_MAX,
      timeoutMs: WEB_ROBOTS_MS,
      redirectsMax: WEB_REDIRECTS_MAX,
      signal,
      onBytes(piece) {
        pieces.push(piece.slice(0, missing));
        missing -= piece.length;
        return missing > 0 ? Promise.resolve() : Promise.reject(isRead);
      },
    });
  } catch (error) {
    if (error !== isRead && !(error instanceof OutboundError)) throw error;
    const { status = 0 } = error as OutboundError;
    if (error !== isRead) return status >= 400 && status < 500 ? "" : undefined;
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}
