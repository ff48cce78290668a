/**
 * The limit for connecting, which fetch has none for: a call without an answer tries the address itself, beside itself,
 * and is ended when nothing picks up there either. That is no proof that the call's own connection failed, so it is done
 * only where the address has not answered any call for a while, and the call does not count as unsent. A quick call costs
 * a timer.
 */
import { connect } from "node:net";

import { beforeAbort } from "#shared/abortable.ts";
import { paced } from "#shared/pace.ts";

import { ProviderError } from "./provider.ts";

/** A call without an answer by then has its provider's address tried: one that cannot be reached fails at once. */
const PROVIDER_CONNECT_MS = paced(5_000);

export interface ConnectWatch {
  /** Aborts with the call's own signal, or when the address proved unreachable. */
  readonly signal: AbortSignal;
  isUnreachable(): boolean;
  /** Its answer has begun, or it failed: only the call's own signal counts from now on. */
  stop(hasAnswered: boolean): void;
}

/** True if the address stayed silent for the whole limit. A refusal is not silence: fetch notices that itself. */
export type IsSilent = (url: string, limitMs: number) => Promise<boolean>;

/** performance.now() of the last answer of an origin; origins come from the catalogue, so there are few. */
const answeredAt = new Map<string, number>();
const ORIGINS_MAX = 1_000;
/** A server that answered this recently is there; silence then is its thinking. */
const ANSWERED_LATELY_MS = 60_000;
/** The same where the outcome of a request that is not answered would be unknown. */
const ANSWERED_JUST_NOW_MS = 5_000;
let goesByProxy = false;

/** Behind a proxy the address itself says nothing. */
export function connectByProxy(isProxy: boolean): void {
  goesByProxy = isProxy;
}

/** Returns scheme and host of an address of the catalogue, as they are written there. */
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
 * Tries the address before a request is sent there whose loss would leave its outcome unknown. An address that refuses is left
 * to the request, which hears of it itself.
 * @throws ProviderError, unsent: `failed` when the address stays silent for the whole limit, `aborted`
 */
export async function tryAddress(url: string, signal: AbortSignal): Promise<void> {
  const abort = (cause: unknown): never => {
    throw new ProviderError("aborted", "the call was aborted", { cause, isUnsent: true });
  };
  if (signal.aborted) abort(signal.reason);
  if (goesByProxy || hasAnsweredWithin(originOf(url), ANSWERED_JUST_NOW_MS)) return;
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
  // Nearly every call: it needs no signal of its own.
  if (goesByProxy || hasAnsweredWithin(origin, ANSWERED_LATELY_MS)) {
    return { signal: outer, isUnreachable: () => false, stop: noteAnswered };
  }
  const controller = new AbortController();
  let isUnreachable = false;
  let isOver = false;
  const onAbort = (): void => controller.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener("abort", onAbort, { once: true });
  const look = async (): Promise<void> => {
    if (!(await isSilent(url, limitMs)) || isOver) return;
    isUnreachable = true;
    controller.abort();
  };
  const timer = setTimeout(() => void look(), limitMs);
  return {
    signal: controller.signal,
    isUnreachable: () => isUnreachable,
    stop(hasAnswered) {
      // The listener stays: it ends the body that is read from now on.
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
