/** A video from a prompt, and from a picture or footage where one is given. */
import { encodeAudio } from "#workers/children/audio-encoder.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";
import { writeMp4, type AudioPacket } from "#workers/children/mp4-writer.ts";
import { probeVideo, type VideoFacts } from "#shared/media/probe/video.ts";
import { openVideoEncoder, type VideoPacket } from "#workers/children/video-encoder.ts";

import { decodePicture } from "../images/source.ts";
import type { Flite } from "../speech/flite.ts";
import { FRAMES_PER_SECOND, readScript, type Film, type FilmWish, type Script } from "./film.ts";
import { footageFilm } from "./footage-film.ts";
import { createFrame } from "./frame.ts";
import { pictureFilm } from "./picture-film.ts";
import { sceneFilm } from "./scene-film.ts";
import { makeSoundtrack } from "./soundtrack.ts";

export interface VideoCall extends FilmWish {
  /** What the bytes that come along are. */
  readonly source: "none" | "image" | "video";
}

const SAMPLE_RATE = 48_000;
const CHANNELS = 2;
/** FFmpeg's AAC begins with a frame of silence. */
const AAC_DELAY_SAMPLES = 1_024;
/** AudioSpecificConfig: low complexity, 48 kHz, two channels. */
const AAC_CONFIG = Uint8Array.of(0x11, 0x90);

export interface Footage {
  readonly bytes: Uint8Array;
  readonly facts: VideoFacts;
}

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
  const samples = await makeSoundtrack(wish, loadVoice);
  const adts = await encodeAudio("aac", samples, { sampleRate: SAMPLE_RATE, channels: CHANNELS });
  return writeMp4({
    width: wish.width,
    height: wish.height,
    framesPerSecond: FRAMES_PER_SECOND,
    video,
    audio: {
      setup: AAC_CONFIG,
      packets: packetsOf(adts),
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

/** Frames of ADTS without their headers of 7 bytes, which say the length in 13 bits. */
function packetsOf(adts: Uint8Array): AudioPacket[] {
  const packets: AudioPacket[] = [];
  for (let at = 0; at < adts.length;) {
    const [, , , high = 0, middle = 0, low = 0] = adts.subarray(at, at + 7);
    const length = ((high & 3) << 11) | (middle << 3) | (low >> 5);
    packets.push({ bytes: adts.subarray(at + 7, at + length), samples: 1_024 });
    at += Math.max(7, length);
  }
  return packets;
}
