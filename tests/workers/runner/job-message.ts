/** Work messages as the ingress writes them. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { parsePrice, serializePrice } from "#shared/calls/pricing/price.ts";

/** 1 nano-credit for an input token, 10 for one of output. */
export const PRICE = parsePrice({ unit: "per_token", input_per_million: "0.001", output_per_million: "0.01" });

export const REQUEST = { model: "one", messages: [{ role: "user", content: "How many legs has a spider?" }] };

/** An admitted chat call of a workspace of its own, waited for for a minute. */
export function chatJob(members: Partial<JobMessage> = {}): JobMessage {
  const jobId = members.job_id ?? newId();
  const { request_ref } = members;
  return {
    job_id: jobId,
    attempt: 1,
    dispatch: 1,
    kind: "chat",
    request_id: jobId,
    workspace_id: newId(),
    key_id: newId(),
    model: "one",
    hold_nano: "5000",
    may_exceed: true,
    output_tokens_max: 500,
    price: serializePrice(PRICE),
    deadline_ms: Date.now() + 60_000,
    ...(request_ref === undefined ? { request: REQUEST } : {}),
    ...members,
  };
}
