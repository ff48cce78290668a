/** Determines format, size and duration of a video without decoding it. */
import { MediaError } from "#shared/children/media-error.ts";

import { createCursor, type Cursor } from "./facts.ts";
import { readMp4Tracks } from "./mp4-tracks.ts";
import { AUDIO, readWebm, VIDEO, webmSeconds } from "./webm-tracks.ts";

export interface VideoFacts {
  readonly format: "mp4" | "webm";
  /** Duration in seconds, counted from the images. A duration in a header is only a claim, and audio may be a little longer. */
  readonly seconds: number;
  /** Displayed size in pixels, after rotation. */
  readonly width: number;
  readonly height: number;
  /** Rotation of the stored images, in degrees clockwise. */
  readonly rotation: 0 | 90 | 180 | 270;
  readonly hasAudio: boolean;
}

/**
 * Probes MP4, QuickTime, WebM and Matroska. Reads only headers and tables, in a limited number of steps, so that the bytes may be a mapped
 * file of any size. Ignores the caller's file name and type.
 * @throws MediaError unsupported (unknown format), corrupt
 */
export function probeVideo(bytes: Uint8Array): VideoFacts {
  const cursor = createCursor(bytes, "video");
  const head = cursor.ascii(0, 8);
  const probe = MP4_START.test(head) ? probeMp4 : head.startsWith("\x1a\x45\xdf\xa3") ? probeWebm : null;
  if (probe === null) {
    throw new MediaError("unsupported", "Expected a video in MP4 or WebM, got another format.");
  }
  try {
    const facts = probe(cursor);
    if (!(facts.width >= 1 && facts.height >= 1)) throw cursor.corrupt("has no frame size");
    if (!Number.isFinite(facts.seconds) || facts.seconds <= 0) throw cursor.corrupt("contains no frames");
    return facts;
  } catch (error) {
    // Reading past the end: the file was truncated within a header.
    if (error instanceof RangeError) throw cursor.corrupt("ends too early");
    throw error;
  }
}

/** Matches the start of an MP4 file: a size and the type of the first box. QuickTime's older files begin without a type box. */
const MP4_START = /^.{4}(?:ftyp|moov|mdat|wide|free|skip)/s;

function probeMp4(cursor: Cursor): VideoFacts {
  const tracks = readMp4Tracks(cursor).filter(({ timescale, samples }) => timescale > 0 && samples > 0);
  const images = tracks.find(({ handler }) => handler === "vide");
  if (images === undefined) throw cursor.corrupt("has no video track");
  const { width, height, rotation } = images;
  const isOnItsSide = rotation === 90 || rotation === 270;
  return {
    format: "mp4",
    seconds: images.ticks / images.timescale,
    width: isOnItsSide ? height : width,
    height: isOnItsSide ? width : height,
    rotation,
    hasAudio: tracks.some(({ handler }) => handler === "soun"),
  };
}

/** Duration of a frame in seconds, if the file does not state its frame rate: 25 frames per second. */
const FRAME_SECONDS = 0.04;

function probeWebm(cursor: Cursor): VideoFacts {
  const content = readWebm(cursor);
  const tracks = content.tracks.filter(({ lastSeconds }) => lastSeconds >= 0);
  const images = tracks.find(({ type }) => type === VIDEO);
  if (images === undefined) throw cursor.corrupt("has no video track");
  return {
    format: "webm",
    seconds: webmSeconds(content, images, FRAME_SECONDS),
    width: images.width,
    height: images.height,
    rotation: 0,
    hasAudio: tracks.some(({ type }) => type === AUDIO),
  };
}
