/** A piece of music from a prompt: style, form, score, sound, file. */
import { writeAudioFile, type AudioFileFormat } from "#workers/children/audio-file.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { createRandom, hashText, type Random } from "../../random.ts";
import type { Flite } from "../speech/flite.ts";
import { planForm, type Form } from "./form.ts";
import { setLyrics } from "./lyrics.ts";
import { interleave, master, measureLoudness } from "./master.ts";
import { add, mixScore, type Bus } from "./mix.ts";
import { reverberate } from "./reverb.ts";
import { writeScore, type Score } from "./score.ts";
import { SINGERS, singWords, type Singer } from "./singer.ts";
import { chooseStyle, type Style } from "./style.ts";

export interface PieceWish {
  readonly prompt: string;
  readonly lyrics?: string | undefined;
  readonly seconds: number;
  readonly seed: number;
}

export interface MusicCall extends PieceWish {
  readonly format: AudioFileFormat;
}

/** @param loadVoice is called where there are words to sing */
export async function composeMusic(call: MusicCall, loadVoice: () => Promise<Flite>): Promise<Uint8Array> {
  const bus = await playPiece(call, loadVoice, "music");
  master(bus.left, bus.right);
  return writeAudioFile(call.format, interleave(bus.left, bus.right));
}

/** The piece before it has its loudness and its end. */
export async function playPiece(
  { prompt, lyrics = "", seconds, seed: wished }: PieceWish,
  loadVoice: () => Promise<Flite>,
  purpose: "music" | "soundtrack",
): Promise<Bus> {
  const text = prompt.slice(0, MEDIA_LIMITS.promptCharactersMax).trim().replaceAll(/\s+/g, " ").toLowerCase();
  const seed = hashText(text, wished >>> 0);
  const random = createRandom(seed);
  const style = chooseStyle(text, random, purpose);
  const form = planForm(seconds, style.tempo, style.beatsPerBar);
  const isSung = lyrics.trim() !== "";
  const score = writeScore(style, form, seed, isSung);
  const bus = mixScore(score, style, form.beatSeconds, seconds);
  if (isSung) addSinger(bus, await loadVoice(), lyrics, seconds, { text, seed, style, form, score, random });
  reverberate(bus, style.hall);
  return bus;
}

interface Piece {
  readonly text: string;
  readonly seed: number;
  readonly style: Style;
  readonly form: Form;
  readonly score: Score;
  readonly random: Random;
}

/** The voice is this much louder than all the rest together, in LU, and the rest this much softer than alone. */
const VOICE_ABOVE_LU = 1.5;
const BAND_WITH_VOICE = 0.8;
/** Of the voice, what goes into the room. */
const VOICE_ROOM = 0.4;

function addSinger(bus: Bus, flite: Flite, lyrics: string, seconds: number, piece: Piece): void {
  const { text, seed, style, form, score, random } = piece;
  const singer = chooseSinger(text, random);
  const words = setLyrics(lyrics, score.bars, style, form.beatSeconds, singer.centre, seed);
  if (words.length === 0) return;
  const voice = singWords(flite, singer, words, form.beatSeconds, seconds);
  for (const channel of [bus.left, bus.right, bus.room]) {
    for (let at = 0; at < channel.length; at += 1) channel[at] = (channel[at] ?? 0) * BAND_WITH_VOICE;
  }
  const difference = measureLoudness(bus.left, bus.right) + VOICE_ABOVE_LU - measureLoudness(voice, voice);
  if (!Number.isFinite(difference)) return;
  add(bus, voice, 0, 10 ** (difference / 20), { pan: 0, room: VOICE_ROOM, width: 0 });
}

function chooseSinger(text: string, random: Random): Singer {
  if (/\b(female|woman|girl|soprano|alto|she|her)\b/.test(text)) return SINGERS.woman;
  if (/\b(male|man|boy|baritone|tenor|deep voice|he|his)\b/.test(text)) return SINGERS.man;
  return random.below(2) === 0 ? SINGERS.woman : SINGERS.man;
}
