/** Lyrics on a score: which word is sung when, for how long and how high. Times in beats. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { createRandom } from "../../random.ts";
import { spell } from "../speech/pieces.ts";
import type { Bar } from "./events.ts";
import { MOVES, nextPitch } from "./melody.ts";
import type { Style } from "./style.ts";

export interface SungWord {
  /** In letters that the synthesiser reads. */
  readonly text: string;
  readonly syllables: number;
  readonly beat: number;
  readonly beats: number;
  readonly pitch: number;
}

/** A line is at most this many words; longer ones are cut at a comma or anywhere. */
const LINE_WORDS_MAX = 10;
/** The longest words there are have about so many letters; flite takes minutes over thousands. */
const WORD_LETTERS_MAX = 40;
/** What a syllable may last, in beats, and the least in seconds: faster, nobody follows. */
const UNITS = [1, 0.5, 1 / 3, 0.25];
const SYLLABLE_SECONDS_MIN = 0.13;
/** A breath between two lines. */
const BREATH_BEATS = 0.5;

/** @param centre the pitch around which the voice lies. @param seed decides the tune */
export function setLyrics(
  lyrics: string,
  bars: readonly Bar[],
  { beatsPerBar, key }: Style,
  beatSeconds: number,
  centre: number,
  seed: number,
): SungWord[] {
  const lines = linesOf(lyrics);
  const sung: SungWord[] = [];
  // Two bars a line, or one where there is more to sing than that leaves room for.
  const open = bars.filter(({ part }) => part.kind === "verse" || part.kind === "chorus");
  const barsPerLine = lines.length > open.length / 2 || beatsPerBar * beatSeconds > 3 ? 1 : 2;
  slotsOf(open, barsPerLine).forEach((slot, index) => {
    const line = lines[index % Math.max(1, lines.length)];
    if (line === undefined) return;
    const slotBeats = slot.bars * beatsPerBar - BREATH_BEATS;
    const syllables = line.reduce((sum, word) => sum + word.syllables, 0);
    const unit = UNITS.find((beats) => syllables * beats <= slotBeats) ?? slotBeats / syllables;
    const beatsEach = Math.max(unit, SYLLABLE_SECONDS_MIN / beatSeconds);
    // Two tunes in turn, as lines that rhyme have.
    const random = createRandom(seed + (index % 2));
    let pitch = centre;
    let { beat } = slot;
    for (const word of line) {
      const beats = word.syllables * beatsEach;
      if (beat + beats > slot.beat + slotBeats + 0.01) break;
      const { chord } = open.findLast((bar) => bar.beat <= beat + 0.01) ?? slot;
      pitch = nextPitch(key, chord, centre, pitch, random.pick(MOVES), beats >= 1 || Number.isInteger(beat));
      sung.push({ ...word, beat, beats, pitch });
      beat += beats;
    }
  });
  return sung;
}

interface Slot extends Pick<Bar, "beat" | "chord"> {
  readonly bars: number;
}

/** Bars that follow each other in one part, so many at a time. */
function slotsOf(bars: readonly Bar[], barsPerLine: number): Slot[] {
  return bars.flatMap(({ part, index, beat, chord }) =>
    index % barsPerLine === 0 ? [{ beat, chord, bars: Math.min(barsPerLine, part.bars - index) }] : [],
  );
}

/** Headings such as "[Chorus]" are not sung. */
function linesOf(lyrics: string): Pick<SungWord, "text" | "syllables">[][] {
  return lyrics
    .slice(0, MEDIA_LIMITS.lyricsCharactersMax)
    .replaceAll(/\[[^\]\n]*\]/g, "\n")
    .split(/[\n.!?;]+/)
    .flatMap((line) => cutLong(line.split(/\s+/).filter((word) => word !== "")))
    .map((words) =>
      words.flatMap((word) => {
        const text = spell(word.slice(0, WORD_LETTERS_MAX).replaceAll(/[,:()"]/g, ""));
        return text === "" ? [] : [{ text, syllables: syllablesOf(text) }];
      }),
    )
    .filter((words) => words.length > 0);
}

function cutLong(words: readonly string[]): string[][] {
  const lines: string[][] = [];
  let line: string[] = [];
  for (const word of words) {
    line.push(word);
    const isFull = line.length >= LINE_WORDS_MAX || (word.endsWith(",") && line.length >= LINE_WORDS_MAX / 2);
    if (!isFull) continue;
    lines.push(line);
    line = [];
  }
  if (line.length > 0) lines.push(line);
  return lines;
}

/** Groups of vowels, without a silent e. */
function syllablesOf(text: string): number {
  const groups = text.toLowerCase().match(/[aeiouy]+/g)?.length ?? 1;
  const isSilent = /[^aeiouyl]e$/i.test(text) && groups > 1;
  return Math.max(1, groups - (isSilent ? 1 : 0));
}
