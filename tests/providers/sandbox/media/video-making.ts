/** Videos of the sandbox for tests, made in the test's process, and what tests read of them. */
import { expect } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { type Flite, loadFlite } from "#workers/providers/sandbox/media/speech/flite.ts";
import { makeVideo } from "#workers/providers/sandbox/media/video/make.ts";
import type { VideoParams } from "#workers/providers/sandbox/media/video/params.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

import { encoded } from "./video-footage.ts";
import { colourAt, decodePictures, type Picture } from "./video-reading.ts";

/** A second: light on the left, dark on the right, and a bar that goes down. */
const ground = "color=0x404040:s=160x96:r=10:d=1,drawbox=w=80:h=96:color=0xc0c0c0:t=fill[ground]";
export const FRAMES = `${ground};color=white:s=160x10:r=10:d=1[bar];[ground][bar]overlay=y=80*t`;

let footage: Promise<Uint8Array> | undefined;

/** An MP4 of FRAMES, encoded once. */
export function video(): Promise<Uint8Array> {
  return (footage ??= encoded("mp4", FRAMES));
}

/** Difference of brightness between left and right. */
export const contrast = (picture: Picture): number => colourAt(picture, 0.2, 0.5)[0] - colourAt(picture, 0.8, 0.5)[0];

let flite: Promise<Flite> | undefined;

/** A video of foreign bytes, made in this process as a child makes it: a child ends after each of them. */
export async function videoOf(source: "image" | "video", bytes: Uint8Array, params: VideoParams): Promise<Uint8Array> {
  const { directory, remove } = temporaryDirectory();
  try {
    return await makeVideo(
      { ...params, source, directory },
      bytes,
      () => (flite ??= loadFlite()),
      () => {},
    );
  } finally {
    remove();
  }
}

/** Fault of a job that must fail with a MediaError. */
export async function fault(job: Promise<unknown>): Promise<string> {
  const error = await job.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MediaError);
  return (error as MediaError).fault;
}

export function at(pictures: readonly Picture[], index: number): Picture {
  const picture = pictures.at(index);
  if (picture === undefined) throw new Error(`no frame ${index}`);
  return picture;
}

export async function firstFrame(job: Promise<Uint8Array>): Promise<Picture> {
  return at(await decodePictures(await job), 0);
}

export const SAMPLE_RATE = 48_000;
