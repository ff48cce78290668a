/** Every note of a piece: harmony first, then who plays what over it. */
import { createRandom, type Random } from "../../random.ts";
import type { Bar, DrumEvent, NoteEvent, Player } from "./events.ts";
import type { Form, PartKind } from "./form.ts";
import { composeMelody } from "./melody.ts";
import { BASS_STEPS, COMPING_STEPS, GROOVES, loudness, type Drum } from "./patterns.ts";
import type { Style } from "./style.ts";
import { chordOn, JAZZ_PROGRESSIONS, nearest, PROGRESSIONS, voice } from "./theory.ts";

export interface Score {
  readonly bars: readonly Bar[];
  readonly notes: readonly NoteEvent[];
  readonly drums: readonly DrumEvent[];
}

/** Who plays in which part, and how loud. */
const PLAYING: Readonly<Record<PartKind, Readonly<Record<Player | "drums", number>>>> = {
  intro: { lead: 0, chords: 0.8, bass: 0.6, pad: 0.8, drums: 0.45 },
  verse: { lead: 0.9, chords: 0.8, bass: 0.9, pad: 0.5, drums: 0.8 },
  chorus: { lead: 1, chords: 1, bass: 1, pad: 0.9, drums: 1 },
  bridge: { lead: 0.8, chords: 0.7, bass: 0.7, pad: 1, drums: 0.35 },
  outro: { lead: 0.5, chords: 0.8, bass: 0.8, pad: 0.8, drums: 0.5 },
};

/** @param hasSinger the melody instrument then plays where nobody sings */
export function writeScore(style: Style, form: Form, seed: number, hasSinger: boolean): Score {
  const random = createRandom(seed);
  const bars = harmonise(style, form, random);
  const melody = composeMelody(style, bars, seed);
  const playing = (bar: Bar, player: Player | "drums"): number => {
    const { kind } = bar.part;
    if (player === "lead" && hasSinger) return kind === "verse" || kind === "chorus" ? 0 : 0.8;
    return PLAYING[kind][player];
  };
  const notes = [
    ...melody.map((note) => ({ ...note, velocity: note.velocity * playing(barAt(bars, note.beat), "lead") })),
    ...writeChords(style, bars, random, playing),
    ...writeBass(style, bars, playing),
  ].filter(({ velocity }) => velocity > 0.02);
  return {
    bars,
    notes: [...notes.map((note) => swung(note, style)), ...lastChord(style, bars, form)],
    drums: writeDrums(style, bars, form, random, playing).map((hit) => swung(hit, style)),
  };
}

type Playing = (bar: Bar, player: Player | "drums") => number;

/** Verse and chorus have each their own four chords, and the same ones whenever they come back. */
function harmonise({ key, isJazz, hasSevenths, beatsPerBar }: Style, { parts, bars }: Form, random: Random): Bar[] {
  const pool = isJazz && key.mode === "major" ? JAZZ_PROGRESSIONS : PROGRESSIONS[key.mode];
  const [home] = PROGRESSIONS[key.mode];
  const verse = random.pick(pool);
  const others = pool.filter((one) => one !== verse);
  const chorus = others[random.below(Math.max(1, others.length))] ?? verse;
  const bridge = others[random.below(Math.max(1, others.length))] ?? home;
  const progressions = { intro: verse, verse, chorus, bridge, outro: verse };
  const flat = parts.flatMap((part) =>
    Array.from({ length: part.bars }, (_, index) => {
      const degrees = progressions[part.kind];
      return { part, index, chord: chordOn(key, degrees[index % degrees.length] ?? 0, hasSevenths) };
    }),
  );
  const tonic = chordOn(key, 0, hasSevenths);
  return flat.map((bar, index) => ({
    ...bar,
    beat: index * beatsPerBar,
    next: index === bars - 1 ? tonic : (flat[index + 1]?.chord ?? tonic),
  }));
}

function barAt(bars: readonly Bar[], beat: number): Bar {
  const length = (bars[1]?.beat ?? Infinity) - (bars[0]?.beat ?? 0);
  const found = bars[Math.min(bars.length - 1, Math.floor(beat / length))] ?? bars[0];
  if (found === undefined) throw new Error("a piece without bars");
  return found;
}

const STEPS_PER_BEAT = 4;
/** Chords lie around this pitch, the bass below. */
const CHORD_CENTRE = 62;
const PAD_CENTRE = 58;
const BASS_CENTRE = 40;
const LEAD_CENTRE = 71;

function writeChords(style: Style, bars: readonly Bar[], random: Random, playing: Playing): NoteEvent[] {
  const { beatsPerBar, comping } = style;
  const notes: NoteEvent[] = [];
  let voicing: number[] = [];
  let padVoicing: number[] = [];
  for (const bar of bars) {
    voicing = voice(bar.chord, voicing, CHORD_CENTRE);
    padVoicing = voice(bar.chord, padVoicing, PAD_CENTRE);
    const loud = playing(bar, "chords");
    const add = (step: number, steps: number, pitch: number, velocity: number): void => {
      notes.push({
        player: "chords",
        beat: bar.beat + step / STEPS_PER_BEAT,
        beats: steps / STEPS_PER_BEAT,
        pitch,
        velocity: velocity * loud * (0.92 + random.below(16) / 100),
      });
    };
    const steps = beatsPerBar * STEPS_PER_BEAT;
    if (style.players.pad !== null) {
      for (const pitch of padVoicing) {
        const velocity = 0.55 * playing(bar, "pad");
        notes.push({ player: "pad", beat: bar.beat, beats: beatsPerBar, pitch, velocity });
      }
    }
    if (comping === "hold") {
      for (const pitch of voicing) add(0, steps, pitch, 0.6);
    } else if (comping === "arpeggio" || comping === "ripple") {
      const ladder = [...voicing, (voicing[0] ?? CHORD_CENTRE) + 12];
      const up = [...ladder, ...ladder.slice(1, -1).toReversed()];
      const stride = comping === "arpeggio" ? 2 : bar.part.kind === "chorus" && style.groove !== null ? 1 : 2;
      for (let step = 0; step < steps; step += stride) {
        const pitch = up[(step / stride) % up.length] ?? CHORD_CENTRE;
        add(step, stride * 2.5, pitch, step === 0 ? 0.85 : 0.66);
      }
    } else {
      const pattern = COMPING_STEPS[comping];
      const isShort = comping === "stabs" || comping === "offbeats" || comping === "comp";
      for (let step = 0; step < steps; step += 1) {
        const velocity = loudness(pattern[step]);
        if (velocity === 0) continue;
        const length = isShort ? 1.5 : stepsToNext(pattern.slice(0, steps), step);
        // A hand across the strings takes its time.
        const spread = comping === "strum" ? 0.06 : 0;
        voicing.forEach((pitch, string) => add(step + spread * string, length, pitch, 0.75 * velocity));
      }
    }
  }
  return notes;
}

/** To the next note of the pattern, or to its end. */
function stepsToNext(pattern: string, step: number): number {
  const after = pattern.slice(step + 1).search(/[^.]/);
  return after < 0 ? pattern.length - step : after + 1;
}

function writeBass({ bassline, beatsPerBar, key }: Style, bars: readonly Bar[], playing: Playing): NoteEvent[] {
  if (bassline === null) return [];
  const notes: NoteEvent[] = [];
  const steps = beatsPerBar * STEPS_PER_BEAT;
  for (const bar of bars) {
    // In an intro and a bridge the bass holds still.
    const isResting = bar.part.kind === "intro" || bar.part.kind === "bridge";
    const pattern = (isResting && bassline !== "walk" ? BASS_STEPS.root : BASS_STEPS[bassline]).slice(0, steps);
    const [rootClass = key.tonic, , fifthClass = 0] = bar.chord.classes;
    const root = nearest([rootClass], BASS_CENTRE);
    const goal = nearest([bar.next.classes[0] ?? key.tonic], root);
    const walk = [
      root,
      nearest(bar.chord.classes, root + 4),
      nearest([fifthClass], root + 6),
      goal > root ? goal - 1 : goal + 1,
    ];
    for (let step = 0; step < steps; step += 1) {
      const sign = pattern[step] ?? ".";
      if (sign === ".") continue;
      const pitch =
        { "5": nearest([fifthClass], root + 5), "8": root + 12, w: walk[step / STEPS_PER_BEAT] }[sign] ?? root;
      notes.push({
        player: "bass",
        beat: bar.beat + step / STEPS_PER_BEAT,
        beats: (stepsToNext(pattern, step) * 0.92) / STEPS_PER_BEAT,
        pitch,
        velocity: (step === 0 ? 0.9 : 0.75) * playing(bar, "bass"),
      });
    }
  }
  return notes;
}

function writeDrums(
  { groove, beatsPerBar }: Style,
  bars: readonly Bar[],
  form: Form,
  random: Random,
  playing: Playing,
): DrumEvent[] {
  if (groove === null) return [];
  const hits: DrumEvent[] = [];
  const steps = beatsPerBar * STEPS_PER_BEAT;
  const patterns = Object.entries(GROOVES[groove]) as [Drum, string][];
  const isLoud = patterns.some(([drum]) => drum === "snare" || drum === "clap");
  for (const bar of bars) {
    const loud = playing(bar, "drums");
    const isLast = bar.index === bar.part.bars - 1;
    if (bar.index === 0 && bar.part.kind === "chorus" && isLoud)
      hits.push({ drum: "crash", beat: bar.beat, velocity: 0.8 });
    for (const [drum, pattern] of patterns) {
      // The quiet parts go without the heavy drums.
      const isHeavy = drum === "kick" || drum === "snare" || drum === "clap" || drum === "timpani";
      if (isHeavy && loud < 0.5 && form.bars >= 8) continue;
      for (let step = 0; step < steps; step += 1) {
        const velocity = loudness(pattern[step]);
        if (velocity === 0) continue;
        const human = 0.92 + random.below(16) / 100;
        hits.push({ drum, beat: bar.beat + step / STEPS_PER_BEAT, velocity: velocity * loud * human });
      }
    }
    if (isLast && bar.part.bars >= 4 && isLoud && bar.part.kind !== "outro") {
      // A fill over the last beat, into the next part.
      const from = bar.beat + beatsPerBar - 1;
      for (const [at, drum] of [
        [0, "snare"],
        [0.25, "snare"],
        [0.5, "tom"],
        [0.75, "tom"],
      ] as const) {
        hits.push({ drum, beat: from + at, velocity: 0.55 + 0.5 * at });
      }
    }
  }
  const end = bars.length * beatsPerBar;
  hits.push({ drum: "kick", beat: end, velocity: 0.9 }, { drum: "crash", beat: end, velocity: 0.55 });
  return hits;
}

/** All come home together, and let it ring. */
function lastChord(style: Style, bars: readonly Bar[], { beatSeconds }: Form): NoteEvent[] {
  const beat = bars.length * style.beatsPerBar;
  const beats = 2.4 / beatSeconds;
  const chord = chordOn(style.key, 0, style.hasSevenths);
  const held = (player: Player, pitches: readonly number[], velocity: number): NoteEvent[] =>
    pitches.map((pitch) => ({ player, beat, beats, pitch, velocity }));
  return [
    ...held("lead", [nearest([style.key.tonic], LEAD_CENTRE)], 0.7),
    ...held("chords", voice(chord, [], CHORD_CENTRE), 0.7),
    ...(style.players.pad === null ? [] : held("pad", voice(chord, [], PAD_CENTRE), 0.5)),
    ...(style.bassline === null ? [] : held("bass", [nearest([style.key.tonic], BASS_CENTRE)], 0.85)),
  ];
}

/** Every second eighth comes later. */
function swung<Event extends { readonly beat: number }>(event: Event, { swing }: Style): Event {
  const part = event.beat % 1;
  const isOff = swing > 0 && Math.abs(part - 0.5) < 0.01;
  return isOff ? { ...event, beat: event.beat + swing / 2 } : event;
}
