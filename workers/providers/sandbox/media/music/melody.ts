/** A tune: a motif of two bars that is repeated, varied and brought home, over whatever the harmony is. */
import { createRandom, hashText, type Random } from "../../random.ts";
import type { Bar, NoteEvent } from "./events.ts";
import type { PartKind } from "./form.ts";
import { RHYTHMS } from "./patterns.ts";
import type { Style } from "./style.ts";
import { nearest, pitchOf, type Chord, type Key } from "./theory.ts";

/** Where the tune of a part lies, and the furthest it goes from there. */
const CENTRES: Readonly<Record<PartKind, number>> = { intro: 69, verse: 69, chorus: 73, bridge: 71, outro: 68 };
const REACH = 7;
/** One bar in four of a phrase: first idea, second, first again, an ending. */
const PHRASE_BARS = 4;

/** Steps up and down the scale, one for each note of a bar. */
interface Idea {
  readonly lengths: readonly number[];
  readonly moves: readonly number[];
}

/** Each kind of part has one tune, so that a chorus is known again. */
export function composeMelody(style: Style, bars: readonly Bar[], seed: number): NoteEvent[] {
  const ideas = new Map<PartKind, readonly Idea[]>();
  const notes: NoteEvent[] = [];
  let pitch: number = CENTRES.verse;
  for (const bar of bars) {
    const { kind } = bar.part;
    const tune = ideas.get(kind) ?? inventTune(style, createRandom(hashText(kind, seed)));
    ideas.set(kind, tune);
    const isLast = bar.index === bar.part.bars - 1;
    // What comes back begins where it began before.
    if (bar.index === 0) pitch = CENTRES[kind];
    const idea = tune[isLast ? PHRASE_BARS - 1 : bar.index % PHRASE_BARS];
    if (idea === undefined) continue;
    let eighth = 0;
    idea.lengths.forEach((length, index) => {
      const eighths = Math.abs(length);
      if (length > 0) {
        const isHeavy = eighth === 0 || eighth === 4 || eighths >= 4;
        pitch = nextPitch(style.key, bar.chord, CENTRES[kind], pitch, idea.moves[index] ?? 0, isHeavy);
        const velocity = eighth === 0 ? 0.85 : eighth % 2 === 0 ? 0.75 : 0.65;
        const note = { player: "lead", beat: bar.beat + eighth / 2, beats: (eighths / 2) * 0.94 } as const;
        notes.push({ ...note, pitch, velocity });
        if (kind === "chorus" && !style.isJazz && eighths >= 2) {
          notes.push({ ...note, pitch: nearest(bar.chord.classes, pitch - 4.2), velocity: velocity * 0.5 });
        }
      }
      eighth += eighths;
    });
  }
  return notes;
}

function inventTune({ beatsPerBar, liveliness }: Style, random: Random): Idea[] {
  const rhythms = RHYTHMS[beatsPerBar];
  const idea = (pool: readonly (readonly number[])[]): Idea => {
    const lengths = pool[random.below(pool.length)] ?? [];
    return { lengths, moves: lengths.map(() => random.pick(MOVES)) };
  };
  const isLively = (chance: number): boolean => random.below(100) < chance * 100;
  const first = idea(isLively(1.8 * liveliness) ? rhythms.lively : rhythms.calm);
  const second = idea(isLively(1.2 * liveliness) ? rhythms.lively : rhythms.calm);
  return [first, second, first, idea(rhythms.ending)];
}

/** Steps of the scale: mostly small ones, and seldom none. */
export const MOVES: readonly [number, ...number[]] = [-3, -2, -2, -1, -1, 0, 1, 1, 1, 2, 2, 3, 4];

/** Where it weighs a note of the chord, elsewhere one of the scale; far from the centre it turns back. */
export function nextPitch(
  key: Key,
  chord: Chord,
  centre: number,
  before: number,
  move: number,
  isHeavy: boolean,
): number {
  const away = before - centre;
  const turned = Math.abs(away) >= REACH && Math.sign(away) === Math.sign(move) ? -move : move;
  const scale = Array.from({ length: 7 }, (_, step) => pitchOf(key, step) % 12);
  let pitch = nearest(scale, before);
  for (let step = 0; step < Math.abs(turned); step += 1) {
    const direction = Math.sign(turned);
    pitch += direction;
    while (!scale.includes(((pitch % 12) + 12) % 12)) pitch += direction;
  }
  const near = Math.max(centre - REACH - 2, Math.min(centre + REACH + 2, pitch));
  return nearest(isHeavy ? chord.classes : scale, near);
}
