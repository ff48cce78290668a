/** Renders a score as samples, bar by bar. */
import type { MelodyNote, Score } from "./score.ts";
import type { Style } from "./styles.ts";
import { addNote, addSound, renderDrum, type DrumName, type Stereo } from "./synth.ts";

const BAR_BEATS = 4;
/** Number of bars of a verse or chorus, and of the introduction without melody and drums. */
const PART_BARS = 8;
const INTRO_BARS = 2;

/** Adds the piece; its last chord lasts until the end. */
export function playScore(mix: Stereo, score: Score, seconds: number, gain: number): void {
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

/** @param beat within the bar. @param step of the scale. @param pan -1 left, 1 right */
type Play = (part: keyof Style["tones"], beat: number, beats: number, step: number, pan: number) => void;

const LEVELS = { lead: 0.34, chords: 0.12, bass: 0.24 } as const;
/** Share of its beats for which a note sounds. */
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

/** @param step of the scale, also below 0 and above 6 */
function pitchOf(scale: readonly number[], step: number): number {
  const octave = Math.floor(step / 7);
  return (scale[step - 7 * octave] ?? 0) + 12 * octave;
}

/** Returns the beats with their lengths; the last bar is one beat of two bars. */
function struck(beats: readonly number[], isLast: boolean): { readonly beat: number; readonly beats: number }[] {
  if (isLast) return [{ beat: 0, beats: 2 * BAR_BEATS }];
  return beats.map((beat, index) => ({ beat, beats: (beats[index + 1] ?? BAR_BEATS) - beat }));
}

function playChords(play: Play, { beats, chord }: Style, root: number, isLast: boolean): void {
  for (const { beat, beats: length } of struck(beats.chords, isLast)) {
    chord.forEach((step, voice) => play("chords", beat, length, root + step, 0.5 - 0.35 * voice));
  }
}

/** Stays on the root under chords of three notes, and walks under chords of four. */
function playBass(play: Play, { beats, chord }: Style, root: number, isLast: boolean): void {
  struck(beats.bass, isLast).forEach(({ beat, beats: length }, index) => {
    play("bass", beat, length, root - 7 + (chord.length > 3 ? (chord[index] ?? 0) : 0), 0);
  });
}

/** @param half index of the half of the melody's two bars */
function playMelody(play: Play, root: number, melody: readonly MelodyNote[], half: number): void {
  for (const { beat, beats, step } of melody) {
    if (Math.floor(beat / BAR_BEATS) === half) play("lead", beat % BAR_BEATS, beats, root + 7 + step, -0.15);
  }
}
