/** Pieces of a transcript with their times: as its source made them, or made of its words. */
import type { Transcript } from "../../providers/media.ts";

export type Cue = NonNullable<Transcript["segments"]>[number];
type Word = NonNullable<Transcript["words"]>[number];

/** Two lines of subtitles, as broadcasters set them. */
const CHARACTERS_MAX = 84;
/** Nothing stays on a screen longer. */
const SECONDS_MAX = 7;
/** A silence that ends a piece. */
const PAUSE_SECONDS = 0.8;
/** A sentence ends a piece only when it is not too short to be read alone; "Mr." ends none. */
const SENTENCE_CHARACTERS_MIN = 20;
/** Most characters between two words in the text that are skipped to find the next one. */
const SEARCH_CHARACTERS = 80;

const SENTENCE_END = /[.!?…。！？]["'”’»)\]]*\s*$/u;
/** Scripts that set no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** Pieces in the order of time, none without text. One from 0 to the end where the source gave no times at all. */
export function cuesOf(transcript: Transcript): readonly Cue[] {
  const { segments = [], words = [], text, seconds = 0 } = transcript;
  const cues =
    segments.length > 0 ? segments : words.length > 0 ? cuesOfWords(words, text) : [{ text, start: 0, end: seconds }];
  return cues.filter((cue) => cue.text.trim() !== "");
}

/** Together the pieces are the whole text, with the punctuation that the words may lack. */
function cuesOfWords(words: readonly Word[], text: string): Cue[] {
  const places = placesOf(words, text);
  const found = places.filter((place) => place !== undefined).length;
  return found * 2 >= words.length ? cutText(words, places, text) : joinWords(words);
}

/** Returns the offset of each word in the text; undefined for one that is written differently there. */
function placesOf(words: readonly Word[], text: string): (number | undefined)[] {
  let from = 0;
  return words.map(({ word }) => {
    const within = text.slice(from, from + SEARCH_CHARACTERS + word.length).indexOf(word);
    if (word === "" || within < 0) return undefined;
    const place = from + within;
    from = place + word.length;
    return place;
  });
}

function cutText(words: readonly Word[], places: readonly (number | undefined)[], text: string): Cue[] {
  const cues: Cue[] = [];
  let first = 0;
  let begin = 0;
  for (let next = 1; next <= words.length; next += 1) {
    const place = next === words.length ? text.length : places[next];
    // Before a word that is not found there is no place to cut.
    if (place === undefined) continue;
    const piece = text.slice(begin, place);
    if (next < words.length && !endsPiece(words, first, next, piece)) continue;
    cues.push({ text: piece.trim(), start: words[first]!.start, end: words[next - 1]!.end });
    first = next;
    begin = place;
  }
  return cues;
}

function joinWords(words: readonly Word[]): Cue[] {
  const cues: Cue[] = [];
  let first = 0;
  let piece = "";
  for (const [at, { word, end }] of words.entries()) {
    const isUnspaced = UNSPACED.test(piece.slice(-1)) && UNSPACED.test(word.slice(0, 1));
    piece += piece === "" || isUnspaced ? word : ` ${word}`;
    if (at + 1 < words.length && !endsPiece(words, first, at + 1, piece)) continue;
    cues.push({ text: piece, start: words[first]!.start, end });
    first = at + 1;
    piece = "";
  }
  return cues;
}

/** True if the piece that begins with word `first` ends before word `next`. */
function endsPiece(words: readonly Word[], first: number, next: number, piece: string): boolean {
  const begin = words[first]!;
  const last = words[next - 1]!;
  const coming = words[next]!;
  return (
    coming.start - last.end >= PAUSE_SECONDS ||
    coming.end - begin.start > SECONDS_MAX ||
    piece.trimEnd().length + 1 + coming.word.length > CHARACTERS_MAX ||
    (piece.trimEnd().length >= SENTENCE_CHARACTERS_MIN && SENTENCE_END.test(piece))
  );
}
