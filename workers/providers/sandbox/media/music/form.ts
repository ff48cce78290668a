/** The course of a piece: its parts in bars, and a tempo at which they fill its length. */

export type PartKind = "intro" | "verse" | "chorus" | "bridge" | "outro";

export interface Part {
  readonly kind: PartKind;
  readonly bars: number;
}

export interface Form {
  readonly parts: readonly Part[];
  readonly bars: number;
  readonly beatSeconds: number;
  /** Where the last chord falls, which then rings until the end. */
  readonly endSeconds: number;
}

/** The last chord rings this long, or this share of a short piece. */
const RING_SECONDS = 2.6;
const RING_SHARE = 0.25;

export function planForm(seconds: number, tempo: number, beatsPerBar: number): Form {
  const endSeconds = seconds - Math.min(RING_SECONDS, RING_SHARE * seconds);
  const bars = Math.max(1, Math.round((endSeconds * tempo) / 60 / beatsPerBar));
  return { parts: planParts(bars), bars, beatSeconds: endSeconds / bars / beatsPerBar, endSeconds };
}

const COURSE: readonly PartKind[] = ["verse", "chorus", "verse", "chorus", "bridge", "chorus"];

/** Parts of 8 bars in a long piece, 4 or 2 in a short one; first and last ones are half as long. */
function planParts(bars: number): Part[] {
  if (bars < 4) return [{ kind: "chorus", bars }];
  const usual = bars >= 28 ? 8 : bars >= 12 ? 4 : 2;
  const intro = bars >= 8 ? usual / 2 : 0;
  const outro = bars >= 16 ? usual / 2 : 0;
  const parts: Part[] = intro > 0 ? [{ kind: "intro", bars: intro }] : [];
  let left = bars - intro - outro;
  for (let turn = 0; left > 0; turn += 1) {
    // Rather a longer part than one of a bar or two.
    const length = left < 1.5 * usual ? left : usual;
    parts.push({ kind: COURSE[turn % COURSE.length] ?? "verse", bars: length });
    left -= length;
  }
  if (outro > 0) parts.push({ kind: "outro", bars: outro });
  return parts;
}
