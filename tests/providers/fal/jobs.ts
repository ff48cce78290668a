/** Jobs at local servers that speak fal's queue, for the tests of its kinds of media. */
import { createFal } from "#workers/providers/fal/index.ts";
import type { Artifact, MediaAdapter, MediaAdapters, ProviderJob } from "#workers/providers/media.ts";

import { ok } from "../engine/behaviour.ts";
import { mediaCall, queued, useServers } from "../engine/calls.ts";
import type { CallOf, JobBase } from "../queued-job.ts";
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

type Source = Pick<CallOf<never>, "fields"> & { readonly sourceModel: string };

/** Rows that hold of fal's jobs of every kind. */
export function falJobs<Input>(
  pick: (adapters: MediaAdapters) => MediaAdapter<Input, readonly Artifact[]> | undefined,
  input: Input,
  source: Source,
): JobBase<Input, Script> {
  const serve = useFal();
  const [owner = "", app = ""] = source.sourceModel.split("/");
  const usual = `/${owner}/${app}/requests`;
  const jobOf = (id: string): ProviderJob => ({
    request_id: id,
    status_path: `${usual}/${id}/status`,
    result_path: `${usual}/${id}`,
    cancel_path: `${usual}/${id}/cancel`,
    asked: 1,
    fields: source.fields ?? {},
  });
  const job = jobOf("r-1");
  return {
    open(...scripts) {
      const { server, adapters, another } = serve(...scripts);
      return { server, adapter: queued(pick(adapters)), another: () => queued(pick(another())) };
    },
    call: ({ input: more, ...changes }) => mediaCall({ ...input, ...more }, { ...source, ...changes }),
    request: {
      method: "POST",
      path: `/${source.sourceModel}`,
      headers: {
        authorization: "Key ours",
        "x-fal-object-lifecycle-preference": '{"expiration_duration_seconds":86400}',
      },
    },
    words: { waits: "IN_QUEUE", runs: "IN_PROGRESS", done: "COMPLETED" },
    strange: "FAILED",
    another: { members: { request_id: "another" } },
    receipt: (id) => ({ request_id: id }),
    noNames: ["a/b", "x".repeat(129)],
    strangers: [
      { ...job, status_path: "https://evil.example" },
      { ...job, asked: "1" },
      { ...job, fields: { n: 1 } },
      { ...job, request_id: undefined },
    ],
    cancel: ({ request_id: id }) => [`PUT ${usual}/${String(id)}/cancel`],
    find: { rung: jobOf, unrung: [undefined] },
  };
}

/** A model's result, which is fetched once the job is said to be done. */
export const gives = (body: unknown): Script => ({ result: ok(body) });

/** Requests that ask about a job so often, and then for its result. */
export const asks =
  (app: string, polls: number) =>
  (job: ProviderJob): string[] => {
    const base = `GET ${app}/requests/${String(job["request_id"])}`;
    return [...Array.from({ length: polls }, () => `${base}/status`), base];
  };
