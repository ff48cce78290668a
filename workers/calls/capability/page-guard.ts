/**
 * Proxy for a browser in a child process without network. The child sends each request through a socket in its folder. Every address is
 * checked, resolved and connected to like any address of a caller.
 */
import { chmodSync } from "node:fs";
import { join } from "node:path";

import { FairLimit } from "#shared/limits/fair-limit.ts";
import { fetchPublic, OutboundError } from "#shared/net/fetch.ts";
import { WEB_PAGE_BYTES_MAX, WEB_REDIRECTS_MAX } from "#workers/capabilities/limits.ts";

/**
 * Limits of the resources of a page that a browser loads: number, total bytes, timeout of one resource in milliseconds, and concurrency.
 */
const WEB_PAGE_PARTS_MAX = 500;
const WEB_PAGE_PARTS_BYTES_MAX = 50 * 1_048_576;
const WEB_PART_MS = 15_000;
const WEB_PARTS_AT_ONCE_MAX = 6;

export const GUARD_SOCKET = "guard.sock";

export interface PageGuard {
  readonly socket: string;
  close(): Promise<void>;
}

/** Matches response headers that the page receives. */
const FORWARDED_HEADERS =
  /^(?:content-type|cache-control|expires|etag|last-modified|access-control-.*|cross-origin-.*|timing-allow-origin)$/;

/**
 * Creates the proxy through which the page of one run loads its images, scripts and other resources.
 * @param signal signal of the run; its abort also aborts all requests of the page
 */
export function openPageGuard(folder: string, signal: AbortSignal): PageGuard {
  const socket = join(folder, GUARD_SOCKET);
  let [asked, bytes] = [0, 0];
  const places = new FairLimit({ max: WEB_PARTS_AT_ONCE_MAX });
  const part = async (address: string): Promise<Response> => {
    const pieces: Uint8Array[] = [];
    const answer = await fetchPublic(address, {
      signal,
      bytesMax: WEB_PAGE_BYTES_MAX,
      timeoutMs: WEB_PART_MS,
      redirectsMax: WEB_REDIRECTS_MAX,
      headers: {},
      // Counted as bytes arrive, since several requests run at once.
      onBytes: async (piece) => {
        bytes += piece.length;
        if (bytes > WEB_PAGE_PARTS_BYTES_MAX) throw new OutboundError("too_large", "more than a page's parts may have");
        pieces.push(piece.slice());
      },
    });
    const headers = [...answer.headers].filter(([name]) => FORWARDED_HEADERS.test(name));
    return new Response(Buffer.concat(pieces), { status: answer.status, headers });
  };
  const server = Bun.serve({
    unix: socket,
    async fetch(request, own) {
      // Disables Bun's idle timeout: each fetch has a timeout of its own.
      own.timeout(request, 0);
      asked += 1;
      const address = new URL(request.url).searchParams.get("address") ?? "";
      if (asked > WEB_PAGE_PARTS_MAX || bytes >= WEB_PAGE_PARTS_BYTES_MAX) return refused("too much");
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
  // Children may run as another user; only their own folder gives access to the socket.
  chmodSync(socket, 0o666);
  return { socket, close: () => server.stop(true) };
}

/** Returns an error response that comes from this proxy and not from a site. */
function refused(why: string): Response {
  return new Response(null, { status: 403, headers: { "x-refused": why } });
}
