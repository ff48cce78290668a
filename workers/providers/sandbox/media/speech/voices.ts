/** Maps OpenAI's voice names to flite's speakers, each with its own pitch. */
import { hashText } from "../../random.ts";

import type { FliteCall } from "./flite.ts";

export interface Voice {
  readonly speaker: FliteCall["voice"];
  readonly pitchHz: number;
  /** Factor by which the speaker's own pace is changed; 2 is twice as fast. */
  readonly pace: number;
}

const VOICES: Readonly<Record<string, Omit<Voice, "pace">>> = {
  alloy: { speaker: "slt", pitchHz: 170 },
  ash: { speaker: "rms", pitchHz: 108 },
  ballad: { speaker: "awb", pitchHz: 122 },
  cedar: { speaker: "rms", pitchHz: 96 },
  coral: { speaker: "slt", pitchHz: 195 },
  echo: { speaker: "rms", pitchHz: 120 },
  fable: { speaker: "awb", pitchHz: 145 },
  marin: { speaker: "slt", pitchHz: 180 },
  nova: { speaker: "slt", pitchHz: 205 },
  onyx: { speaker: "rms", pitchHz: 84 },
  sage: { speaker: "slt", pitchHz: 185 },
  shimmer: { speaker: "slt", pitchHz: 225 },
  verse: { speaker: "awb", pitchHz: 110 },
};
const USUAL: Omit<Voice, "pace"> = { speaker: "slt", pitchHz: 170 };

/** Words of `instructions` that change a voice. All other words are ignored. */
const TONES: readonly { readonly keywords: RegExp; readonly pitch: number; readonly pace: number }[] = [
  { keywords: /\b(slow|slowly|calm|gentle|sleepy|sad|solemn)\b/i, pitch: 0.95, pace: 0.85 },
  { keywords: /\b(fast|quick|quickly|excited|hurried|energetic)\b/i, pitch: 1.08, pace: 1.15 },
  { keywords: /\b(deep|low|dark|man|male)\b/i, pitch: 0.85, pace: 1 },
  { keywords: /\b(high|bright|cheerful|happy|child|childlike|woman|female)\b/i, pitch: 1.12, pace: 1 },
];

/** Returns the named voice with the instructions applied. An unknown name always selects the same known voice. */
export function chooseVoice(name = "alloy", instructions = ""): Voice {
  const key = name.toLowerCase();
  const names = Object.keys(VOICES);
  const known = Object.hasOwn(VOICES, key) ? key : (names[hashText(name) % names.length] ?? "");
  const tones = TONES.filter(({ keywords }) => keywords.test(instructions));
  return tones.reduce(
    ({ speaker, pitchHz, pace }, tone) => ({ speaker, pitchHz: pitchHz * tone.pitch, pace: pace * tone.pace }),
    { pace: 1, ...(VOICES[known] ?? USUAL) },
  );
}
