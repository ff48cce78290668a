/** Cues of a transcript: the source's own segments, or segments built from its words. */
import type { Transcript } from "../../providers/media.ts";

export type Cue = NonNullable<Transcript["segments"]>[number];
type Word = NonNullable<Transcript["words"]>[number];

/** Most characters of a cue: two lines of subtitles, as broadcasters set them. */
const CHARACTERS_MAX = 84;
/** Longest display time of a cue, in seconds. */
const SECONDS_MAX = 7;
/** Silence that ends a cue, in seconds. */
const PAUSE_SECONDS = 0.8;
/** Shortest cue that the end of a sentence may end, in characters: long enough to read alone, and longer than "Mr.". */
const SENTENCE_CHARACTERS_MIN = 20;
/** Most characters between two words in the text that are skipped to find the next one. */
const SEARCH_CHARACTERS = 80;

const SENTENCE_END = /[.!?…。！？]["'”’»)\]]*\s*$/u;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** Returns the cues in order of time, none without text. Without any times, one cue covers everything from 0 to the end. */
export function cuesOf(transcript: Transcript): readonly Cue[] {
  const { segments = [], words = [], text, seconds = 0 } = transcript;
  const cues =
    segments.length > 0 ? segments : words.length > 0 ? cuesOfWords(words, text) : [{ text, start: 0, end: seconds }];
  return cues.filter((cue) => cue.text.trim() !== "");
}

/** Builds cues from words. Together they contain the whole text, with punctuation that the words may lack. */
function cuesOfWords(words: readonly Word[], text: string): Cue[] {
  const places = placesOf(words, text);
  const found = places.filter((place) => place !== undefined).length;
  return found * 2 >= words.length ? cutText(words, places, text) : joinWords(words);
}

/** Returns the offset of each word in the text; undefined for a word that is written differently there. */
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
    // A cue cannot begin with a word whose offset is unknown.
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

/** True if the cue that begins with word `first` ends before word `next`. */
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
