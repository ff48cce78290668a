/** Predictions at local servers that speak as Replicate does, for the tests of its kinds of media. */
import type { Artifact, MediaAdapter, MediaAdapters, ProviderJob } from "#workers/providers/media.ts";
import { createReplicate } from "#workers/providers/replicate/index.ts";

import { mediaCall, queued, useServers } from "../engine/calls.ts";
import type { CallOf, JobBase } from "../queued-job.ts";
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

/** Rows that hold of Replicate's predictions of every kind. */
export function predictions<Input>(
  pick: (adapters: MediaAdapters) => MediaAdapter<Input, readonly Artifact[]> | undefined,
  input: Input,
  source: CallOf<Input> & { readonly sourceModel: string },
  listedWith: CallOf<Input>,
): JobBase<Input, Script> {
  const serve = useReplicate();
  const isVersion = source.sourceModel.includes(":");
  return {
    open(...scripts) {
      const { server, adapters, another } = serve(...scripts);
      return { server, adapter: queued(pick(adapters)), another: () => queued(pick(another())) };
    },
    call: ({ input: more, ...changes }) => mediaCall({ ...input, ...more }, { ...source, ...changes }),
    request: {
      method: "POST",
      path: isVersion ? "/v1/predictions" : `/v1/models/${source.sourceModel}/predictions`,
      headers: { authorization: "Bearer ours", "content-type": "application/json" },
    },
    words: { waits: "starting", runs: "processing", done: "succeeded" },
    strange: "paused",
    another: { members: { id: "another" } },
    receipt: (id) => ({ id }),
    noNames: ["a/b", "https://evil.example/", "x".repeat(129)],
    strangers: [{ id: "../../account", asked: 1 }, { id: "x y", asked: 1 }, { id: "abc" }],
    cancel: ({ id }) => [`POST /v1/predictions/${String(id)}/cancel`],
    find: { rung: (id) => ({ id, asked: 1 }), listedWith },
  };
}

/** Members of a prediction's end. */
export const ends = (task: Script["task"] & {}): Script => ({ task });

/** Requests that ask about a prediction so often. */
export const asks =
  (polls: number) =>
  (job: ProviderJob): string[] =>
    Array.from({ length: polls }, () => `GET /v1/predictions/${String(job["id"])}`);
