/** Builds the responses of tool loops: complete responses, or event streams sent while the loop runs. */
import type { SluiceSummary } from "#schemas/generated/types.ts";
import type { ApiError } from "#shared/base/errors.ts";

import { asApiError } from "../core/answers.ts";
import { streamOf } from "../core/response-body.ts";
import { keptAlive, SSE_HEADERS } from "../core/sse.ts";
import { type ToolLoopFormat, type Loop, runLoop } from "./loop.ts";

/** Runs the tool loop to its end without sending its events, and returns its summary. @throws ApiError */
export async function toEnd(loop: Loop, format: ToolLoopFormat): Promise<SluiceSummary> {
  const pieces = runLoop(loop, format);
  for (;;) {
    const { done, value } = await pieces.next();
    if (done !== true) continue;
    return value;
  }
}

/** Builds the last events of a stream. */
export interface Ending {
  /** Returns the last events of a successful stream. @throws ApiError */
  end(summary: SluiceSummary): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  fail(error: ApiError): Uint8Array;
}

/**
 * Streams the events of a tool loop. The response begins with the first event, so that an earlier error still has its own HTTP status.
 * @throws ApiError
 */
export async function answerInEvents(
  { context, call, ...rest }: Omit<Loop, "clientSignal">,
  format: ToolLoopFormat & { readonly served: Readonly<Record<string, string>> },
  ending: Ending,
): Promise<Response> {
  const leaving = new AbortController();
  const clientSignal = AbortSignal.any([leaving.signal, call.request.signal]);
  const pieces = piecesOf({ context, call, ...rest, clientSignal }, format, ending);
  const { value: first } = await pieces.next();
  const onFault = (error: unknown): void =>
    context.log.error({ err: error, request_id: call.requestId }, "a tool loop's response failed before its end");
  const body = streamOf(first ?? new Uint8Array(), keptAlive(pieces), onFault, () => leaving.abort());
  return new Response(body, { headers: { ...SSE_HEADERS, ...format.served } });
}

async function* piecesOf(loop: Loop, format: ToolLoopFormat, ending: Ending): AsyncGenerator<Uint8Array, void, void> {
  const { context, call, clientSignal } = loop;
  let hasBegun = false;
  try {
    const pieces = runLoop(loop, format);
    for (;;) {
      const { done, value } = await pieces.next();
      if (done === true) {
        yield* ending.end(value);
        return;
      }
      hasBegun = true;
      yield value;
    }
  } catch (error) {
    if (!hasBegun) throw error;
    if (!clientSignal.aborted) yield ending.fail(asApiError(error, context.log, call.requestId));
  }
}

/** Returns those headers of a response that name the serving model. */
export function servedBy(answer: Response): Readonly<Record<string, string>> {
  const names = ["x-model-used", "x-fallback-from", "x-fallback-depth", "x-max-tokens-lowered"];
  return Object.fromEntries(
    names.flatMap((name) => (answer.headers.has(name) ? [[name, answer.headers.get(name) ?? ""]] : [])),
  );
}
