/**
 * A background response as its worker has it: the object that the answer completes, and the events that are kept for whoever reads them,
 * now or later. They are kept piece by piece; how far they have come is told to those who follow.
 */
import type { JobMessage, ModelResponse } from "#schemas/generated/types.ts";
import type { Insist } from "#shared/outage.ts";
import { runSubject } from "#shared/queue/subjects.ts";
import { FIRST_KEPT_EVENT, type KeptResponse } from "#shared/responses/store.ts";

import type { WorkerContext } from "../../context.ts";
import { type Failure, freeFailure } from "../../outcome.ts";

/** Events that come within this time are kept as one piece. */
const LINGER_MS = 100;
/** Events that wait to be kept before the provider is read no further. */
const WAITING_CHARACTERS_MAX = 262_144;
/** Characters of events that are kept of one response; deltas beyond them are left out, since the end of their item tells the whole. */
const KEPT_CHARACTERS_MAX = 16 * 1_048_576;
/** Number of last frames that are made of the response itself: the event of its end, and `[DONE]`. */
const OWN_END = 2;

type Context = Pick<WorkerContext, "answers" | "log" | "responses">;

/** Undefined for one that was deleted before its work began. @param insist writes its events and its answer. @throws Error when it cannot be read back */
export async function openBackground(
  context: Context,
  job: JobMessage,
  insist: Insist,
): Promise<BackgroundResponse | undefined> {
  const kept = await storeOf(context).read(job.job_id);
  return kept && new BackgroundResponse(context, job, kept, insist);
}

/** End of the call of a deleted response: who deletes one cancels it. */
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
  /** The response before its first item. */
  readonly response: ModelResponse;
  /** Items that it was asked with. */
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

  /** Whole events. */
  write(text: string): void {
    if (!this.kept.keepsEvents) return;
    this.waiting += text;
    this.timer ??= setTimeout(() => void this.keepSome(), LINGER_MS);
  }

  /** Resolves when there is room for more; undefined: there is. */
  room(): Promise<void> | undefined {
    return this.waiting.length > WAITING_CHARACTERS_MAX ? this.keepSome() : undefined;
  }

  /** @param rest the last events, with `[DONE]`. @throws Error when it cannot be kept */
  async answer(whole: ModelResponse, rest: string): Promise<void> {
    const frames = rest.split("\n\n").slice(0, -1 - OWN_END);
    this.write(frames.map((frame) => `${frame}\n\n`).join(""));
    await this.keepAll();
    await storeOf(this.context).answer(this.kept, whole, this.insist);
  }

  /** Keeps what came before a failure, as far as that can be. */
  async breakOff(): Promise<void> {
    await this.keepAll().catch((error: unknown) => this.warn(error));
  }

  private keepSome(): Promise<void> {
    return this.keepAll().catch((error: unknown) => {
      this.warn(error);
      this.timer ??= setTimeout(() => void this.keepSome(), LINGER_MS);
    });
  }

  /** One after the other, so that a reader never misses a piece before one that it has. */
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
    const shown = isFull ? frames.filter((frame) => !/^event: \S+\.delta\n/.test(frame)) : frames;
    const piece = { first: this.next, last, text: isFull ? shown.map((frame) => `${frame}\n\n`).join("") : text };
    const { job_id: id, workspace_id: workspaceId } = this.job;
    await storeOf(this.context).keepEvents({ id, workspaceId }, piece, this.insist);
    this.waiting = this.waiting.slice(text.length);
    this.next = last + 1;
    this.keptCharacters += piece.text.length;
    const { answers } = this.context;
    if (!answers.isClosed()) answers.publish(runSubject(this.job.job_id), WORD);
  }

  private warn(error: unknown): void {
    this.context.log.warn(
      { err: error, request_id: this.job.request_id },
      "events of a response could not be kept yet",
    );
  }
}

/** It says nothing: what there is stands in rows. */
const WORD = new TextEncoder().encode("{}");

function storeOf({ responses }: Context): NonNullable<Context["responses"]> {
  if (!responses) throw new Error("a process without the pool chat has a response to store");
  return responses;
}
