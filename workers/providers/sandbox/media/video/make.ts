/** A video from a prompt, and from a picture or footage where one is given. */
import { encode } from "#workers/children/audio-file.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";
import { writeMp4 } from "#workers/children/mp4-writer.ts";
import { probeVideo } from "#shared/media/probe/video.ts";
import { openVideoEncoder, type VideoPacket } from "#workers/children/video-encoder.ts";

import { decodePicture } from "../images/source.ts";
import type { Flite } from "../speech/flite.ts";
import { FRAMES_PER_SECOND, readScript, type Film, type FilmWish, type Script } from "./film.ts";
import { footageFilm } from "./footage-film.ts";
import { createFrame } from "./frame.ts";
import { pictureFilm } from "./picture-film.ts";
import { sceneFilm } from "./scene-film.ts";
import { makeSoundtrack, type Footage } from "./soundtrack.ts";

export interface VideoCall extends FilmWish {
  /** What the bytes that come along are. */
  readonly source: "none" | "image" | "video";
}

const SAMPLE_RATE = 48_000;
const CHANNELS = 2;
/** FFmpeg's AAC begins with a frame of silence. */
const AAC_DELAY_SAMPLES = 1_024;

/**
 * An MP4 of exactly the seconds and pixels wished for.
 * @param loadVoice is called where the prompt has somebody speak
 * @param onFrame hears after each picture which share of them, 0 to 1, there is
 * @throws MediaError unsupported, too_large, corrupt, for what was given
 */
export async function makeVideo(
  wish: VideoCall,
  bytes: Uint8Array,
  loadVoice: () => Promise<Flite>,
  onFrame?: (share: number) => void,
): Promise<Uint8Array> {
  const script = readScript(wish);
  const footage = wish.source === "video" ? readFootage(bytes) : null;
  const film = await openFilm(wish, script, bytes, footage);
  const video = await encodePictures(film, wish, onFrame);
  const samples = await makeSoundtrack(wish, script, loadVoice, footage);
  const audio = await encode("aac", samples);
  return writeMp4({
    width: wish.width,
    height: wish.height,
    framesPerSecond: FRAMES_PER_SECOND,
    video,
    audio: {
      ...audio,
      sampleRate: SAMPLE_RATE,
      channels: CHANNELS,
      skipped: AAC_DELAY_SAMPLES,
      samples: samples.length / CHANNELS,
    },
  });
}

async function openFilm(wish: VideoCall, script: Script, bytes: Uint8Array, footage: Footage | null): Promise<Film> {
  if (footage !== null) return footageFilm(wish, script, footage);
  if (wish.source === "image") return pictureFilm(wish, script, await decodePicture(bytes, "image"));
  return sceneFilm(wish, script);
}

function readFootage(bytes: Uint8Array): Footage {
  const { sourceVideoBytesMax } = MEDIA_LIMITS;
  if (bytes.byteLength > sourceVideoBytesMax) {
    throw new MediaError(
      "too_large",
      `The video has ${bytes.byteLength} bytes; at most ${sourceVideoBytesMax} are taken.`,
    );
  }
  return { bytes, facts: probeVideo(bytes) };
}

async function encodePictures(
  film: Film,
  { seconds, width, height }: FilmWish,
  onFrame: ((share: number) => void) | undefined,
): Promise<{ readonly setup: Uint8Array; readonly packets: readonly VideoPacket[] }> {
  const encoder = await openVideoEncoder({ width, height, framesPerSecond: FRAMES_PER_SECOND });
  const frame = createFrame(width, height);
  const packets: VideoPacket[] = [];
  try {
    const frames = seconds * FRAMES_PER_SECOND;
    for (let index = 0; index < frames; index += 1) {
      await film.draw(frame, index);
      packets.push(...encoder.push(frame.data));
      onFrame?.((index + 1) / frames);
    }
  } finally {
    packets.push(...encoder.end());
    await film.close?.();
  }
  return { setup: encoder.setup, packets };
}
