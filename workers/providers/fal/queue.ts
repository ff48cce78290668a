/**
 * fal's queue: a job is submitted under its model's full name, and polled at the paths in the response. There is no failed status: a failed
 * job is COMPLETED, and its result is an error.
 */
import { type Endpoint, post, type ProviderAnswer } from "../http.ts";
import { type Members, parseObject } from "../json.ts";
import type { Found, LostStart, MediaCall, MediaKind, MediaResult, Polled, QueuedAdapter } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { postStart } from "../start.ts";

import type { FalBody } from "./body.ts";
import { classifyStart, verdictOf } from "./errors.ts";
import { type FalJob, type FalMark, newJob, readJob, readMark } from "./job.ts";

/** Time for which fal keeps results: a day in seconds, longer than all our retries of the copy. */
const KEEP = JSON.stringify({ expiration_duration_seconds: 86_400 });

interface FalModel<Input, Output> {
  readonly kind: MediaKind;
  /** @throws ProviderError */
  body(call: MediaCall<Input>): FalBody;
  /** Returns undefined for an unknown result, which is no definite failure. @throws ProviderError for a result with an error */
  result(answer: Members, asked: number): MediaResult<Output> | undefined;
}

type TextAnswer = ProviderAnswer & { readonly text: string };

export function falQueue<Input, Output>(
  endpoint: Endpoint,
  model: FalModel<Input, Output>,
): QueuedAdapter<Input, Output> {
  return {
    takesUrls: true,

    async start(call) {
      const { input, asked, usual } = model.body(call);
      call.adapt(input);
      const path = `/${call.sourceModel.split("/").map(encodeURIComponent).join("/")}${ringing(call.callbackUrl)}`;
      const headers = { "x-fal-object-lifecycle-preference": KEEP };
      const fields = call.fields ?? usual;
      const request = { path, body: JSON.stringify(input), headers };
      // The queue cannot be listed, so only a callback finds a job whose response was lost.
      const mark: FalMark | null = call.callbackUrl === undefined ? null : { model: call.sourceModel, asked, fields };
      return postStart(endpoint, request, call, mark, (answer) => {
        const { status, text } = answer;
        if (!isSuccess(answer)) throw classifyStart(status, answer.headers, text, { fields, kind: model.kind });
        const job = newJob(endpoint, call.sourceModel, parseObject(text), { asked, fields });
        // The job was accepted and probably runs, but cannot be polled.
        if (!job) throw new ProviderError("unknown", "the job was taken without an id that can be asked for");
        return job;
      });
    },

    async poll(job, signal) {
      const known = readJob(job);
      if (!known) return unknown("the stored job is none of fal's");
      try {
        return await ask(endpoint, model, known, signal);
      } catch (error) {
        if (error instanceof ProviderError) return unknown(`the poll failed: ${error.kind}, ${error.detail}`);
        throw error;
      }
    },

    find: async (lost) => findRung(endpoint, lost),

    async cancel(job, signal) {
      const known = readJob(job);
      // The response is ignored, because the next poll returns the outcome.
      if (known) await post(endpoint, { method: "PUT", path: known.cancel_path }, signal);
    },
  };
}

function findRung(endpoint: Endpoint, { mark, told }: LostStart): Found {
  const known = readMark(mark);
  if (!known) return unknown("the stored mark is none of fal's");
  const { model, ...facts } = known;
  const job = told === undefined ? undefined : newJob(endpoint, model, { request_id: told }, facts);
  return job ? { state: "found", job } : unknown("fal has not rung for it yet");
}

/** Returns the query with the callback URL for the end of a job (fal.ai/docs/documentation/model-apis/inference/webhooks). */
function ringing(callbackUrl: string | undefined): string {
  return callbackUrl === undefined ? "" : `?fal_webhook=${encodeURIComponent(callbackUrl)}`;
}

async function ask<Input, Output>(
  endpoint: Endpoint,
  model: FalModel<Input, Output>,
  job: FalJob,
  signal: AbortSignal,
): Promise<Polled<Output>> {
  const asked = await post(endpoint, { method: "GET", path: job.status_path }, signal);
  if (!isSuccess(asked)) return unknown(`the status was answered with ${asked.status}`);
  const status = parseObject(asked.text);
  if ((status?.["request_id"] ?? job.request_id) !== job.request_id) return unknown("the answer is of another job");
  switch (status?.["status"]) {
    case "IN_QUEUE":
    case "IN_PROGRESS":
      return { state: "pending" };
    case "COMPLETED":
      return readResult(model, job, status, await post(endpoint, { method: "GET", path: job.result_path }, signal));
    default:
      return unknown(`the status is ${JSON.stringify(status?.["status"])?.slice(0, 100) ?? "absent"}`);
  }
}

function readResult<Input, Output>(
  model: FalModel<Input, Output>,
  job: FalJob,
  status: Members,
  answer: TextAnswer,
): Polled<Output> {
  if (answer.status === 202) return { state: "pending" };
  if (answer.status === 400 && /\bstill in progress\b/i.test(answer.text)) return { state: "pending" };
  const body = parseObject(answer.text);
  if (isSuccess(answer) && body) {
    try {
      const result = model.result(body, job.asked);
      if (result) return { state: "done", ...result };
    } catch (error) {
      if (error instanceof ProviderError) return { state: "failed", error };
      throw error;
    }
  }
  const error = verdictOf(status, answer, body, { fields: job.fields, kind: model.kind });
  return error ? { state: "failed", error } : unknown(`the result was answered with ${answer.status}`);
}

function isSuccess({ status }: ProviderAnswer): boolean {
  return status >= 200 && status <= 299;
}

function unknown(detail: string): { readonly state: "unknown"; readonly detail: string } {
  return { state: "unknown", detail };
}
