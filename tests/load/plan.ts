/** Work of a run and its duration. Both plans are bounded: each round and each warm-up ends by its clock. */
import type { Pace } from "./upstream.ts";

export interface Plan {
  /** Calls in flight of the closed-loop rounds with plain answers. */
  readonly levels: readonly number[];
  readonly streamLevels: readonly number[];
  /** Every target has this many turns at each level, in alternation with the others. */
  readonly rounds: number;
  readonly roundSeconds: number;
  readonly openSeconds: number;
  readonly idleSeconds: number;
  /** Seconds of load before anything is measured, the same for every target. */
  readonly warmSeconds: { readonly plain: number; readonly streams: number };
  readonly plainPace: Pace;
  readonly streamPace: Pace;
}

/** No delay: the gateway's own cost is the whole difference, and the peak is the gateway's, not the upstream's. */
const PLAIN_PACE: Pace = { delayMs: 0, chunks: 1, intervalMs: 0 };
/** A fast model: 20 ms to the first token, 200 tokens a second. */
const STREAM_PACE: Pace = { delayMs: 20, chunks: 20, intervalMs: 5 };

export const FULL_PLAN: Plan = {
  levels: [1, 16, 64, 256],
  streamLevels: [1, 16, 64],
  rounds: 2,
  roundSeconds: 2.5,
  openSeconds: 5,
  idleSeconds: 2,
  // Compilers take a quarter to a third of the processor time of Bun's targets for 5 s, and V8 needs ten thousand calls.
  warmSeconds: { plain: 15, streams: 5 },
  plainPace: PLAIN_PACE,
  streamPace: STREAM_PACE,
};

/** For a look while developing: one turn of one second each, little warm-up, so all figures come out low. */
export const QUICK_PLAN: Plan = {
  levels: [1, 64],
  streamLevels: [16],
  rounds: 1,
  roundSeconds: 1,
  openSeconds: 2,
  idleSeconds: 1,
  warmSeconds: { plain: 5, streams: 1 },
  plainPace: PLAIN_PACE,
  streamPace: STREAM_PACE,
};
