import { expect, test } from "bun:test";

import type { Modality } from "#schemas/generated/types.ts";
import { KINDS, kindOfModality } from "#shared/calls/kinds/kinds.ts";

/** A modality that is missing here does not compile. */
const MODALITIES: Readonly<Record<Modality, string | undefined>> = {
  text: undefined,
  vision: undefined,
  embedding: undefined,
  image: "images",
  upscale: "image_edits",
  audio: "speech",
  stt: "transcription",
  video: "video",
  music: "music",
  object_3d: "mesh",
};

test("models of each modality of media serve one kind first of all, and each kind about media has a modality", () => {
  const kinds = (Object.keys(MODALITIES) as Modality[]).map((one) => [one, kindOfModality(one)?.name]);
  expect(Object.fromEntries(kinds)).toEqual(MODALITIES);
  const named = Object.values(MODALITIES).filter((name) => name !== undefined);
  expect([...named, "chat", "embeddings"].toSorted()).toEqual(Object.keys(KINDS).toSorted());
});

test("each kind has its own name and its own endpoint", () => {
  for (const [name, kind] of Object.entries(KINDS)) expect(kind.name as string).toBe(name);
  const endpoints = Object.values(KINDS).map(({ endpoint }) => endpoint);
  expect(new Set(endpoints).size).toBe(endpoints.length);
});
