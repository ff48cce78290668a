/** The other end of a runner's connection for answers: an ingress that takes them, or says that it never will. */
import { type NatsConnection, NoRespondersError, RequestError } from "nats";

import type { JobMessage } from "#schemas/generated/types.ts";
import { decodeFrame, type Frame, readBundle } from "#shared/queue/frames.ts";
import type { TakenAck } from "#shared/queue/acks.ts";
import type { LiveCall } from "#workers/runner/live-calls.ts";
import type { WorkerContext } from "#workers/context.ts";

/** Subject that answers to a call go to. */
export const replyTo = ({ job_id: jobId }: Pick<JobMessage, "job_id">): string => `_INBOX.gw.ingress.${jobId}`;

/** A call as the runner hands it on. */
export function callOf(job: JobMessage, isAddressed = true): LiveCall {
  return { job, text: JSON.stringify(job), reply: isAddressed ? replyTo(job) : undefined };
}

export interface FakeIngress {
  readonly replies: WorkerContext["replies"];
  readonly answers: WorkerContext["answers"];
  readonly frames: { readonly frame: Frame; readonly data: Uint8Array; readonly bytes: number }[];
  /** Job ids that the runner told to be settled. */
  readonly settled: string[];
  /** Subjects of the messages that frames came in. */
  readonly subjects: string[];
}

export interface IngressHabits {
  /** Its word on a whole answer; undefined: none. */
  readonly word?: TakenAck | undefined;
  /** Its answer to a question; an error: none; absent: no ingress is there. */
  readonly answer?: string | Error | undefined;
  /** It has lost the answer until it was sent so often. */
  readonly hearsAt?: number;
  readonly waitForDrain?: (() => Promise<void> | undefined) | undefined;
}

export function fakeIngress(habits: IngressHabits = { word: "taken" }): FakeIngress {
  const frames: FakeIngress["frames"] = [];
  const settled: string[] = [];
  const subjects: string[] = [];
  let ends = 0;
  let hear: ((error: null, message: { data: Uint8Array }) => void) | undefined;
  const replies = {
    subscribe: (_subject: string, options: { callback: typeof hear }) => {
      hear = options.callback;
      return { unsubscribe: () => undefined };
    },
    request: () =>
      typeof habits.answer === "string"
        ? Promise.resolve({ string: () => habits.answer })
        : Promise.reject(habits.answer ?? new RequestError("gone", { cause: new NoRespondersError("nowhere") })),
    status: () => [],
  } as unknown as NatsConnection;
  const take = (id: string, bytes: Uint8Array): void => {
    const { frame, data } = decodeFrame(bytes);
    frames.push({ frame, data, bytes: bytes.length });
    if (frame.t !== "end" || frame.settle?.tell === undefined || habits.word === undefined) return;
    ends += 1;
    if (ends < (habits.hearsAt ?? 1)) return;
    const word = JSON.stringify({ [habits.word]: [id] });
    queueMicrotask(() => hear?.(null, { data: new TextEncoder().encode(word) }));
  };
  const answers = {
    isClosed: () => false,
    waitForDrain: () => habits.waitForDrain?.(),
    flush: () => undefined,
    publish: (subject: string, bytes: Uint8Array) => {
      if (subject.endsWith(".settled")) {
        settled.push(...(JSON.parse(new TextDecoder().decode(bytes)) as { settled: string[] }).settled);
        return;
      }
      subjects.push(subject);
      if (!subject.endsWith(".frames")) take(subject.slice(subject.lastIndexOf(".") + 1), bytes);
      else for (const [id, frame] of readBundle(bytes)) take(id, frame);
    },
  };
  return { replies, answers, frames, settled, subjects };
}

/** Makes the controller by which a runner ends a call, for a test with a signal of its own. */
export function controllerOf(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  return controller;
}
