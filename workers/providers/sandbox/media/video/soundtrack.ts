/** What is heard with a film: soft music, the sound of the scene, what the prompt has somebody say, or the footage's own. */
import { decodeAudio } from "#workers/children/audio-decoder.ts";
import { MediaError } from "#shared/media/media-error.ts";
import type { VideoFacts } from "#shared/media/probe/video.ts";

import { playPiece } from "../music/compose.ts";
import { interleave, master } from "../music/master.ts";
import { add, type Bus } from "../music/mix.ts";
import { SAMPLE_RATE } from "../music/tones.ts";
import type { Flite } from "../speech/flite.ts";
import { resample } from "../speech/resample.ts";
import { SAMPLE_RATE as SPEECH_RATE, synthesise } from "../speech/synthesise.ts";
import { chooseVoice } from "../speech/voices.ts";
import { addAmbience } from "./ambience.ts";
import type { FilmWish, Script } from "./film.ts";

/** Softer than music that is listened to. */
const LOUDNESS_LUFS = -19;
/** Music under somebody who speaks. */
const UNDER_SPEECH = 0.35;
const SPEECH_STARTS_SECONDS = 0.4;
const SPEECH_CHARACTERS_MAX = 200;

export interface Footage {
  readonly bytes: Uint8Array;
  readonly facts: VideoFacts;
}

/** Left and right in turn at 48 kHz, as long as the film. */
export async function makeSoundtrack(
  wish: FilmWish,
  { text, motif }: Script,
  loadVoice: () => Promise<Flite>,
  footage: Footage | null,
): Promise<Int16Array> {
  const own = footage === null ? null : await ownSound(footage, wish.seconds);
  const bus = own ?? (await playMusic(wish, text, loadVoice));
  if (own === null) addAmbience(bus, motif, wish.seed);
  const quote =
    /\b(?:says?|saying|said|speaks?|whispers?|shouts?|asks?|announces?)\b[^"“”«»]{0,40}["“«]([^"”»]{1,400})["”»]/i.exec(
      text,
    )?.[1];
  if (quote !== undefined) speak(bus, await loadVoice(), quote, text);
  master(bus.left, bus.right, LOUDNESS_LUFS);
  return interleave(bus.left, bus.right);
}

/** A piece needs room for a bar; what is longer than the film is cut off. */
const PIECE_SECONDS_MIN = 5;

async function playMusic({ seconds, seed }: FilmWish, prompt: string, loadVoice: () => Promise<Flite>): Promise<Bus> {
  const piece = { prompt, seed, seconds: Math.max(PIECE_SECONDS_MIN, seconds) };
  const { left, right, room } = await playPiece(piece, loadVoice, "soundtrack");
  const length = seconds * SAMPLE_RATE;
  return { left: left.subarray(0, length), right: right.subarray(0, length), room: room.subarray(0, length) };
}

function speak(bus: Bus, flite: Flite, quote: string, text: string): void {
  const { voice } = chooseVoice(/\b(man|boy|king|father|robot)\b/i.test(text) ? "ash" : "nova", text);
  const { samples } = synthesise(flite, quote.slice(0, SPEECH_CHARACTERS_MAX), voice, 1);
  const floats = Float32Array.from(samples, (sample) => sample / 32_768);
  for (const channel of [bus.left, bus.right]) {
    for (let at = 0; at < channel.length; at += 1) channel[at] = (channel[at] ?? 0) * UNDER_SPEECH;
  }
  const sound = resample(floats, SAMPLE_RATE / SPEECH_RATE);
  add(bus, sound, SPEECH_STARTS_SECONDS, 0.5, { pan: 0, room: 0, width: 0 });
}

/** The footage's sound, from the beginning again where it is shorter; null where it has none that can be read. */
async function ownSound({ bytes, facts }: Footage, seconds: number): Promise<Bus | null> {
  if (!facts.hasSound) return null;
  const decoded = await decodeAudio(bytes, facts.format === "mp4" ? "mov" : "matroska", seconds).catch(
    (error: unknown) => {
      // The pictures may be good all the same.
      if (error instanceof MediaError) return null;
      throw error;
    },
  );
  if (decoded === null) return null;
  const sound = resample(decoded.samples, SAMPLE_RATE / decoded.sampleRate);
  const round = Math.max(1, Math.round(Math.min(facts.seconds, seconds) * SAMPLE_RATE));
  const left = Float32Array.from({ length: Math.round(seconds * SAMPLE_RATE) }, (_, at) => sound[at % round] ?? 0);
  return { left, right: left.slice(), room: new Float32Array(0) };
}
