/** Jobs at local servers that speak fal's queue, for the tests of its kinds of media. */
import { createFal } from "#workers/providers/fal/index.ts";
import type { MediaKind, MediaAdapters, ProviderJob, QueuedAdapter } from "#workers/providers/media.ts";

import { never, queued, useServers } from "../engine/calls.ts";
import { type FalServer, type Script, startFalServer } from "./server.ts";

export interface FalAt {
  readonly server: FalServer;
  readonly adapters: MediaAdapters;
  /** A process that knows nothing but where fal is. */
  readonly another: () => MediaAdapters;
}

/** Starts servers that play these scripts and end with their test. */
export function useFal(): (...scripts: readonly Script[]) => FalAt {
  const own = useServers();
  return (...scripts) => {
    const server = own(startFalServer({ apiKey: "ours" }));
    server.next(...scripts);
    const another = (): MediaAdapters => createFal({ baseUrl: server.url, headers: { authorization: "Key ours" } });
    return { server, adapters: another(), another };
  };
}

export function pollOf(
  adapters: MediaAdapters,
  kind: MediaKind,
): (job: ProviderJob) => ReturnType<QueuedAdapter<unknown, unknown>["poll"]> {
  const adapter = queued<never, unknown>(adapters[kind]);
  return (job) => adapter.poll(job, never);
}
