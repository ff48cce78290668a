/** Predictions at local servers that speak as Replicate does, for the tests of its kinds of media. */
import type { MediaOffers } from "#workers/providers/media.ts";
import { createReplicate } from "#workers/providers/replicate/index.ts";

import { useServers } from "../engine/calls.ts";
import { type ReplicateServer, type Script, startReplicateServer } from "./server.ts";

export interface ReplicateAt {
  readonly server: ReplicateServer;
  readonly offers: MediaOffers;
  /** A process that knows nothing but where Replicate is. */
  readonly another: () => MediaOffers;
}

/** Starts servers that play these scripts and end with their test. */
export function useReplicate(): (...scripts: readonly Script[]) => ReplicateAt {
  const own = useServers();
  return (...scripts) => {
    const server = own(startReplicateServer({ token: "ours" }));
    server.next(...scripts);
    const another = (): MediaOffers =>
      createReplicate({ baseUrl: server.url, headers: { authorization: "Bearer ours" } });
    return { server, offers: another(), another };
  };
}
