/** Interface between the handling of a request and the recorder of kept bodies. Calls whose settings keep nothing have no capture. */
import type { Caller } from "#shared/access/authenticate.ts";
import type { Code } from "#shared/base/errors.ts";

import type { ResponseBody } from "./response-body.ts";
import type { RouteSpec } from "./route.ts";

/** Receives the request body of a call that may be kept. */
export interface BodyCapture {
  /** Records the received body. Only the first body counts: calls that a route makes itself belong to the same request. */
  onRequest(bytes: Uint8Array): void;
  /** Gives the call up. The worker that ends its job keeps the request and the final response. */
  release(): void;
}

export interface CapturedAnswer {
  readonly response: Response;
  /** Body behind the response's stream; undefined if the response is not streamed. */
  readonly body: ResponseBody | undefined;
  /** Error code of a refused or failed call. */
  readonly code: Code | undefined;
}

/** Records requests and responses of callers whose settings keep them. It never delays a call, and never fails. */
export interface BodyRecorder {
  /** Returns the capture of a call; undefined if the call is not kept. */
  begin(
    caller: Caller,
    route: Pick<RouteSpec, "method" | "path"> & { readonly countsItself?: true },
    call: { readonly requestId: string; readonly request: Request },
  ): BodyCapture | undefined;
  /** Records the response of a call, which may still be streamed. */
  end(capture: BodyCapture, answer: CapturedAnswer): void;
}
