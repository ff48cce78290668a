/** Speech, the words of that speech, and music. */
import { toFile } from "openai";

import type { MediaResults } from "#schemas/generated/types.ts";

import { artifactOf, type Call, textArtifact } from "../call.ts";
import { receiptOf } from "../client.ts";

const SPOKEN = "Good evening. The lamp is lit, the sea is calm, and every ship will find its way home tonight.";

export const speech: Call = {
  name: "speech",
  title: "Speech",
  model: "sandbox-tts",
  async run({ model, client }) {
    const response = await client.sdk.audio.speech.create({
      model,
      input: SPOKEN,
      voice: "nova",
      response_format: "mp3",
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { receipts: [receiptOf(response)], artifacts: [{ file: "speech.mp3", bytes }], text: SPOKEN };
  },
};

export const transcription: Call = {
  name: "transcription",
  title: "Transcription of that speech",
  model: "sandbox-stt",
  async run(stage) {
    const audio = artifactOf(stage, "speech");
    const { data, response } = await stage.client.sdk.audio.transcriptions
      .create({ model: stage.model, file: await toFile(audio.bytes, audio.file), response_format: "json" })
      .withResponse();
    const artifacts = [textArtifact("transcription.txt", data.text)];
    return { receipts: [receiptOf(response)], artifacts, text: data.text };
  },
};

const MUSIC = "a calm waltz for piano and strings";

export const music: Call = {
  name: "music",
  title: "Music",
  model: "sandbox-music",
  async run({ model, client }) {
    const body = { model, prompt: MUSIC, duration: 15, seed: 7, output_format: "mp3" };
    const { body: answer, receipt } = await client.post<MediaResults>("/music/generations", body);
    const fileId = answer.data[0]?.file_id;
    if (fileId === undefined) throw new Error("the answer holds no music");
    const artifacts = [{ file: "music.mp3", bytes: await client.download(fileId) }];
    return { receipts: [receipt], artifacts, fileId, text: MUSIC };
  },
};
