/**
 * The only way out of a browser's child, which has no network: it asks here, through a socket in its folder, and every address is
 * judged, resolved and dialled as all that callers name.
 */
import { chmodSync } from "node:fs";
import { join } from "node:path";

import { FairLimit } from "#shared/fair-limit.ts";
import { LIMITS } from "#shared/limits.ts";
import { fetchPublic, OutboundError } from "#shared/outbound/fetch.ts";

export const GUARD_SOCKET = "guard.sock";

export interface PageGuard {
  readonly socket: string;
  close(): Promise<void>;
}

/** Headers of a response that are passed on to the page. */
const TOLD =
  /^(?:content-type|cache-control|expires|etag|last-modified|access-control-.*|cross-origin-.*|timing-allow-origin)$/;

/** @param signal of the run: with it, all that is asked for ends */
export function openPageGuard(folder: string, signal: AbortSignal): PageGuard {
  const socket = join(folder, GUARD_SOCKET);
  let [asked, bytes] = [0, 0];
  const places = new FairLimit({ max: LIMITS.webPartsAtOnceMax });
  const part = async (address: string): Promise<Response> => {
    const pieces: Uint8Array[] = [];
    const answer = await fetchPublic(address, {
      signal,
      bytesMax: LIMITS.webPageBytesMax,
      timeoutMs: LIMITS.webPartMs,
      redirectsMax: LIMITS.webRedirectsMax,
      headers: {},
      // Counted as they come: several are under way at once.
      onBytes: async (piece) => {
        bytes += piece.length;
        if (bytes > LIMITS.webPagePartsBytesMax)
          throw new OutboundError("too_large", "more than a page's parts may have");
        pieces.push(piece.slice());
      },
    });
    const headers = [...answer.headers].filter(([name]) => TOLD.test(name));
    return new Response(Buffer.concat(pieces), { status: answer.status, headers });
  };
  const server = Bun.serve({
    unix: socket,
    async fetch(request, own) {
      // Each fetch has a deadline of its own.
      own.timeout(request, 0);
      asked += 1;
      const address = new URL(request.url).searchParams.get("address") ?? "";
      if (asked > LIMITS.webPagePartsMax || bytes >= LIMITS.webPagePartsBytesMax) return refused("too much");
      const place = await places.take({}, signal).catch(() => undefined);
      if (!place) return refused("ended");
      try {
        return await part(address);
      } catch (error) {
        if (!(error instanceof OutboundError)) return refused("ended");
        return error.status === undefined ? refused(error.fault) : new Response(null, { status: error.status });
      } finally {
        place.release();
      }
    },
  });
  // Children may be another user's; their folder is theirs alone.
  chmodSync(socket, 0o666);
  return { socket, close: () => server.stop(true) };
}

/** No answer of a site, but our own. */
function refused(why: string): Response {
  return new Response(null, { status: 403, headers: { "x-refused": why } });
}
