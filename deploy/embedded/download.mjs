// @ts-check
/** Downloads files for the start scripts, with limits on time and size, and retries after transient failures. */
import { setTimeout as delay } from "node:timers/promises";
import { get, RequestError } from "./proxy.mjs";

/**
 * Limits of a download. All times are in milliseconds.
 * @typedef {{ deadlineMs: number, idleMs: number, attempts: number, retryMs: number }} Limits
 */

/**
 * Default limits of a download. The deadline covers all attempts and is enough for 7 MB at 25 kB/s. The wait before the second retry is
 * twice the first wait.
 */
const LIMITS = Object.freeze({ deadlineMs: 300_000, idleMs: 30_000, attempts: 3, retryMs: 1_000 });
const REDIRECTS_MAX = 5;

/** Failure of a download. The message is a reason without a full stop. */
export class DownloadError extends Error {
  /** @override */
  name = "DownloadError";
  /** True if a retry may succeed. */
  isTransient = true;
}

/**
 * Downloads a file, with retries after transient failures.
 * @param {string} address
 * @param {object} options
 * @param {number} options.bytesMax
 * @param {import("./proxy.mjs").Environment} options.environment contains the proxy variables
 * @param {Limits} [options.limits]
 * @returns {Promise<Buffer>}
 * @throws {DownloadError}
 */
export async function download(address, { bytesMax, environment, limits = LIMITS }) {
  const signal = AbortSignal.timeout(limits.deadlineMs);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await follow(new URL(address), { environment, signal, idleMs: limits.idleMs });
      return await readBody(response, bytesMax);
    } catch (error) {
      const fault = signal.aborted ? refusal(`not finished after ${limits.deadlineMs / 1000} s`) : faultOf(error);
      if (fault.isTransient && attempt < limits.attempts) {
        await delay(limits.retryMs * attempt);
        continue;
      }
      if (attempt > 1) fault.message += `, ${attempt} attempts`;
      throw fault;
    }
  }
}

/**
 * Sends a GET request and follows redirects.
 * @param {URL} url
 * @param {import("./proxy.mjs").RequestOptions} options
 * @returns {Promise<import("node:http").IncomingMessage>} a response of status 200
 */
async function follow(url, options) {
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const response = await get(url, options);
    const { statusCode = 0, headers } = response;
    if (statusCode === 200) return response;
    response.destroy();
    if (statusCode < 300 || statusCode > 399 || headers.location === undefined) {
      const fault = new DownloadError(`${url.host} answered ${statusCode}`);
      fault.isTransient = statusCode === 429 || statusCode >= 500;
      throw fault;
    }
    const next = new URL(headers.location, url);
    if (url.protocol === "https:" && next.protocol !== "https:") {
      throw refusal(`${url.host} redirects to ${next.host} without TLS`);
    }
    url = next;
  }
  throw refusal(`more than ${REDIRECTS_MAX} redirects`);
}

/**
 * Reads the body of a response, up to the maximum size.
 * @param {import("node:http").IncomingMessage} response
 * @param {number} bytesMax
 * @returns {Promise<Buffer>}
 */
async function readBody(response, bytesMax) {
  /** @type {Buffer[]} */
  const chunks = [];
  let bytes = 0;
  const length = response.headers["content-length"];
  try {
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw refusal(`larger than ${bytesMax} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (response.complete || !hasCode(error) || error.code !== "ECONNRESET") throw error;
    throw new DownloadError(`the connection closed after ${bytes}${length === undefined ? "" : ` of ${length}`} bytes`);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns an error that a retry cannot fix.
 * @param {string} reason
 * @returns {DownloadError} with `isTransient` false
 */
function refusal(reason) {
  const fault = new DownloadError(reason);
  fault.isTransient = false;
  return fault;
}

/**
 * Converts an error of a connection to a DownloadError.
 * @param {unknown} error
 * @returns {DownloadError}
 * @throws the error itself if it is a bug rather than a failure of the download
 */
function faultOf(error) {
  if (error instanceof DownloadError) return error;
  if (error instanceof RequestError) return new DownloadError(error.message);
  if (!hasCode(error)) throw error;
  // For a host with several addresses, Node reports one error per address, and an empty message for all.
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return new DownloadError(first instanceof Error && first.message !== "" ? first.message : error.code);
}

/**
 * Returns true for an error of the system, which has a code such as `ECONNRESET`.
 * @param {unknown} error
 * @returns {error is Error & { code: string }}
 */
function hasCode(error) {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
