/** The names OpenAI gives its voices, each as one of flite's speakers, a pitch and a size of throat. */
import { hashText } from "../../random.ts";
import type { FliteCall } from "./flite.ts";

export interface Voice {
  readonly speaker: FliteCall["voice"];
  readonly pitchHz: number;
  /** Above 1 the sound is played faster and spoken slower: pitch and formants rise as in a smaller head. */
  readonly size: number;
}

const VOICES = {
  alloy: { speaker: "slt", pitchHz: 170, size: 0.95 },
  ash: { speaker: "rms", pitchHz: 108, size: 1 },
  ballad: { speaker: "awb", pitchHz: 122, size: 0.97 },
  cedar: { speaker: "rms", pitchHz: 96, size: 0.97 },
  coral: { speaker: "slt", pitchHz: 195, size: 1.02 },
  echo: { speaker: "rms", pitchHz: 120, size: 1.05 },
  fable: { speaker: "awb", pitchHz: 145, size: 1.06 },
  marin: { speaker: "slt", pitchHz: 180, size: 0.99 },
  nova: { speaker: "slt", pitchHz: 205, size: 1.06 },
  onyx: { speaker: "rms", pitchHz: 84, size: 0.92 },
  sage: { speaker: "slt", pitchHz: 185, size: 1 },
  shimmer: { speaker: "slt", pitchHz: 225, size: 1.12 },
  verse: { speaker: "awb", pitchHz: 110, size: 1 },
} as const satisfies Record<string, Voice>;

const DEFAULT_VOICE = "alloy";

/** How words of `instructions` bend a voice. Others change nothing: the sandbox has no actor inside. */
const TONES: readonly { readonly words: RegExp; readonly pitch: number; readonly pace: number }[] = [
  { words: /\b(slow|slowly|calm|gentle|sleepy|sad|solemn)\b/i, pitch: 0.95, pace: 0.85 },
  { words: /\b(fast|quick|quickly|excited|hurried|energetic)\b/i, pitch: 1.08, pace: 1.15 },
  { words: /\b(deep|low|dark|man|male)\b/i, pitch: 0.85, pace: 1 },
  { words: /\b(high|bright|cheerful|happy|child|childlike|woman|female)\b/i, pitch: 1.12, pace: 1 },
];

/** A voice bent by instructions, and its pace against normal. A name that is not known always gets the same voice. */
export function chooseVoice(
  name: string | undefined,
  instructions: string | undefined,
): { readonly voice: Voice; readonly pace: number } {
  const names = Object.keys(VOICES).toSorted() as (keyof typeof VOICES)[];
  const known = names.find((candidate) => candidate === (name ?? DEFAULT_VOICE).toLowerCase());
  const base: Voice = VOICES[known ?? names[hashText(name ?? "") % names.length] ?? DEFAULT_VOICE];
  let { pitchHz } = base;
  let pace = 1;
  for (const tone of TONES) {
    if (!tone.words.test(instructions ?? "")) continue;
    pitchHz *= tone.pitch;
    pace *= tone.pace;
  }
  return { voice: { ...base, pitchHz }, pace };
}
