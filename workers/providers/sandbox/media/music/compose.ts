/** Composes music from a prompt and a seed: chords, bass, drums and a melody. Lyrics are spoken over the music. */
import { type AudioFileFormat, encodeAudio } from "#workers/children/audio-encoder.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { createRandom, hashText, type Random } from "../../random.ts";
import type { Flite } from "../speech/flite.ts";
import { cutIntoPieces } from "../speech/pieces.ts";
import { SAMPLE_RATE as SPEECH_RATE, synthesise, upsample } from "../speech/synthesise.ts";
import { chooseVoice } from "../speech/voices.ts";
import { chooseStyle, type Style } from "./styles.ts";
import { addNote, addSound, type DrumName, renderDrum, SAMPLE_RATE, type Stereo } from "./synth.ts";

export interface MusicParams {
  readonly prompt: string;
  readonly lyrics?: string | undefined;
  readonly seconds: number;
  readonly seed: number;
  readonly format: AudioFileFormat;
}

/**
 * Composes music and returns an audio file at 48 kHz with two channels.
 * @param loadVoice loads the speech synthesiser; called only for lyrics
 */
export async function composeMusic(params: MusicParams, loadVoice: () => Promise<Flite>): Promise<Uint8Array> {
  const samples = await musicSamples(params, loadVoice);
  return encodeAudio(params.format, samples, { sampleRate: SAMPLE_RATE, channels: 2 });
}

/**
 * Composes music and returns interleaved samples at 48 kHz, exactly as long as requested.
 * @param loadVoice loads the speech synthesiser; called only for lyrics
 */
async function musicSamples(params: MusicParams, loadVoice: () => Promise<Flite>): Promise<Int16Array> {
  const { prompt, lyrics = "", seconds, seed } = params;
  const text = prompt.slice(0, MEDIA_LIMITS.promptCharactersMax).toLowerCase();
  const score = writeScore(text, createRandom(hashText(text, seed >>> 0)));
  const length = Math.round(seconds * SAMPLE_RATE);
  const mix = { left: new Float32Array(length), right: new Float32Array(length) };
  const hasLyrics = lyrics.trim() !== "";
  playScore(mix, score, seconds, hasLyrics ? LEVEL_UNDER_VOICE : 1);
  addEcho(mix, 0.75 * score.beatSeconds);
  if (hasLyrics) addVoice(mix, await loadVoice(), lyrics, 4 * score.beatSeconds, seconds);
  return master(mix);
}

/** Level of the voice. Also the level of the music under the voice, relative to music alone. */
const VOICE_LEVEL = 0.7;
const LEVEL_UNDER_VOICE = 0.4;

/** Adds an echo. Each channel repeats the other channel, more quietly every time. */
function addEcho({ left, right }: Stereo, delaySeconds: number): void {
  const delay = Math.round(delaySeconds * SAMPLE_RATE);
  for (let at = delay; at < left.length; at += 1) {
    left[at] = (left[at] ?? 0) + 0.2 * (right[at - delay] ?? 0);
    right[at] = (right[at] ?? 0) + 0.2 * (left[at - delay] ?? 0);
  }
}

/** Adds the spoken lyrics. Each line begins with the next bar. Lines that do not fit are omitted, and headings are not spoken. */
function addVoice(mix: Stereo, flite: Flite, lyrics: string, barSeconds: number, seconds: number): void {
  const text = lyrics.slice(0, MEDIA_LIMITS.lyricsCharactersMax).replaceAll(/\[[^\]\n]*\]/g, "\n");
  let start = 0;
  for (const line of cutIntoPieces(text)) {
    if (line.trim() === "") continue;
    if (start >= seconds) return;
    const { samples } = synthesise(flite, line, chooseVoice("nova"), 1);
    const sound = Float32Array.from(upsample(samples, SAMPLE_RATE / SPEECH_RATE, 1), (sample) => sample / 32_768);
    addSound(mix, sound, start, VOICE_LEVEL, 0);
    start = barSeconds * Math.ceil((start + sound.length / SAMPLE_RATE) / barSeconds);
  }
}

/** Target root mean square before limiting. It is about -16 LUFS, the level of streaming services. */
const LEVEL = 0.13;
const PEAK = 0.92;
const FADE_IN_SECONDS = 0.005;
const FADE_OUT_SECONDS = 2;

/** Masters the samples: sets the level, limits peaks softly, and fades in and out. */
function master({ left, right }: Stereo): Int16Array {
  let energy = 0;
  for (let at = 0; at < left.length; at += 1) energy += ((left[at] ?? 0) ** 2 + (right[at] ?? 0) ** 2) / 2;
  const gain = LEVEL / Math.max(1e-6, Math.sqrt(energy / left.length));
  const fadeIn = FADE_IN_SECONDS * SAMPLE_RATE;
  const fadeOut = Math.min(FADE_OUT_SECONDS * SAMPLE_RATE, left.length / 4);
  const samples = new Int16Array(2 * left.length);
  for (let at = 0; at < left.length; at += 1) {
    const fade = Math.min(1, at / fadeIn, (left.length - 1 - at) / fadeOut);
    samples[2 * at] = Math.round(32_767 * PEAK * fade * Math.tanh(gain * (left[at] ?? 0)));
    samples[2 * at + 1] = Math.round(32_767 * PEAK * fade * Math.tanh(gain * (right[at] ?? 0)));
  }
  return samples;
}

// Renders a score as samples, bar by bar.

const BAR_BEATS = 4;
/** Number of bars of a verse or chorus, and of the introduction without melody and drums. */
const PART_BARS = 8;
const INTRO_BARS = 2;

/** Adds the music of a score to the mix. The last chord lasts until the end. */
function playScore(mix: Stereo, score: Score, seconds: number, gain: number): void {
  const { style, beatSeconds, parts } = score;
  const barCount = Math.max(2, Math.floor(seconds / beatSeconds / BAR_BEATS));
  const hasIntro = barCount >= PART_BARS;
  const drums = Object.entries(style.drums).map(([name, hits]) => ({ hits, sound: renderDrum(name as DrumName) }));
  for (let bar = 0; bar < barCount; bar += 1) {
    const play = notePlayer(mix, score, bar * BAR_BEATS, gain);
    const isLast = bar === barCount - 1;
    const { chords, melody } = parts[Math.floor(bar / PART_BARS) % parts.length] ?? { chords: [], melody: [] };
    const root = isLast ? 0 : (chords[bar % chords.length] ?? 0);
    playChords(play, style, root, isLast);
    playBass(play, style, root, isLast);
    if (isLast || (hasIntro && bar < INTRO_BARS)) continue;
    playMelody(play, root, melody, bar % 2);
    for (const { hits, sound } of drums) {
      Array.from(hits).forEach((hit, index) => {
        const start = (bar + index / hits.length) * BAR_BEATS * beatSeconds;
        if (hit !== ".") addSound(mix, sound, start, gain * (hit === "X" ? 0.5 : 0.28), 0);
      });
    }
  }
}

/**
 * Plays a note of one instrument.
 * @param beat within the bar
 * @param step of the scale
 * @param pan -1 left, 1 right
 */
type Play = (part: keyof Style["tones"], beat: number, beats: number, step: number, pan: number) => void;

const LEVELS = { lead: 0.34, chords: 0.12, bass: 0.24 } as const;
/** Share of a note's length during which the note sounds. */
const HELD = 0.95;

function notePlayer(mix: Stereo, { style, scale, beatSeconds }: Score, barBeat: number, gain: number): Play {
  return (part, beat, beats, step, pan) =>
    addNote(mix, style.tones[part], {
      pitch: pitchOf(scale, step),
      startSeconds: (barBeat + beat) * beatSeconds,
      seconds: beats * beatSeconds * HELD,
      gain: gain * LEVELS[part],
      pan,
    });
}

/**
 * Returns the MIDI number of a step of the scale.
 * @param step of the scale, also below 0 and above 6
 */
function pitchOf(scale: readonly number[], step: number): number {
  const octave = Math.floor(step / 7);
  return (scale[step - 7 * octave] ?? 0) + 12 * octave;
}

/** Returns the beats of a bar with their lengths. The last bar is one beat with the length of two bars. */
function struck(beats: readonly number[], isLast: boolean): { readonly beat: number; readonly beats: number }[] {
  if (isLast) return [{ beat: 0, beats: 2 * BAR_BEATS }];
  return beats.map((beat, index) => ({ beat, beats: (beats[index + 1] ?? BAR_BEATS) - beat }));
}

function playChords(play: Play, { beats, chord }: Style, root: number, isLast: boolean): void {
  for (const { beat, beats: length } of struck(beats.chords, isLast)) {
    chord.forEach((step, voice) => play("chords", beat, length, root + step, 0.5 - 0.35 * voice));
  }
}

/** Plays the bass of a bar. It stays on the root under chords of three notes, and walks under chords of four. */
function playBass(play: Play, { beats, chord }: Style, root: number, isLast: boolean): void {
  struck(beats.bass, isLast).forEach(({ beat, beats: length }, index) => {
    play("bass", beat, length, root - 7 + (chord.length > 3 ? (chord[index] ?? 0) : 0), 0);
  });
}

/**
 * Plays one bar of the melody, which has two bars.
 * @param half bar of the melody to play: 0 for the first, 1 for the second
 */
function playMelody(play: Play, root: number, melody: readonly MelodyNote[], half: number): void {
  for (const { beat, beats, step } of melody) {
    if (Math.floor(beat / BAR_BEATS) === half) play("lead", beat % BAR_BEATS, beats, root + 7 + step, -0.15);
  }
}

// Score of a piece of music: tempo, key, chords and melody, from a prompt and a seed.

interface Score {
  readonly style: Style;
  readonly beatSeconds: number;
  /** MIDI numbers of the seven notes of the scale. */
  readonly scale: readonly number[];
  /** Verse and chorus. Each has a chord for each of four bars, and a melody of two bars that follows the chords. */
  readonly parts: readonly { readonly chords: readonly number[]; readonly melody: readonly MelodyNote[] }[];
}

interface MelodyNote {
  /** Beat at which the note begins, within the melody's two bars, from 0 to 8. */
  readonly beat: number;
  readonly beats: number;
  /** Pitch of the note, in steps of the scale above the chord's root. */
  readonly step: number;
}

type Choice = readonly [readonly number[], ...(readonly number[])[]];

const MAJOR = [0, 2, 4, 5, 7, 9, 11];
const MINOR = [0, 2, 3, 5, 7, 8, 10];
/** Progressions of chord roots. A root is a step of the scale. */
const PROGRESSIONS: Choice = [
  [0, 4, 5, 3],
  [5, 3, 0, 4],
  [0, 5, 3, 4],
  [0, 3, 1, 4],
  [3, 4, 2, 5],
];
/** Rhythms of a bar. The numbers are the beats on which notes begin. */
const RHYTHMS: Choice = [
  [0, 1, 2, 3],
  [0, 1.5, 2, 3],
  [0, 0.5, 1, 2, 3.5],
  [0, 1, 1.5, 2.5],
  [0, 2, 2.5, 3],
];

/**
 * Chooses style, tempo, key, chords and melody from the prompt and the seed.
 * @param text prompt in lower case
 */
function writeScore(text: string, random: Random): Score {
  const style = chooseStyle(text, random);
  const [slowest, fastest] = style.tempo;
  const tempo = Number(/\b(\d{2,3}) ?bpm\b/.exec(text)?.[1] ?? slowest + random.below(fastest - slowest + 1));
  const minorPercent = /\b(sad|dark|minor|melancholic)\b/.test(text) ? 100 : style.minorPercent;
  const isMinor = random.below(100) < (/\b(happy|cheerful|major|bright)\b/.test(text) ? 0 : minorPercent);
  const tonic = 52 + random.below(9);
  return {
    style,
    beatSeconds: 60 / Math.max(40, Math.min(220, tempo)),
    scale: (isMinor ? MINOR : MAJOR).map((interval) => tonic + interval),
    parts: [0, 1].map(() => ({ chords: random.pick(PROGRESSIONS), melody: writeMelody(random) })),
  };
}

/** Writes a melody. The first and third beat have notes of the chord; the notes between them go up or down. */
function writeMelody(random: Random): MelodyNote[] {
  const starts = [0, 4].flatMap((bar) => random.pick(RHYTHMS).map((beat) => bar + beat));
  let step = 0;
  return starts.map((beat, index) => {
    step = beat % 2 === 0 ? random.pick([0, 2, 4, 7]) : step + random.pick([-1, 1]);
    return { beat, beats: (starts[index + 1] ?? 8) - beat, step };
  });
}
