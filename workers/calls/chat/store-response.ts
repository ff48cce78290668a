/** Stores the answer of a Responses API call for later calls: in its stored response and in its conversation. */
import type { JobMessage, ModelResponse, ResponsesItem } from "#schemas/generated/types.ts";
import { beforeAbort } from "#shared/base/abortable.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { type Insist, insistOn } from "#shared/storage/outage.ts";
import { uuidOfConversation } from "#shared/responses/ids.ts";

import type { WorkerContext } from "../../context.ts";

import type { BackgroundResponse } from "./background.ts";

type Context = Pick<WorkerContext, "config" | "conversations" | "log" | "responses">;

interface Answered {
  /** Complete response. */
  readonly response: ModelResponse;
  /** Input items of the request; ignored for a background call, whose input items are in its stored response. */
  readonly input: readonly unknown[];
  readonly background: BackgroundResponse | undefined;
  /** Last events of the stream, including `[DONE]`. */
  readonly lastEvents: string;
}

/**
 * Returns a function that retries failed writes of response data, until the call's deadline or until `signal` aborts.
 * @param signal aborts at the deadline of the call
 */
export function writerOf(
  { log }: Pick<Context, "log">,
  { request_id, deadline_ms: deadlineMs }: Pick<JobMessage, "request_id" | "deadline_ms">,
  signal: AbortSignal,
): Insist {
  return insistOn({ log, about: { request_id }, deadlineMs, signal });
}

/**
 * Stores the response before the client receives the end of its stream, so that the client's next call finds the response.
 * @throws ApiError `service_unavailable`; `invalid_request` if the response would exceed the limit of its conversation
 * @throws the reason of `signal` if it aborts first
 */
export async function storeResponse(
  context: Context,
  job: JobMessage,
  answered: Answered,
  signal: AbortSignal,
): Promise<void> {
  const { store, conversation } = answered.response;
  if (!store && conversation == null) return;
  try {
    await beforeAbort(keepWhole(context, job, answered, writerOf(context, job, signal)), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // The turn exceeds the limit of the conversation, so a retry would fail too.
    if (error instanceof ApiError && error.code === "invalid_request")
      throw new ApiError(error.code, error.message, { param: "conversation" });
    context.log.error({ err: error, request_id: job.request_id }, "a response could not be stored");
    const message = "The response could not be stored; try again, or with store: false.";
    throw new ApiError("service_unavailable", message, { cause: error });
  }
}

async function keepWhole(
  { responses, conversations, config }: Context,
  job: JobMessage,
  { response, input, background, lastEvents }: Answered,
  insist: Insist,
): Promise<void> {
  if (!responses || !conversations) throw new Error("a process without the pool chat has a response to store");
  const { job_id: id, workspace_id: workspaceId, key_id: keyId } = job;
  const hours = config.responseRetentionHours;
  if (background) await background.answer(response, lastEvents);
  else if (response.store)
    await responses.keep({ call: { id, workspaceId, keyId }, response, input, hours, isHeld: true }, insist);
  failpoint("response.answered");
  const conversation = uuidOfConversation(response.conversation?.id ?? "");
  if (conversation === undefined) return;
  const asked = (background?.input ?? input) as readonly ResponsesItem[];
  const output = response.output as readonly ResponsesItem[];
  await conversations.append(conversation, id, [...asked, ...output], hours, insist);
}

/**
 * Unlocks the conversation of a call that added nothing to it. A background call is skipped: its conversation is unlocked at the end of its
 * job, because another worker may still continue the job.
 */
export async function releaseConversation(
  { conversations, log }: Context,
  job: JobMessage,
  response: ModelResponse | undefined,
): Promise<void> {
  const id = uuidOfConversation(response?.conversation?.id ?? "");
  if (id === undefined || job.background === true) return;
  await conversations
    ?.release(id, job.job_id, true)
    .catch((error: unknown) =>
      log.warn({ err: error }, "a conversation could not be unlocked; it stays locked until its call is settled"),
    );
}
