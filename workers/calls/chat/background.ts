/**
 * Manages a background response in its worker. The response object is completed by the model's answer. The events of the response are
 * stored in chunks for current and later readers, and a notice announces each stored chunk to current readers.
 */
import type { JobMessage, ModelResponse } from "#schemas/generated/types.ts";
import type { Insist } from "#shared/storage/outage.ts";
import { runSubject } from "#shared/queue/subjects.ts";
import { FIRST_KEPT_EVENT, type KeptResponse } from "#shared/responses/store.ts";

import type { WorkerContext } from "../../context.ts";
import { type Failure, freeFailure } from "../../outcome.ts";

/** Interval at which pending events are stored together as one chunk, in milliseconds. */
const LINGER_MS = 100;
/** Pending characters of events above which reading from the provider pauses until the events are stored. */
const WAITING_CHARACTERS_MAX = 262_144;
/**
 * Maximum stored characters of the events of one response. Further deltas are omitted, because the end event of an item contains its full
 * text.
 */
const KEPT_CHARACTERS_MAX = 16 * 1_048_576;
/** Number of final frames that are rebuilt from the response object instead of being stored: the end event and `[DONE]`. */
const OWN_END = 2;

type Context = Pick<WorkerContext, "answers" | "log" | "responses">;

/**
 * Opens the background response of a job. Returns undefined if the response was deleted.
 * @param insist retries failed writes of the events and of the answer
 * @throws Error if the response cannot be read
 */
export async function openBackground(
  context: Context,
  job: JobMessage,
  insist: Insist,
): Promise<BackgroundResponse | undefined> {
  const kept = await storeOf(context).read(job.job_id);
  return kept && new BackgroundResponse(context, job, kept, insist);
}

/** Failure of a call whose response was deleted. Deleting a response cancels its call. */
export const DELETED: Failure = {
  ...freeFailure({
    code: "response_not_found",
    message: "The response was deleted before its work began.",
    param: null,
    retry: false,
  }),
  status: "cancelled",
};

export class BackgroundResponse {
  /** Response object as it is before its first item. */
  readonly response: ModelResponse;
  /** Input items of the request. */
  readonly input: KeptResponse["input"];
  private readonly context: Context;
  private readonly job: JobMessage;
  private readonly kept: KeptResponse;
  private readonly insist: Insist;
  private waiting = "";
  private next = FIRST_KEPT_EVENT;
  private keptCharacters = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private writing: Promise<void> | undefined;

  constructor(context: Context, job: JobMessage, kept: KeptResponse, insist: Insist) {
    this.context = context;
    this.job = job;
    this.kept = kept;
    this.insist = insist;
    this.input = kept.input;
    this.response = { ...kept.response, status: "in_progress" };
  }

  /** Stores complete events; they are buffered briefly. */
  write(text: string): void {
    if (!this.kept.keepsEvents) return;
    this.waiting += text;
    this.timer ??= setTimeout(() => void this.keepSome(), LINGER_MS);
  }

  /** Returns a promise that resolves when more events can be buffered, or undefined if they can be buffered now. */
  waitForDrain(): Promise<void> | undefined {
    return this.waiting.length > WAITING_CHARACTERS_MAX ? this.keepSome() : undefined;
  }

  /**
   * Stores the complete response object and its remaining events.
   * @param lastEvents last events of the stream, including `[DONE]`
   * @throws Error if they cannot be stored
   */
  async answer(whole: ModelResponse, lastEvents: string): Promise<void> {
    const frames = lastEvents.split("\n\n").slice(0, -1 - OWN_END);
    this.write(frames.map((frame) => `${frame}\n\n`).join(""));
    await this.keepAll();
    await storeOf(this.context).answer(this.kept, whole, this.insist);
  }

  /** Stores the pending events after the call has failed. An error of the store is only logged. */
  async breakOff(): Promise<void> {
    await this.keepAll().catch((error: unknown) => this.warn(error));
  }

  private keepSome(): Promise<void> {
    return this.keepAll().catch((error: unknown) => {
      this.warn(error);
      this.timer ??= setTimeout(() => void this.keepSome(), LINGER_MS);
    });
  }

  /**
   * Stores all pending events. Chunks are written one at a time, so that a reader never misses an earlier chunk of one that it has read.
   */
  private async keepAll(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    while (this.writing) await this.writing.catch(() => undefined);
    if (this.waiting === "") return;
    this.writing = this.keepWaiting();
    try {
      await this.writing;
    } finally {
      this.writing = undefined;
    }
  }

  private async keepWaiting(): Promise<void> {
    const text = this.waiting;
    const frames = text.split("\n\n").slice(0, -1);
    const last = this.next + frames.length - 1;
    const isFull = this.keptCharacters + text.length > KEPT_CHARACTERS_MAX;
    const keptFrames = isFull ? frames.filter((frame) => !/^event: \S+\.delta\n/.test(frame)) : frames;
    const piece = { first: this.next, last, text: isFull ? keptFrames.map((frame) => `${frame}\n\n`).join("") : text };
    const { job_id: id, workspace_id: workspaceId } = this.job;
    await storeOf(this.context).keepEvents({ id, workspaceId }, piece, this.insist);
    this.waiting = this.waiting.slice(text.length);
    this.next = last + 1;
    this.keptCharacters += piece.text.length;
    const { answers } = this.context;
    if (!answers.isClosed()) answers.publish(runSubject(this.job.job_id), EMPTY_NOTICE);
  }

  private warn(error: unknown): void {
    this.context.log.warn(
      { err: error, request_id: this.job.request_id },
      "a response's events could not be saved; it is retried",
    );
  }
}

/** Content of a notice to readers. It is empty, because readers fetch the new events from the database. */
const EMPTY_NOTICE = new TextEncoder().encode("{}");

function storeOf({ responses }: Context): NonNullable<Context["responses"]> {
  if (!responses) throw new Error("a process without the pool chat has a response to store");
  return responses;
}
