/** Predictions at local servers that speak as Replicate does, for the tests of its kinds of media. */
import type { MediaAdapters } from "#workers/providers/media.ts";
import { createReplicate } from "#workers/providers/replicate/index.ts";

import { useServers } from "../engine/calls.ts";
import { type ReplicateServer, type Script, startReplicateServer } from "./server.ts";

export interface ReplicateAt {
  readonly server: ReplicateServer;
  readonly adapters: MediaAdapters;
  /** A process that knows nothing but where Replicate is. */
  readonly another: () => MediaAdapters;
}

/** Starts servers that play these scripts and end with their test. */
export function useReplicate(): (...scripts: readonly Script[]) => ReplicateAt {
  const own = useServers();
  return (...scripts) => {
    const server = own(startReplicateServer({ token: "ours" }));
    server.next(...scripts);
    const another = (): MediaAdapters =>
      createReplicate({ baseUrl: server.url, headers: { authorization: "Bearer ours" } });
    return { server, adapters: another(), another };
  };
}
