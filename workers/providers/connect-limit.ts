/**
 * Connect timeout, which `fetch` lacks. If a call has no response in time, a separate connection to the address is opened. If the address
 * does not reply to it, the call fails. The test does not prove that the call's own connection failed. It is therefore made only without a
 * recent response from the address, and the call does not count as unsent. A fast call costs only a timer.
 */
import { connect } from "node:net";

import { beforeAbort } from "#shared/base/abortable.ts";
import { paced } from "#shared/config/pace.ts";

import { ProviderError } from "./provider.ts";

/**
 * Time without a response after which a separate connection to the provider is opened, in milliseconds. The call fails if the address does
 * not reply to this connection.
 */
const PROVIDER_CONNECT_MS = paced(5_000);

export interface ConnectWatch {
  /** Aborts if the call's own signal aborts, or if the address is unreachable. */
  readonly signal: AbortSignal;
  isUnreachable(): boolean;
  /**
   * Ends the check of the address when the response has begun or the request has failed. Afterwards, `signal` only follows the call's own
   * signal.
   */
  stop(hasAnswered: boolean): void;
}

/**
 * Tries a connection to the address and resolves to true if there is no reply in time. A refused connection counts as a reply, because
 * `fetch` reports the refusal itself.
 */
export type IsSilent = (url: string, limitMs: number) => Promise<boolean>;

/** Time of the last response of each origin, from performance.now(). Origins come from the catalogue, so there are few. */
const answeredAt = new Map<string, number>();
const ORIGINS_MAX = 1_000;
/**
 * Time after its last response for which an origin counts as reachable, in milliseconds. A call to it that has no response yet is only
 * slow, so no connection is tried.
 */
const ANSWERED_LATELY_MS = 60_000;
/**
 * Time after its last response for which an origin counts as reachable, in milliseconds. Applies to requests with an unknown outcome if the
 * response is lost, such as the start of a paid job.
 */
const ANSWERED_JUST_NOW_MS = 5_000;
let isBehindProxy = false;

/** Disables the check behind a proxy, where a connection to the address proves nothing. */
export function connectByProxy(isProxy: boolean): void {
  isBehindProxy = isProxy;
}

/** Returns scheme and host of an address in the catalogue, in the catalogue's spelling. */
function originOf(url: string): string {
  const end = url.indexOf("/", url.indexOf("://") + 3);
  return end < 0 ? url : url.slice(0, end);
}

function hasAnsweredWithin(origin: string, ms: number): boolean {
  return performance.now() - (answeredAt.get(origin) ?? Number.NEGATIVE_INFINITY) < ms;
}

function noteAnswer(origin: string): void {
  if (answeredAt.size >= ORIGINS_MAX) answeredAt.clear();
  answeredAt.set(origin, performance.now());
}

/**
 * Tests the connection to an address before a request whose outcome would be unknown if its response were lost. A refused connection is
 * ignored, because the request itself reports it.
 * @throws ProviderError, marked as unsent: `failed` when the address does not reply in time, `aborted` when the signal fires
 */
export async function tryAddress(url: string, signal: AbortSignal): Promise<void> {
  const abort = (cause: unknown): never => {
    throw new ProviderError("aborted", "the call was aborted", { cause, isUnsent: true });
  };
  if (signal.aborted) abort(signal.reason);
  if (isBehindProxy || hasAnsweredWithin(originOf(url), ANSWERED_JUST_NOW_MS)) return;
  const isSilent = await beforeAbort(staysSilent(url, PROVIDER_CONNECT_MS), signal).catch(abort);
  if (isSilent) throw new ProviderError("failed", "its address cannot be reached", { isUnsent: true });
}

export function watchConnect(
  url: string,
  outer: AbortSignal,
  limitMs: number = PROVIDER_CONNECT_MS,
  isSilent: IsSilent = staysSilent,
): ConnectWatch {
  const origin = originOf(url);
  const noteAnswered = (hasAnswered: boolean): void => {
    if (hasAnswered) noteAnswer(origin);
  };
  // Nearly all calls end here, without an extra signal.
  if (isBehindProxy || hasAnsweredWithin(origin, ANSWERED_LATELY_MS)) {
    return { signal: outer, isUnreachable: () => false, stop: noteAnswered };
  }
  const controller = new AbortController();
  let isUnreachable = false;
  let isOver = false;
  const onAbort = (): void => controller.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener("abort", onAbort, { once: true });
  const checkSilence = async (): Promise<void> => {
    if (!(await isSilent(url, limitMs)) || isOver) return;
    isUnreachable = true;
    controller.abort();
  };
  const timer = setTimeout(() => void checkSilence(), limitMs);
  return {
    signal: controller.signal,
    isUnreachable: () => isUnreachable,
    stop(hasAnswered) {
      // The listener stays: it aborts the body, which is read from now on.
      isOver = true;
      clearTimeout(timer);
      noteAnswered(hasAnswered);
    },
  };
}

function staysSilent(text: string, limitMs: number): Promise<boolean> {
  const url = new URL(text);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname.replaceAll(/^\[|\]$/g, ""), port, timeout: limitMs });
    const end = (isSilent: boolean): void => {
      socket.destroy();
      resolve(isSilent);
    };
    socket.once("connect", () => end(false));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(true));
  });
}
