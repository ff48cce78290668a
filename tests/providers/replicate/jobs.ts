/** Predictions at local servers that speak as Replicate does, for the tests of its kinds of media. */
import { afterEach, expect } from "bun:test";

import type { MediaOffers } from "#workers/providers/media.ts";
import { createReplicate } from "#workers/providers/replicate/index.ts";

import { type ReplicateServer, type Script, startReplicateServer } from "./server.ts";

export interface ReplicateAt {
  readonly server: ReplicateServer;
  readonly offers: MediaOffers;
  /** A process that knows nothing but where Replicate is. */
  readonly another: () => MediaOffers;
}

/** Starts servers that play these scripts; each ends with its test, which fails if anything was wrong on the wire. */
export function useReplicate(): (...scripts: readonly Script[]) => ReplicateAt {
  const servers: ReplicateServer[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      expect(server.faults).toEqual([]);
      server.close();
    }
  });
  return (...scripts) => {
    const server = startReplicateServer({ token: "ours" });
    servers.push(server);
    server.next(...scripts);
    const another = (): MediaOffers =>
      createReplicate({ baseUrl: server.url, headers: { authorization: "Bearer ours" } });
    return { server, offers: another(), another };
  };
}
