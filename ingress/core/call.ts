/** Call of a route: its request, its caller, and the meter that records its cost and its use of memory. */
import type { Caller } from "#shared/access/authenticate.ts";
import { type CallLabels, USER_LABEL } from "#shared/calls/labels.ts";
import type { Draw } from "#shared/calls/model-choice.ts";
import type { Span } from "#shared/tracing/tracing.ts";

import type { BodyCapture } from "./body-capture.ts";
import type { Operator } from "./authenticate-operator.ts";
import { readLabels } from "./labels.ts";
import type { AskedModel } from "./long-work.ts";

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
  /** True if a browser session authenticates the caller. Absent for an API key. */
  readonly isSession?: true;
  readonly meter: Meter;
  /**
   * Routing key of model calls that name no conversation. Calls with the same key prefer the same source, so that a conversation stays at
   * one source.
   */
  readonly affinity?: string;
  /** Labels of the call that makes this call, for example of the model turn that runs a tool. They replace the header `x-tags`. */
  readonly labels?: CallLabels;
  /** Receives the request body. Absent if the call is not kept. */
  readonly capture?: BodyCapture;
  /** Receives the model or capability that the request names, for the record of a refused call. */
  readonly asked?: AskedModel;
  /** Maximum cost of the call, set by the tool loop that makes it, in nano-credits. Absent for calls of clients. */
  readonly maxNano?: bigint;
  /** Id that determines the draw of a weighted fallback chain; absent for the request id. All turns of a tool loop share it. */
  readonly drawId?: string;
}

/** Returns the values that determine the draw of a weighted fallback chain. @throws ApiError `unsupported_value` for an invalid `x-tags` */
export function drawOf(call: RouteCall): Draw {
  const { requestId, drawId = requestId, affinity } = call;
  return { id: drawId, conversation: affinity, endUser: readLabels(call)?.[USER_LABEL] };
}

/** Call of a route with `auth: "operator"`. */
export interface OperatorCall extends RequestFacts {
  readonly operator: Operator;
}

/** Call of a route that exists for members and for operators. */
export type SettingsCall = RouteCall | OperatorCall;

/** Receives reports from a running route: that the call was counted in its rate window, its cost in credits, and the memory it needs. */
export interface Meter {
  /** Records that the call has been counted in its rate window, whatever its outcome. Routes with `countsItself` call this function. */
  readonly markCounted: () => void;
  /** Adds the cost of an answered model call, also of a streamed one, in nano-credits. A response from the cache has no cost. */
  readonly addCharge: (nano: bigint) => void;
  /**
   * Reserves memory for stored content that a small request makes the service load. Only routes with `canLoadStoredContent` call this
   * function.
   * @throws ApiError `overloaded`
   */
  readonly reserveMemory: (bytes: number) => Promise<void>;
  /**
   * Releases the memory that the request reserved. A route calls it once its call has been sent or admitted, or waits where the relay
   * counts its memory. Optional to call, and idempotent.
   */
  readonly releaseMemory: () => void;
}

/** Meter of calls that neither count themselves nor reserve memory, and whose cost is only recorded in the ledger. */
export const UNMETERED: Meter = {
  markCounted: () => undefined,
  addCharge: () => undefined,
  reserveMemory: () => Promise.resolve(),
  releaseMemory: () => undefined,
};
