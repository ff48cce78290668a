/** Runs a call of the playground: sends it, follows its job, and keeps the results of the tab in memory. */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";

import type { Job } from "#schemas/generated/types.ts";
import { ApiFault, call, noteChange, send } from "../../api/client.ts";
import type { Kind } from "./kinds.ts";

/** Interval at which the state of a job is read, in milliseconds. */
const POLL_MS = 1_000;

export interface Result {
  /** Id of the request, which is also the id of its job. */
  readonly id: string;
  readonly name: string;
  readonly endedAt: number;
  readonly ms: number;
  readonly status: "succeeded" | "failed" | "refused" | "cancelled";
  /** Charged credits; null if the response has no amount. */
  readonly credits: number | null;
  /** JSON response, or the parts of a job. */
  readonly value?: unknown;
  /** Response that is no JSON, such as a recording. */
  readonly blob?: Blob;
  readonly fault?: ApiFault;
}

export type RunState =
  | { readonly step: "idle" }
  | { readonly step: "running"; readonly since: number; readonly job?: Job; readonly isCancelling?: boolean }
  | { readonly step: "ended"; readonly result: Result };

/** Earlier results, newest first. They stay in memory only, because they contain prompts and answers. */
export const earlier = signal<readonly Result[]>([]);

const EARLIER_MAX = 20;

export interface Call {
  readonly operation: Kind["operation"] | "POST /v1/capabilities/{id}/run";
  readonly capability?: string;
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** True to request a job instead of the result. */
  readonly isJob?: boolean;
}

export interface Runner {
  readonly state: RunState;
  readonly run: (what: Call) => Promise<void>;
  /** Cancels the job, or stops to wait for a call without a job. */
  readonly cancel: () => Promise<void>;
  readonly show: (result: Result | undefined) => void;
}

export function useRunner(): Runner {
  const [state, setState] = useState<RunState>({ step: "idle" });
  const current = useRef<{ readonly controller: AbortController; job?: Job } | undefined>(undefined);
  // A job continues without the page; a call without a job ends with it.
  useEffect(() => () => current.current?.controller.abort(), []);
  const run = async (what: Call): Promise<void> => {
    current.current?.controller.abort();
    const controller = new AbortController();
    const mine: { readonly controller: AbortController; job?: Job } = { controller };
    current.current = mine;
    const since = Date.now();
    setState({ step: "running", since });
    const end = (part: Omit<Result, "name" | "endedAt" | "ms">): void => {
      if (current.current !== mine) return;
      const result = { ...part, name: what.name, endedAt: Date.now(), ms: Date.now() - since };
      earlier.value = [result, ...earlier.value].slice(0, EARLIER_MAX);
      setState({ step: "ended", result });
    };
    try {
      end(
        await make(what, controller.signal, (job) => {
          mine.job = job;
          if (current.current === mine) setState((before) => ({ ...before, step: "running", since, job }));
        }),
      );
    } catch (error) {
      if (controller.signal.aborted) end({ id: "", status: "cancelled", credits: null });
      else end(failure(error, mine.job));
    }
  };
  const cancel = async (): Promise<void> => {
    const job = current.current?.job;
    setState((before) => (before.step === "running" ? { ...before, isCancelling: true } : before));
    if (job === undefined) current.current?.controller.abort();
    else await call("POST /v1/images/jobs/{job_id}/cancel", { path: { job_id: job.id } });
  };
  return {
    state,
    run,
    cancel,
    show: (result) => setState(result === undefined ? { step: "idle" } : { step: "ended", result }),
  };
}

function failure(error: unknown, job: Job | undefined): Omit<Result, "name" | "endedAt" | "ms"> {
  const fault =
    error instanceof ApiFault ? error : new ApiFault(error instanceof Error ? error.message : String(error));
  const id = fault.jobId ?? fault.requestId ?? job?.id ?? "";
  const isOver = job === undefined;
  const status = isOver && fault.isRefusal ? "refused" : "failed";
  return { id, status, credits: isOver && fault.isFree ? 0 : null, fault };
}

async function make(
  { operation, capability, body, isJob }: Call,
  signal: AbortSignal,
  onJob: (job: Job) => void,
): Promise<Omit<Result, "name" | "endedAt" | "ms">> {
  const headers = isJob === true ? { prefer: "respond-async" } : {};
  const response = await send(operation, { path: { id: capability ?? "" }, body: body as never, headers, signal });
  const id = response.headers.get("x-request-id") ?? "";
  const used = response.headers.get("x-credits-used");
  const credits = used === null ? null : Number(used);
  if (!(response.headers.get("content-type") ?? "").includes("json")) {
    return { id, status: "succeeded", credits, blob: await response.blob() };
  }
  const value = (await response.json()) as { readonly object?: string; readonly usage?: { readonly credits?: number } };
  if (value.object !== "job")
    return { id, status: "succeeded", credits: credits ?? value.usage?.credits ?? null, value };
  const job = await follow(value as unknown as Job, signal, onJob);
  const { status, error, credits_used: charged = null } = job;
  if (status === "completed") return { id, status: "succeeded", credits: charged, value: job };
  // A cancelled job has an error too, which says only that it was cancelled.
  if (status === "cancelled") return { id, status, credits: charged, value: job };
  const fault = error && new ApiFault(error.message, { code: error.code, param: error.param, requestId: id });
  return { id, status: "failed", credits: charged, value: job, ...(fault ? { fault } : {}) };
}

async function follow(first: Job, signal: AbortSignal, onJob: (job: Job) => void): Promise<Job> {
  let job = first;
  onJob(job);
  while (job.status === "queued" || job.status === "processing") {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, POLL_MS);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    signal.throwIfAborted();
    job = await call("GET /v1/images/jobs/{job_id}", { path: { job_id: job.id }, signal });
    onJob(job);
  }
  // The charge of an ended job is in the balance.
  noteChange();
  return job;
}
