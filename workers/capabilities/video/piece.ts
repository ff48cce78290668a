/** Section of a scene, which begins with the frame on display at its start. For child processes only. */
import { MediaError } from "#shared/children/media-error.ts";
import { type DisplayedFrame, findDisplayedFrame } from "#workers/children/displayed-frame.ts";

import { openSource, type VideoFacts } from "./facts.ts";
import { onAudio, onVideo, type Scene } from "./scene.ts";

interface Span {
  readonly start: number;
  /** End in seconds; undefined for the scene's end. */
  readonly until: number | undefined;
  /** Length of the section in seconds; 0 if unknown. */
  readonly seconds: number;
}

/** Returns the start times of the frame on display and of the next one, in seconds of the video's clock. */
export async function framesAround({ source, startsAt }: VideoFacts, seconds: number): Promise<DisplayedFrame> {
  const { displayed, next } = await findDisplayedFrame(() => openSource(source), seconds + startsAt);
  const own = (at: number | undefined): number | undefined => at && Math.max(0, at - startsAt);
  return { displayed: own(displayed), next: own(next) };
}

/** Largest shift to an earlier time, in seconds. It is not noticeable, and keeps the frame rate constant. */
const EARLY_SECONDS_MAX = 0.05;
/** Tolerance in seconds, because filters round times to ticks. */
export const TICK_SECONDS = 0.0005;

/** @throws MediaError invalid if the section contains no frame */
export async function pieceOf(facts: VideoFacts, scene: Scene, span: Span): Promise<Scene> {
  const { start, until, seconds } = span;
  const { origin } = scene;
  const filters = origin === undefined ? heldPiece(span) : await sourcePiece(facts, origin, span);
  const cutScene = onVideo(scene, filters, { seconds, origin: origin === undefined ? undefined : origin + start });
  return onAudio(cutScene, [
    `atrim=start=${fixed(start)}${endOf(until)}`,
    // Audio that ends before the section becomes silence instead of an empty stream.
    seconds > 0 ? `apad=whole_dur=${fixed(seconds)}` : "apad=whole_len=1",
    "asetpts=N/SR/TB",
  ]);
}

/** Returns filters for frames that still have the times of their file. */
async function sourcePiece(facts: VideoFacts, origin: number, { start, until }: Span): Promise<string[]> {
  const around = await framesAround(facts, start + origin);
  const [displayed, next] = [around.displayed, around.next].map((at) => at && Math.max(0, at - origin));
  if (next !== undefined && next - start <= EARLY_SECONDS_MAX && next < (until ?? Infinity)) {
    return [`trim=start=${fixed(Math.max(0, next - TICK_SECONDS))}${endOf(until)}`, "setpts=PTS-STARTPTS"];
  }
  if (displayed === undefined && next !== undefined && next >= (until ?? Infinity)) {
    throw new MediaError("invalid", `Expected a section after the first frame at ${next} s, got its end at ${until}.`);
  }
  const first = fixed(Math.max(0, (displayed ?? start) - TICK_SECONDS));
  return [`trim=start=${first}${endOf(until)}`, `setpts='max(0,round(PTS-${fixed(start)}/TB))'`];
}

/** Returns filters for frames with changed times; the last frame is repeated while the audio may continue. */
function heldPiece({ start, until, seconds }: Span): string[] {
  const isEnded = until !== undefined || seconds > 0;
  const held = isEnded ? ["tpad=stop=-1:stop_mode=clone"] : [];
  return [...held, `trim=start=${fixed(start)}${endOf(until ?? (isEnded ? start + seconds : undefined))}`, "setpts=PTS-STARTPTS"]; // prettier-ignore
}

function endOf(until: number | undefined): string {
  return until === undefined ? "" : `:end=${fixed(until)}`;
}

/** Formats seconds without an exponent, which FFmpeg does not support in times. */
export function fixed(seconds: number): string {
  return seconds.toFixed(6);
}
