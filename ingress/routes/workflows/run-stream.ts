/**
 * Streams a run as server-sent events. Frames are read from database rows, so a client that reconnects with its last id misses none. Chunks
 * of output are relayed as they arrive and have no id. Followers that have the same last frame share one read.
 */
import type { WorkflowRunFrame } from "#schemas/generated/types.ts";
import { findFrames, findRunById, findStepRuns, type FrameRow, type RunRow } from "#shared/database/runs.ts";
import { ApiError, errorEnvelope } from "#shared/base/errors.ts";
import { presentRun, presentStepRun } from "#shared/workflows/present-run.ts";
import { JOB_POLL_INTERVAL_MS } from "#ingress/wait/job-waiter.ts";

import type { IngressContext } from "../../context.ts";
import { streamOf } from "../../core/response-body.ts";
import { DONE, KEEPALIVE, SSE_HEADERS, sseEvent, KEEPALIVE_MS } from "../../core/sse.ts";

import type { FollowedRun, RunDelta } from "./run-follower.ts";

const OPENING = Buffer.from(": run\n\n");
const PAGE = 200;

type Context = Pick<IngressContext, "closing" | "database" | "log">;

/**
 * Returns the response that streams the run, and closes `followed` when the stream ends.
 * @param after number of the last frame that the client has; 0 if none
 */
export function streamRun(context: Context, runId: string, followed: FollowedRun, after: number): Response {
  const clientAbort = new AbortController();
  const onFault = (error: unknown): void =>
    context.log.error({ err: error, run_id: runId }, "the stream of a run failed");
  const onDisconnect = (): void => {
    clientAbort.abort();
    // A client may disconnect before the generator has started.
    followed.close();
  };
  const body = streamOf(OPENING, framesOf(context, runId, followed, after, clientAbort.signal), onFault, onDisconnect);
  return new Response(body, { headers: { ...SSE_HEADERS, "x-run-id": runId } });
}

async function* framesOf(
  context: Context,
  runId: string,
  followed: FollowedRun,
  after: number,
  clientSignal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const { database, closing } = context;
  const over = AbortSignal.any([clientSignal, closing]);
  const pieces = orderDeltas(runId, after > 0);
  let last = after;
  let lastSentAt = performance.now();
  try {
    while (!clientSignal.aborted) {
      const from = last;
      const page = await followed.share(from, async () => {
        const read = await readPage(database, runId, from);
        // Pieces of a step's output are sent before its end is written, but may arrive after the end was read.
        if (read.frames.some(({ type }) => type === "step.finished")) await followed.catchUp();
        return read;
      });
      pieces.add(followed.takeDeltas());
      for (const frame of page.frames) {
        yield* pieces.before(frame);
        if (frame.event) yield frame.event;
      }
      const deltas = pieces.due();
      yield* deltas;
      last = page.last;
      if (page.isLast) {
        yield DONE;
        return;
      }
      if (page.frames.length + deltas.length > 0) lastSentAt = performance.now();
      if (page.hasMore) continue;
      if (closing.aborted) {
        // No [DONE]: a client that reconnects receives more.
        const { code, message, param } = runContinuesError(context, runId);
        yield sseEvent(errorEnvelope(code, message, param));
        return;
      }
      await followed.wait(Math.min(JOB_POLL_INTERVAL_MS, KEEPALIVE_MS), over);
      if (performance.now() - lastSentAt < KEEPALIVE_MS) continue;
      lastSentAt = performance.now();
      yield KEEPALIVE;
    }
  } finally {
    followed.close();
  }
}

/**
 * Orders output chunks of steps relative to frames. A chunk is sent after the frame that starts its step and before the frame that ends it.
 */
function orderDeltas(runId: string, isResumed: boolean) {
  /** True for running attempts of steps, false for ended attempts. On a resumed stream, attempts that are missing here started earlier. */
  const attempts = new Map<string, boolean>();
  let waiting: readonly RunDelta[] = [];
  /** Removes the selected chunks from the queue. @returns the chunks as encoded events */
  const take = (isChosen: (delta: RunDelta) => boolean): Uint8Array[] => {
    const [chosen, others] = [waiting.filter(isChosen), waiting.filter((delta) => !isChosen(delta))];
    waiting = others;
    return chosen.map(({ content, ...place }) => event({ type: "step.delta", runId, ...place, delta: { content } }));
  };
  return {
    add(deltas: readonly RunDelta[]): void {
      // The end of a step contains its whole output.
      waiting = [...waiting, ...deltas.filter((delta) => attempts.get(attemptOf(delta)) !== false)];
    },
    before({ type, stepId, attempt }: Page["frames"][number]): readonly Uint8Array[] {
      if (stepId === null || attempt === null) return [];
      const own = attemptOf({ stepId, attempt });
      attempts.set(own, type === "step.started");
      return type === "step.finished" ? take((delta) => attemptOf(delta) === own) : [];
    },
    due: () => take((delta) => attempts.get(attemptOf(delta)) ?? isResumed),
  };
}

function attemptOf({ stepId, attempt }: Pick<RunDelta, "stepId" | "attempt">): string {
  return `${attempt} ${stepId}`;
}

interface Page {
  readonly frames: readonly {
    readonly type: FrameRow["type"];
    readonly stepId: string | null;
    readonly attempt: number | null;
    /** Encoded event. Undefined if its step was deleted. */
    readonly event: Uint8Array | undefined;
  }[];
  /** Number of the last frame in the page; `after` if the page is empty. */
  readonly last: number;
  readonly hasMore: boolean;
  /** True if the run has no further frames. */
  readonly isLast: boolean;
}

/** Reads the next frames of a run after frame number `after`. */
async function readPage(database: Context["database"], runId: string, after: number): Promise<Page> {
  const rows = await findFrames(database, runId, after, PAGE);
  const frames: Page["frames"][number][] = [];
  let last = after;
  for (const frame of rows) {
    const { seq, type, step_id: stepId, attempt } = frame;
    const payload = await presentFrame(database, runId, frame);
    last = seq;
    frames.push({ type, stepId, attempt, event: payload && event(payload, seq) });
    if (type === "run.finished") return { frames, last, hasMore: false, isLast: true };
  }
  if (rows.length === PAGE) return { frames, last, hasMore: true, isLast: false };
  const row = await findRunById(database, runId);
  return { frames, last, hasMore: false, isLast: !row || hasAllFrames(row, last) };
}

/** True if the run has ended and the client has received all its frames. */
function hasAllFrames(row: RunRow, last: number): boolean {
  return row.ended_at !== null && last >= row.frames;
}

async function presentFrame(
  database: Context["database"],
  runId: string,
  { type, step_id: stepId, attempt }: FrameRow,
): Promise<WorkflowRunFrame | undefined> {
  if (type === "run.finished") {
    const row = await findRunById(database, runId);
    const steps = await findStepRuns(database, [runId]);
    return row && { type, runId, run: presentRun(row, steps, { isSorted: false, hasInput: false }) };
  }
  if (stepId === null || attempt === null) return { type, runId };
  const [step] = await findStepRuns(database, [runId], { stepId, attempt });
  if (!step) return undefined;
  const presented = presentStepRun(step);
  // The step may have ended since its frame was written.
  if (type === "step.finished") return { type, runId, stepRun: presented };
  const { id, type: stepType, startedAt } = presented;
  const started = startedAt === undefined ? {} : { startedAt };
  const stepRun = {
    id,
    type: stepType,
    status: "running",
    attempt,
    creditsUsed: 0,
    ...started,
    durationMs: 0,
  } as const;
  return { type, runId, stepRun };
}

const event: (payload: WorkflowRunFrame, id?: number) => Uint8Array = sseEvent;

/** Returns the error for a caller whose wait ends while the run continues. The caller can poll the run. */
export function runContinuesError({ closing }: Pick<IngressContext, "closing">, id: string): ApiError {
  const [code, why] = closing.aborted
    ? (["service_unavailable", "The service is restarting and the run continues"] as const)
    : (["run_timeout", "The run is not finished within the wait limit and continues"] as const);
  const options = { shouldRetry: false, headers: { "x-run-id": id } };
  return new ApiError(code, `${why}; read it with GET /v1/workflows/runs/${id}.`, options);
}
