/** One POST of JSON to a receiver. */
import { fetchPublic, OutboundError, type OutboundFault, type Resolve } from "#shared/outbound/fetch.ts";
import { paced } from "#shared/pace.ts";

import { retryAfter } from "../providers/retry-after.ts";
import { type AttemptFault, type FailedAttempt, failed } from "./channel.ts";
import { responseStart } from "./response-start.ts";

/** One attempt, from the look-up of the name to the last byte of the answer. Receivers are told to answer within 15 s. */
export const ATTEMPT_MS = paced(15_000);

/** One answer, inflated. Receivers answer a word or two; a gateway's error page has some kilobytes. */
const ATTEMPT_ANSWER_BYTES_MAX = 65_536;

/** A receiver cannot ask for a longer pause: a channel that fails for five days is disabled before. */
export const ATTEMPT_RETRY_AFTER_MS_MAX = 7 * 86_400_000;

export interface Post {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Secrets that the receiver was sent, to be blanked in what is kept of its answer. */
  readonly secrets: readonly string[];
  readonly signal: AbortSignal;
  /** Stands in for the system's resolver in tests. */
  readonly resolve?: Resolve | undefined;
}

/** An answer of any status. */
export interface Answer {
  readonly status: number;
  /** The body, as far as it came. */
  readonly text: string;
  readonly responseStart: string;
  readonly retryAfterMs: number | undefined;
}

export type Posted = { readonly answer: Answer } | { readonly failure: FailedAttempt };

/**
 * Sends, and reads the answer within the limits of an attempt. Redirects are answers like others. An answer that is not 2xx counts
 * although its body breaks off, is slow or too large: the status has said what matters.
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
        // Kept here rather than returned, since an answer may break off after its start.
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
    // `status` is left for a 2xx whose encoding we cannot read.
    if (status !== undefined && (fault === "status" || !isSuccess(status))) return { answer: answerOf(status) };
    const { responseStart: start } = answerOf(status ?? 0);
    // An unsafe address may be a safe one at the next look-up.
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

/** The URL may be a secret too, and a server that echoes a request shows its path, or parts of that, alone. */
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
