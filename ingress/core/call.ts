/** A call of a route: facts of its request, its caller, and the meter of what it uses. */
import type { Caller } from "#shared/access/authenticate.ts";
import type { Span } from "#shared/tracing/tracing.ts";

import type { Operator } from "./authenticate-operator.ts";

/** Facts of a request, which never change while a route handles it. */
export interface RequestFacts {
  readonly request: Request;
  /** Values of the path's parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** performance.now() time at which the request arrived. */
  readonly startedAt: number;
  /** Span of the request; `NO_SPAN` when tracing is off. */
  readonly span: Span;
  /** Address of the client; "" if the server cannot determine it. */
  readonly ip: string;
}

/** Call of a route with `auth: "key"`. */
export interface RouteCall extends RequestFacts {
  readonly caller: Caller;
  readonly meter: Meter;
  /**
   * Name of the conversation. Model calls that name no conversation use it for routing, so that calls of one conversation prefer the same
   * source.
   */
  readonly affinity?: string;
}

/** Call of a route with `auth: "operator"`. */
export interface OperatorCall extends RequestFacts {
  readonly operator: Operator;
}

/** Call of a route that exists for members and for operators. */
export type SettingsCall = RouteCall | OperatorCall;

/** Receives what a call uses while its route runs: its place in the rate window, credits and memory. */
export interface Meter {
  /** Records that the call is counted in its rate window, whatever its outcome. Routes with `countsItself` report it. */
  readonly markCounted: () => void;
  /** Adds the cost of an answered model call, also of a streamed one, in nano-credits. A response from the cache has no cost. */
  readonly addCharge: (nano: bigint) => void;
  /** Reserves memory for stored content that a small request continues from; on routes with `canLoadStoredContent`. @throws ApiError `overloaded` */
  readonly reserveMemory: (bytes: number) => Promise<void>;
  /** Releases the memory that the request reserved, once its content is offloaded. Optional to call, and idempotent. */
  readonly releaseMemory: () => void;
}

/** Meter of calls that neither count themselves nor reserve memory, and whose cost is only recorded in the ledger. */
export const UNMETERED: Meter = {
  markCounted: () => undefined,
  addCharge: () => undefined,
  reserveMemory: () => Promise.resolve(),
  releaseMemory: () => undefined,
};
