/** A spoken voice made to sing: what it says shapes a tone of the pitch that is wanted, band by band. */

const BANDS = 22;
const LOWEST_HERTZ = 130;
const HIGHEST_HERTZ = 9_500;
/** How fast the bands follow the voice. */
const FOLLOW_SECONDS = 0.008;
/** Hiss in the tone, without which there is no s and no t. */
const HISS = 0.28;
/** A saw falls with its partials, and so does a voice: this much of one of the two is taken back. */
const LIFT = 0.8;

/**
 * @param voice from -1 to 1
 * @param hertz of each sample; what lies between two words glides
 */
export function sing(voice: Float32Array, hertz: Float32Array, sampleRate: number): Float32Array {
  const carrier = createCarrier(hertz, sampleRate);
  const output = new Float32Array(voice.length);
  const follow = 1 - Math.exp(-1 / (FOLLOW_SECONDS * sampleRate));
  for (let band = 0; band < BANDS; band += 1) {
    const centre = LOWEST_HERTZ * (HIGHEST_HERTZ / LOWEST_HERTZ) ** (band / (BANDS - 1));
    addBand(output, voice, carrier, 2 * Math.PI * (centre / sampleRate), follow, (centre / LOWEST_HERTZ) ** LIFT);
  }
  return output;
}

/** A saw, softened at its jump, and some noise. */
function createCarrier(hertz: Float32Array, sampleRate: number): Float32Array {
  const carrier = new Float32Array(hertz.length);
  let phase = 0;
  let state = 12_345;
  for (let at = 0; at < hertz.length; at += 1) {
    const step = (hertz[at] ?? 0) / sampleRate;
    phase += step;
    if (phase >= 1) phase -= 1;
    let value = 2 * phase - 1;
    // A parabola on both sides of the jump: without it high tones fold back.
    if (phase < step) value += (phase / step - 1) ** 2;
    else if (phase > 1 - step) value -= ((phase - 1) / step + 1) ** 2;
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    carrier[at] = value + (HISS * state) / 2 ** 31;
  }
  return carrier;
}

/** Narrow enough that 22 of them side by side leave no gap and hardly overlap. */
const SHARPNESS = 5;
/** Tone in the voice, far below hearing: numbers that fade without end in the filters would be ten times as slow. */
const FLOOR = 1e-9;

/**
 * A band pass of constant peak (Bristow-Johnson's cookbook), twice over the voice and twice over the tone, all in one
 * loop: as four it took longer.
 */
function addBand(
  output: Float32Array,
  voice: Float32Array,
  carrier: Float32Array,
  angle: number,
  follow: number,
  weight: number,
): void {
  const alpha = Math.sin(angle) / (2 * SHARPNESS);
  const gain = alpha / (1 + alpha);
  const first = (2 * Math.cos(angle)) / (1 + alpha);
  const second = -(1 - alpha) / (1 + alpha);
  let level = 0;
  // Of each signal the last two values: 1 is the newer.
  let [voice1, voice2, heardOnce1, heardOnce2, heard1, heard2] = [0, 0, 0, 0, 0, 0];
  let [tone1, tone2, madeOnce1, madeOnce2, made1, made2] = [0, 0, 0, 0, 0, 0];
  for (let at = 0; at < output.length; at += 1) {
    const tone = carrier[at] ?? 0;
    const spoken = (voice[at] ?? 0) + FLOOR * tone;
    const heardOnce = gain * (spoken - voice2) + first * heardOnce1 + second * heardOnce2;
    const heard = gain * (heardOnce - heardOnce2) + first * heard1 + second * heard2;
    voice2 = voice1;
    voice1 = spoken;
    heardOnce2 = heardOnce1;
    heardOnce1 = heardOnce;
    heard2 = heard1;
    heard1 = heard;
    level += follow * (Math.abs(heard) - level);
    const madeOnce = gain * (tone - tone2) + first * madeOnce1 + second * madeOnce2;
    const made = gain * (madeOnce - madeOnce2) + first * made1 + second * made2;
    tone2 = tone1;
    tone1 = tone;
    madeOnce2 = madeOnce1;
    madeOnce1 = madeOnce;
    made2 = made1;
    made1 = made;
    output[at] = (output[at] ?? 0) + made * level * weight;
  }
}
