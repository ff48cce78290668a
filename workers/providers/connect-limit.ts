/**
 * Connect timeout, which `fetch` lacks. If a call has no response after the limit, a separate connection to the address is tried. If that
 * also gets no reply, the call fails. The trial does not prove that the call's own connection failed. Therefore it is limited to addresses
 * without a recent response, and the call does not count as unsent. A fast call costs only a timer.
 */
import { connect } from "node:net";

import { beforeAbort } from "#shared/base/abortable.ts";
import { paced } from "#shared/config/pace.ts";

import { ProviderError } from "./provider.ts";

/**
 * Time without a response after which a separate connection to the provider is tried, in milliseconds. An address without any reply then
 * fails the call.
 */
const PROVIDER_CONNECT_MS = paced(5_000);

export interface ConnectWatch {
  /** Aborts with the call's own signal, or when the address is unreachable. */
  readonly signal: AbortSignal;
  isUnreachable(): boolean;
  /** Ends the watch when the response has begun or failed. From then on, only the call's own signal aborts. */
  stop(hasAnswered: boolean): void;
}

/**
 * Resolves to true if the address did not reply within the limit. A refused connection counts as a reply, because `fetch` reports it
 * itself.
 */
export type IsSilent = (url: string, limitMs: number) => Promise<boolean>;

/** Time of the last response of each origin, from performance.now(). Origins come from the catalogue, so there are few. */
const answeredAt = new Map<string, number>();
const ORIGINS_MAX = 1_000;
/**
 * Time since the last response for which an origin counts as reachable, in milliseconds. A call without a response then only takes long.
 */
const ANSWERED_LATELY_MS = 60_000;
/**
 * Time since the last response for which an origin counts as reachable, in milliseconds. Applies to requests whose outcome would be unknown
 * without a response.
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
 * Tries to connect to the address before a request is sent whose lost response would leave its outcome unknown. A refused connection is
 * ignored, because the request itself reports it.
 * @throws ProviderError, unsent: `failed` when the address does not reply within the limit, `aborted`
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
