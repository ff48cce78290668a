/**
 * Handles the answer of a chat step in a streamed run. Readers of the run receive the text as it arrives. At the end, the complete answer
 * is stored with the job.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { BufferedPublisher } from "#shared/queue/buffered-publisher.ts";
import { runSubject } from "#shared/queue/subjects.ts";

import { Answer } from "./answer.ts";

type Place = NonNullable<JobMessage["step"]>;

/** Interval at which chunks are sent together, in milliseconds. */
const LINGER_MS = 25;
const ENCODER = new TextEncoder();

/** Returns a copy of the job whose request enables streaming and the usage report in the stream. */
export function streamed(job: JobMessage): JobMessage {
  return { ...job, request: { ...job.request, stream: true, stream_options: { include_usage: true } } };
}

export class StepAnswer extends Answer {
  private readonly publisher: Pick<BufferedPublisher, "publish" | "isClosed">;
  private readonly place: Place;
  private hasText = false;
  private waiting = "";
  private lingering: ReturnType<typeof setTimeout> | undefined;

  constructor(
    publisher: Pick<BufferedPublisher, "publish" | "isClosed" | "waitForDrain">,
    place: Place,
    model: string,
  ) {
    super(publisher, undefined, model);
    this.publisher = publisher;
    this.place = place;
  }

  override get hasBegun(): boolean {
    return this.hasText;
  }

  override write(text: string, _upstreamMs: number): void {
    this.hasText = true;
    this.waiting += text;
    this.lingering ??= setTimeout(() => this.publishPending(), LINGER_MS);
  }

  /** Sends the pending text to the readers of the run. It is also called when the call ends, before its end is reported. */
  publishPending(): void {
    clearTimeout(this.lingering);
    this.lingering = undefined;
    const content = this.waiting;
    this.waiting = "";
    if (content === "" || this.publisher.isClosed()) return;
    const { run_id: runId, step_id: stepId, attempt, index } = this.place;
    const delta = { stepId, attempt, ...(index === undefined ? {} : { index }), content };
    this.publisher.publish(runSubject(runId), ENCODER.encode(JSON.stringify({ delta })));
  }
}
