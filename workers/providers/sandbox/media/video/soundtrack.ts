/** Soundtrack of a video: the sound of its input or else music, and the prompt's quoted words spoken over it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { fileSource } from "#workers/children/file-source.ts";

import { composeMusic } from "../music/compose.ts";
import type { Flite } from "../speech/flite.ts";
import { speakText } from "../speech/speak.ts";
import type { InputVideo } from "./input-video.ts";
import type { VideoTask } from "./params.ts";

const SAMPLE_RATE = 48_000;
const STEREO = `aformat=sample_fmts=fltp:sample_rates=${SAMPLE_RATE}:channel_layouts=stereo`;
const WORDS_CHARACTERS_MAX = 200;
/** Volume of background music, and of music under speech. */
const MUSIC_VOLUME = 0.6;
const UNDER_SPEECH = 0.3;
const SPEECH_STARTS_MS = 400;

/** @returns a filter chain without its label, exactly as long as the video */
export async function soundtrack(
  task: VideoTask,
  video: InputVideo | null,
  loadVoice: () => Promise<Flite>,
): Promise<string> {
  const samples = task.seconds * SAMPLE_RATE;
  const words = /["“«]([^"”»]+)["”»]/.exec(task.prompt)?.[1]?.trim().slice(0, WORDS_CHARACTERS_MAX);
  const base = video?.hasAudio === true ? ownSound(video) : await music(task, loadVoice);
  const whole = `${base},apad,atrim=end_sample=${samples}`;
  if (words === undefined || words === "") return whole;
  return [
    `${whole},volume=${UNDER_SPEECH}[base]`,
    `${await speech(task, words, loadVoice)}[speech]`,
    `[base][speech]amix=duration=first:normalize=0`,
  ].join(";");
}

/** Repeats the sound if it is shorter than the video. */
function ownSound(video: InputVideo): string {
  return `${fileSource("audio", video, video.times)},${STEREO},asetpts=N/SR/TB`;
}

async function music(
  { prompt, seed, seconds, directory }: VideoTask,
  loadVoice: () => Promise<Flite>,
): Promise<string> {
  const path = join(directory, "music.wav");
  const piece = { prompt, seed, seconds, format: "wav" } as const;
  await writeFile(path, await composeMusic(piece, loadVoice));
  return `${fileSource("audio", { path, container: "wav" })},${STEREO},volume=${MUSIC_VOLUME}`;
}

async function speech({ directory }: VideoTask, text: string, loadVoice: () => Promise<Flite>): Promise<string> {
  const path = join(directory, "speech.wav");
  const parts: Uint8Array[] = [];
  const call = { text, voice: "nova", speed: 1, instructions: undefined, format: "wav", isStreamed: false } as const;
  await speakText(await loadVoice(), call, (bytes) => parts.push(bytes));
  await writeFile(path, Buffer.concat(parts));
  return `${fileSource("audio", { path, container: "wav" })},${STEREO},adelay=${SPEECH_STARTS_MS}:all=1`;
}
