/** Provider call of one attempt at a media job. */
import type { JobMessage } from "#schemas/generated/types.ts";

import type { WorkerContext } from "../../context.ts";
import type { MediaCall } from "../../providers/media.ts";
import type { Candidate } from "../../routing/candidates.ts";
import { adaptTo } from "../source-params.ts";

import type { Holding } from "./result-budget.ts";

/** Copies of a response with inline results in memory while it is read: its chunks, its text, its parsed value. */
const ANSWER_COPIES = 3;

/**
 * @param input checked against the candidate's model
 * @param startId id of the start, for sources that queue jobs: the provider's callback contains it
 */
export function mediaCallOf<Input>(
  context: Pick<WorkerContext, "config" | "callbackTokens">,
  { job_id: id }: Pick<JobMessage, "job_id">,
  { source }: Pick<Candidate<unknown>, "source">,
  input: Input,
  { signal, holding, startId }: { readonly signal: AbortSignal; readonly holding: Holding; readonly startId: string },
): MediaCall<Input> {
  const { publicUrl } = context.config;
  return {
    input,
    sourceModel: source.model,
    signal,
    reserveBytes: (more) => holding.add(more * ANSWER_COPIES, signal),
    traits: new Set(source.traits),
    ...(source.fields ? { fields: source.fields } : {}),
    adapt: (body) => adaptTo(source, body),
    ...(publicUrl === undefined
      ? {}
      : { callbackUrl: `${publicUrl}/v1/provider-callbacks/${id}/${context.callbackTokens.of(id)}?start=${startId}` }),
  };
}
