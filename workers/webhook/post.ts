/** Sends one POST request with JSON to a receiver. */
import { fetchPublic, OutboundError, type OutboundFault, type Resolve } from "#shared/net/fetch.ts";
import { paced } from "#shared/config/pace.ts";

import { retryAfter } from "../providers/retry-after.ts";
import { type AttemptFault, type FailedAttempt, failed } from "./channel.ts";
import { responseStart } from "./response-start.ts";

/** Timeout of one attempt, from the DNS look-up to the last byte of the response, in milliseconds. Receivers must respond within 15 s. */
export const ATTEMPT_MS = paced(15_000);

/** Maximum size of a response after decompression, in bytes. Receivers send a word or two; a gateway's error page has some kilobytes. */
const ATTEMPT_ANSWER_BYTES_MAX = 65_536;

/** Maximum pause that a receiver can request, in milliseconds. A channel that fails for five days is disabled before this pause ends. */
export const ATTEMPT_RETRY_AFTER_MS_MAX = 7 * 86_400_000;

export interface Post {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Secrets in the request. They are masked in the stored beginning of the response. */
  readonly secrets: readonly string[];
  readonly signal: AbortSignal;
  /** Replaces the system's resolver in tests. */
  readonly resolve?: Resolve | undefined;
}

/** Response of a receiver, with any HTTP status. */
export interface Answer {
  readonly status: number;
  /** Part of the response body that was received. */
  readonly text: string;
  readonly responseStart: string;
  readonly retryAfterMs: number | undefined;
}

export type Posted = { readonly answer: Answer } | { readonly failure: FailedAttempt };

/**
 * Sends the request and reads the response within the limits of an attempt. Redirects are not followed. A response without a 2xx status
 * counts even if its body breaks off, is slow or too large, because the status is sufficient.
 * @throws the signal's reason
 */
export async function post({ url, headers, body, secrets, signal, resolve }: Post): Promise<Posted> {
  const chunks: Uint8Array[] = [];
  const answerOf = (status: number, waitMs?: number): Answer => {
    const text = new TextDecoder().decode(Buffer.concat(chunks));
    return { status, text, responseStart: responseStart(text, echoable(secrets, url)), retryAfterMs: waitMs };
  };
  try {
    const { status, headers: answered } = await fetchPublic(
      url,
      {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        signal,
        timeoutMs: ATTEMPT_MS,
        stallMs: ATTEMPT_MS,
        bytesMax: ATTEMPT_ANSWER_BYTES_MAX,
        anyStatus: true,
        // Collected here, since a response may break off after its beginning.
        onBytes: (bytes) => {
          chunks.push(bytes);
          return Promise.resolve();
        },
      },
      resolve,
    );
    return { answer: answerOf(status, retryAfter(answered, Date.now(), ATTEMPT_RETRY_AFTER_MS_MAX)) };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const { fault, status } = error;
    // For 2xx, the encoding was unreadable, which is a failure.
    if (status !== undefined && (fault === "status" || !isSuccess(status))) return { answer: answerOf(status) };
    const { responseStart: start } = answerOf(status ?? 0);
    // An unsafe address may resolve to a safe one at the next attempt.
    return { failure: failed("again", FAULTS[fault], { status: status ?? null, responseStart: start }) };
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399;
}

const FAULTS: Readonly<Record<OutboundFault, AttemptFault>> = {
  unsafe: "unsafe_url",
  unreachable: "unreachable",
  timeout: "timeout",
  too_large: "too_large",
  redirects: "status",
  status: "status",
};

/** Returns all secrets that a server may echo. They include the URL, which may be secret too, and its path and other parts. */
function echoable(secrets: readonly string[], url: string): readonly string[] {
  const parsed = URL.parse(url);
  if (!parsed) return secrets;
  const { pathname, search, searchParams } = parsed;
  const parts = pathname.split("/");
  return [...secrets, url, pathname + search, ...parts, ...parts.map(decoded), ...searchParams.values()];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
