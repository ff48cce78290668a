/** A piece of a scene, which begins with the frame that is on display then. For child processes only. */
import { MediaError } from "#shared/children/media-error.ts";
import { type ShownFrame, shownFrame } from "#workers/children/shown-frame.ts";

import { openSource, type VideoFacts } from "./facts.ts";
import { onAudio, onVideo, type Scene } from "./scene.ts";

interface Span {
  readonly start: number;
  /** The scene's end where it is not given. */
  readonly until: number | undefined;
  /** Length of the piece; 0 if it is not known. */
  readonly seconds: number;
}

/** Beginnings of frames, on the clock of the video. */
export async function framesAround({ source, startsAt }: VideoFacts, seconds: number): Promise<ShownFrame> {
  const { shown, next } = await shownFrame(() => openSource(source), seconds + startsAt);
  const own = (at: number | undefined): number | undefined => at && Math.max(0, at - startsAt);
  return { shown: own(shown), next: own(next) };
}

/** Nobody notices that pictures come earlier by this much, and their rate stays even. */
const EARLY_SECONDS_MAX = 0.05;
/** Filters round times to ticks. */
export const TICK_SECONDS = 0.0005;

/** @throws MediaError invalid: nothing is seen in the piece */
export async function pieceOf(facts: VideoFacts, scene: Scene, span: Span): Promise<Scene> {
  const { start, until, seconds } = span;
  const { origin } = scene;
  const filters = origin === undefined ? heldPiece(span) : await sourcePiece(facts, origin, span);
  const shown = onVideo(scene, filters, { seconds, origin: origin === undefined ? undefined : origin + start });
  return onAudio(shown, [
    `atrim=start=${fixed(start)}${endOf(until)}`,
    // Sound that ends before the piece begins is silence, not a stream without samples.
    seconds > 0 ? `apad=whole_dur=${fixed(seconds)}` : "apad=whole_len=1",
    "asetpts=N/SR/TB",
  ]);
}

/** Filters for a piece of frames that still have the times of their file. */
async function sourcePiece(facts: VideoFacts, origin: number, { start, until }: Span): Promise<string[]> {
  const around = await framesAround(facts, start + origin);
  const [shown, next] = [around.shown, around.next].map((at) => at && Math.max(0, at - origin));
  if (next !== undefined && next - start <= EARLY_SECONDS_MAX && next < (until ?? Infinity)) {
    return [`trim=start=${fixed(Math.max(0, next - TICK_SECONDS))}${endOf(until)}`, "setpts=PTS-STARTPTS"];
  }
  if (shown === undefined && next !== undefined && next >= (until ?? Infinity)) {
    throw new MediaError("invalid", `Expected a section after the first frame at ${next} s, got its end at ${until}.`);
  }
  const first = fixed(Math.max(0, (shown ?? start) - TICK_SECONDS));
  return [`trim=start=${first}${endOf(until)}`, `setpts='max(0,round(PTS-${fixed(start)}/TB))'`];
}

/** Filters for a piece of frames that operations made; the last is held for as long as the sound may last. */
function heldPiece({ start, until, seconds }: Span): string[] {
  const isEnded = until !== undefined || seconds > 0;
  const held = isEnded ? ["tpad=stop=-1:stop_mode=clone"] : [];
  return [...held, `trim=start=${fixed(start)}${endOf(until ?? (isEnded ? start + seconds : undefined))}`, "setpts=PTS-STARTPTS"]; // prettier-ignore
}

function endOf(until: number | undefined): string {
  return until === undefined ? "" : `:end=${fixed(until)}`;
}

/** FFmpeg reads no exponents in times. */
export function fixed(seconds: number): string {
  return seconds.toFixed(6);
}
