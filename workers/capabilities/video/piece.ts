/**
 * Cuts a time range out of a video's filter graph. The result begins with the frame that is displayed at the start of the range. For child
 * processes only.
 */
import { MediaError } from "#shared/children/media-error.ts";
import { type DisplayedFrame, findDisplayedFrame } from "#workers/children/displayed-frame.ts";

import { openSource, type VideoFacts } from "./facts.ts";
import { onAudio, onVideo, type Scene } from "./scene.ts";

interface Span {
  readonly start: number;
  /** End of the section in seconds; undefined for the end of the scene. */
  readonly until: number | undefined;
  /** Length of the section in seconds; 0 if unknown. */
  readonly seconds: number;
}

/**
 * Returns the start time of the frame that is displayed at a given time, and that of the next frame. Both are in seconds of the file's
 * timestamps.
 */
export async function framesAround({ source, startsAt }: VideoFacts, seconds: number): Promise<DisplayedFrame> {
  const { displayed, next } = await findDisplayedFrame(() => openSource(source), seconds + startsAt);
  const own = (at: number | undefined): number | undefined => at && Math.max(0, at - startsAt);
  return { displayed: own(displayed), next: own(next) };
}

/**
 * Maximum time by which the first frame of a section is shown too early, in seconds. The shift is not noticeable, and it keeps the frame
 * rate constant.
 */
const EARLY_SECONDS_MAX = 0.05;
/** Tolerance when times are compared, in seconds. Filters round times to clock ticks. */
export const TICK_SECONDS = 0.0005;

/** Cuts a section out of a scene. @throws MediaError invalid if the section contains no frame */
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

/**
 * Returns filters that cut a section out of frames whose timestamps are still those of the file.
 * @throws MediaError invalid if the section ends before the first frame
 */
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

/**
 * Returns filters that cut a section out of frames whose timestamps were changed by earlier operations. The last frame is repeated, because
 * the audio may be longer than the video.
 */
function heldPiece({ start, until, seconds }: Span): string[] {
  const isEnded = until !== undefined || seconds > 0;
  const held = isEnded ? ["tpad=stop=-1:stop_mode=clone"] : [];
  return [...held, `trim=start=${fixed(start)}${endOf(until ?? (isEnded ? start + seconds : undefined))}`, "setpts=PTS-STARTPTS"]; // prettier-ignore
}

function endOf(until: number | undefined): string {
  return until === undefined ? "" : `:end=${fixed(until)}`;
}

/** Formats seconds without an exponent, because FFmpeg does not accept exponents in times. */
export function fixed(seconds: number): string {
  return seconds.toFixed(6);
}
