/** What a score is made of. Times are in beats from the beginning. */
import type { Part } from "./form.ts";
import type { Drum } from "./patterns.ts";
import type { Style } from "./style.ts";
import type { Chord } from "./theory.ts";

export type Player = keyof Style["players"];

export interface NoteEvent {
  readonly player: Player;
  readonly beat: number;
  readonly beats: number;
  readonly pitch: number;
  readonly velocity: number;
}

export interface DrumEvent {
  readonly drum: Drum;
  readonly beat: number;
  readonly velocity: number;
}

export interface Bar {
  readonly part: Part;
  /** Within its part. */
  readonly index: number;
  readonly beat: number;
  readonly chord: Chord;
  /** Of the bar after it: what the bass walks to. */
  readonly next: Chord;
}
