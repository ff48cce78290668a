/**
 * Three ways of making a note: a wave that is held (bowed, blown, electric), a string that is plucked, a body that is
 * struck. Each is a small model of the real thing, at 48 kHz in one channel, peaking near 1 at full velocity.
 */

export const SAMPLE_RATE = 48_000;

export interface Note {
  readonly hertz: number;
  /** Until it is let go; it sounds on for a while. */
  readonly seconds: number;
  /** 0 to 1: louder notes are brighter too. */
  readonly velocity: number;
}

/** A held wave: two mixtures of partials, a bright one and a dark one, and how the tone goes between them. */
export interface Held {
  readonly kind: "held";
  /** Strength of a partial by its number and its frequency. */
  readonly partial: (number: number, hertz: number) => number;
  /** How much faster the dark mixture's partials fade with their number. */
  readonly darkness: number;
  /** Brightness at the start and later, 0 to 1, and the seconds it takes. */
  readonly brightness: readonly [from: number, to: number, seconds: number];
  /** Cents, one for each voice that plays along. */
  readonly voices: readonly number[];
  /** Seconds, seconds, level after them, seconds. */
  readonly envelope: readonly [attack: number, decay: number, sustain: number, release: number];
  readonly vibrato?: { readonly hertz: number; readonly cents: number; readonly afterSeconds: number };
  /** Noise of breath or bow, as a share. */
  readonly breath?: number;
  /** Over-driven by this factor. */
  readonly drive?: number;
}

export interface Plucked {
  readonly kind: "plucked";
  /** 0 dull, 1 wiry. */
  readonly brightness: number;
  /** Seconds until it has nearly faded, in the middle of its range. */
  readonly ring: number;
  readonly release: number;
}

export interface Struck {
  readonly kind: "struck";
  /** Times the pitch, strength, seconds until it has faded to a third. */
  readonly partials: readonly (readonly [ratio: number, level: number, fade: number])[];
  /** How much sharper than a multiple high partials of a stiff string are. */
  readonly stiffness?: number;
  /** The blow itself, as a share. */
  readonly blow: number;
  readonly release: number;
}

export type Tone = Held | Plucked | Struck;

export function renderTone(tone: Tone, note: Note): Float32Array {
  switch (tone.kind) {
    case "held":
      return renderHeld(tone, note);
    case "plucked":
      return renderPlucked(tone, note);
    default:
      return renderStruck(tone, note);
  }
}

/** Repeatable white noise from -1 to 1. */
export function createNoise(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) | 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  };
}

const TABLE = 2_048;
/** Nothing is made above this; it could not be heard, or would fold back. */
const HERTZ_MAX = 15_000;
const PARTIALS_MAX = 64;
/** Vibrato and brightness are looked at this often. */
const CONTROL_SAMPLES = 32;

function renderHeld(tone: Held, { hertz, seconds, velocity }: Note): Float32Array {
  const [attack, decay, sustain, release] = tone.envelope;
  const output = new Float32Array(Math.ceil((seconds + release) * SAMPLE_RATE));
  const [bright, dark] = [waveTable(tone, hertz, 0), waveTable(tone, hertz, tone.darkness)];
  const [from, to, openingSeconds] = tone.brightness;
  const noise = createNoise(Math.round(hertz * 8));
  const { vibrato, breath = 0, drive = 0 } = tone;
  const held = Math.round(seconds * SAMPLE_RATE);
  const share = 1 / Math.sqrt(tone.voices.length);
  for (const [index, cents] of tone.voices.entries()) {
    const step = (hertz * 2 ** (cents / 1_200) * TABLE) / SAMPLE_RATE;
    // Voices begin at different places of the wave, or they would cancel out as one.
    let phase = (index * TABLE * 0.381_966) % TABLE;
    let bent = step;
    let open = 0;
    for (let at = 0; at < output.length; at += 1) {
      if (at % CONTROL_SAMPLES === 0) {
        const time = at / SAMPLE_RATE;
        open = (to + (from - to) * Math.exp(-time / openingSeconds)) * (0.45 + 0.55 * velocity);
        if (vibrato !== undefined) {
          const depth = Math.max(0, Math.min(1, (time - vibrato.afterSeconds) / 0.3)) * vibrato.cents;
          bent = step * 2 ** ((depth * Math.sin(2 * Math.PI * vibrato.hertz * time)) / 1_200);
        }
      }
      const whole = phase | 0;
      const part = phase - whole;
      const low = (dark[whole] ?? 0) + ((dark[whole + 1] ?? 0) - (dark[whole] ?? 0)) * part;
      const high = (bright[whole] ?? 0) + ((bright[whole + 1] ?? 0) - (bright[whole] ?? 0)) * part;
      output[at] = (output[at] ?? 0) + (low + (high - low) * open) * share;
      phase += bent;
      if (phase >= TABLE) phase -= TABLE;
    }
  }
  let air = 0;
  for (let at = 0; at < output.length; at += 1) {
    const time = at / SAMPLE_RATE;
    const rising = Math.min(1, time / attack);
    const fading = sustain + (1 - sustain) * Math.exp(-Math.max(0, time - attack) / decay);
    const leaving = at < held ? 1 : Math.max(0, 1 - (at - held) / (release * SAMPLE_RATE)) ** 2;
    let value = output[at] ?? 0;
    if (breath > 0) {
      air += 0.25 * (noise() - air);
      value += air * breath;
    }
    if (drive > 0) value = Math.tanh(value * drive);
    output[at] = value * rising * fading * leaving * velocity;
  }
  return output;
}

const tables = new Map<string, Float32Array>();

/** One period, and its first value again at the end. */
function waveTable(tone: Held, hertz: number, darkness: number): Float32Array {
  const partials = Math.max(1, Math.min(PARTIALS_MAX, Math.floor(HERTZ_MAX / hertz)));
  const strengths = Array.from(
    { length: partials },
    (_, index) => tone.partial(index + 1, hertz * (index + 1)) * Math.exp(-darkness * index),
  );
  const name = strengths.map((strength) => strength.toFixed(4)).join();
  const known = tables.get(name);
  if (known !== undefined) return known;
  const table = new Float32Array(TABLE + 1);
  strengths.forEach((strength, index) => {
    if (Math.abs(strength) < 0.000_1) return;
    // Partials that do not all begin at once keep the wave's peaks low.
    const start = 1.7 * index * index;
    const step = (2 * Math.PI * (index + 1)) / TABLE;
    for (let at = 0; at <= TABLE; at += 1) table[at] = (table[at] ?? 0) + strength * Math.sin(step * at + start);
  });
  const energy = Math.sqrt(table.reduce((sum, value) => sum + value * value, 0) / TABLE);
  const gain = energy > 0 ? 0.4 / energy : 0;
  for (let at = 0; at <= TABLE; at += 1) table[at] = (table[at] ?? 0) * gain;
  tables.set(name, table);
  return table;
}

/** After Karplus and Strong: noise that runs round a loop as long as the string, and loses its edge on the way. */
function renderPlucked({ brightness, ring, release }: Plucked, { hertz, seconds, velocity }: Note): Float32Array {
  const output = new Float32Array(Math.ceil((seconds + release) * SAMPLE_RATE));
  const period = SAMPLE_RATE / hertz;
  const length = Math.floor(period - 0.5);
  const part = period - 0.5 - length;
  const line = new Float32Array(length + 1);
  const noise = createNoise(Math.round(hertz * 16));
  // A soft touch is a dull one.
  const edge = 0.15 + 0.85 * brightness * velocity;
  let last = 0;
  for (let at = 0; at <= length; at += 1) {
    last += edge * (noise() - last);
    line[at] = last;
  }
  const loudest = line.reduce((most, value) => Math.max(most, Math.abs(value)), 0.01);
  const middle = line.reduce((sum, value) => sum + value, 0) / line.length;
  for (let at = 0; at <= length; at += 1) line[at] = ((line[at] ?? 0) - middle) / loudest;
  const keep = 10 ** (-3 / (ring * Math.sqrt(220 / hertz) * hertz));
  const blend = 0.5 + 0.45 * brightness;
  const held = Math.round(seconds * SAMPLE_RATE);
  let where = 0;
  let before = 0;
  for (let at = 0; at < output.length; at += 1) {
    const next = where === length ? 0 : where + 1;
    const value = (line[where] ?? 0) * (1 - part) + (line[next] ?? 0) * part;
    const softened = (value * blend + before * (1 - blend)) * keep;
    before = value;
    line[where] = softened;
    where = next;
    const leaving = at < held ? 1 : Math.max(0, 1 - (at - held) / (release * SAMPLE_RATE)) ** 2;
    output[at] = value * leaving * velocity * 0.9;
  }
  return output;
}

function renderStruck(tone: Struck, { hertz, seconds, velocity }: Note): Float32Array {
  const output = new Float32Array(Math.ceil((seconds + tone.release) * SAMPLE_RATE));
  const stiffness = tone.stiffness ?? 0;
  // High notes fade sooner.
  const shorter = Math.min(2, (262 / hertz) ** 0.6);
  for (const [ratio, level, fade] of tone.partials) {
    const frequency = hertz * ratio * Math.sqrt(1 + stiffness * ratio * ratio);
    if (frequency > HERTZ_MAX) continue;
    const decay = Math.exp(-1 / (fade * shorter * SAMPLE_RATE));
    const angle = (2 * Math.PI * frequency) / SAMPLE_RATE;
    // A decaying sine as a recursion of two values.
    const [first, second] = [2 * decay * Math.cos(angle), -decay * decay];
    let newer = 0;
    let older = -level * velocity ** (0.8 + 0.08 * ratio) * Math.sin(angle);
    for (let at = 0; at < output.length; at += 1) {
      const value = first * newer + second * older;
      older = newer;
      newer = value;
      output[at] = (output[at] ?? 0) + value;
    }
  }
  const noise = createNoise(Math.round(hertz * 4));
  const blowLength = Math.min(output.length, Math.round(0.012 * SAMPLE_RATE));
  let dull = 0;
  for (let at = 0; at < blowLength; at += 1) {
    dull += 0.3 * (noise() - dull);
    output[at] = (output[at] ?? 0) + dull * tone.blow * velocity * (1 - at / blowLength);
  }
  const held = Math.round(seconds * SAMPLE_RATE);
  for (let at = 0; at < output.length; at += 1) {
    const leaving = at < held ? 1 : Math.max(0, 1 - (at - held) / (tone.release * SAMPLE_RATE)) ** 2;
    // Not a click at the very start.
    output[at] = (output[at] ?? 0) * leaving * Math.min(1, at / 48);
  }
  return output;
}
