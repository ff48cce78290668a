/** Jobs at local servers that speak fal's queue, for the tests of its kinds of media. */
import { createFal } from "#workers/providers/fal/index.ts";
import type { MediaKind, MediaOffers, ProviderJob, QueuedOffer } from "#workers/providers/media.ts";

import { never, queued, useServers } from "../engine/calls.ts";
import { type FalServer, type Script, startFalServer } from "./server.ts";

export interface FalAt {
  readonly server: FalServer;
  readonly offers: MediaOffers;
  /** A process that knows nothing but where fal is. */
  readonly another: () => MediaOffers;
}

/** Starts servers that play these scripts and end with their test. */
export function useFal(): (...scripts: readonly Script[]) => FalAt {
  const own = useServers();
  return (...scripts) => {
    const server = own(startFalServer({ apiKey: "ours" }));
    server.next(...scripts);
    const another = (): MediaOffers => createFal({ baseUrl: server.url, headers: { authorization: "Key ours" } });
    return { server, offers: another(), another };
  };
}

export function pollOf(
  offers: MediaOffers,
  kind: MediaKind,
): (job: ProviderJob) => ReturnType<QueuedOffer<unknown, unknown>["poll"]> {
  const offer = queued<never, unknown>(offers[kind]);
  return (job) => offer.poll(job, never);
}
