/** Jobs at local servers that speak fal's queue, for the tests of its kinds of media. */
import { afterEach, expect } from "bun:test";

import { createFal } from "#workers/providers/fal/index.ts";
import type { Fields } from "#workers/providers/fields.ts";
import type {
  MediaCall,
  MediaKind,
  MediaOffer,
  MediaOffers,
  ProviderJob,
  QueuedOffer,
} from "#workers/providers/media.ts";

import { callOf } from "../image-calls.ts";

import { type FalServer, type Reply, type Script, startFalServer } from "./server.ts";

/** The signal of a caller that never gives up. */
export const never = new AbortController().signal;

export interface FalAt {
  readonly server: FalServer;
  readonly offers: MediaOffers;
  /** A process that knows nothing but where fal is. */
  readonly another: () => MediaOffers;
}

/** Starts servers that play these scripts; each ends with its test, which fails if anything was wrong on the wire. */
export function useFal(): (...scripts: readonly Script[]) => FalAt {
  const servers: FalServer[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      expect(server.faults).toEqual([]);
      server.close();
    }
  });
  return (...scripts) => {
    const server = startFalServer({ apiKey: "ours" });
    servers.push(server);
    server.next(...scripts);
    const another = (): MediaOffers => createFal({ baseUrl: server.url, headers: { authorization: "Key ours" } });
    return { server, offers: another(), another };
  };
}

/** @throws Error when the family does not offer this, or not by a queue */
export function queued<Input, Output>(offer: MediaOffer<Input, Output> | undefined): QueuedOffer<Input, Output> {
  if (offer && "start" in offer) return offer;
  throw new Error("expected an offer that queues");
}

/** What a test changes of a call; `null` stands for a source that says nothing of fields. */
export type CallChanges = Omit<Partial<MediaCall<never>>, "fields" | "input"> & { readonly fields?: Fields | null };

export function changed<Input>(input: Input, usual: CallChanges, changes: CallChanges): MediaCall<Input> {
  const { fields, ...call } = { ...usual, ...changes };
  return callOf(input, { ...call, ...(fields ? { fields } : {}) });
}

/** What is left of a job when the process that began it is gone. */
export function stored(job: ProviderJob): ProviderJob {
  return JSON.parse(JSON.stringify(job)) as ProviderJob;
}

export function pollOf(
  offers: MediaOffers,
  kind: MediaKind,
): (job: ProviderJob) => ReturnType<QueuedOffer<unknown, unknown>["poll"]> {
  const offer = queued<never, unknown>(offers[kind]);
  return (job) => offer.poll(job, never);
}

export const ok = (body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status: 200,
  body,
  headers,
});
