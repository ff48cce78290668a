/** Sound in MP4, M4A, MOV. */
import { corrupt, facts, type AudioFacts, type Cursor } from "./facts.ts";
import { readMp4Tracks, type Mp4Track } from "./mp4-tracks.ts";

const AAC_FRAME = 1_024;

export function probeMp4(cursor: Cursor): AudioFacts {
  const audio = readMp4Tracks(cursor).filter(({ handler, timescale }) => handler === "soun" && timescale > 0);
  const [first] = audio;
  if (first === undefined) throw corrupt("has no track of sound");
  return facts("mp4", Math.max(...audio.map(secondsOf)), first.sampleRate, first.channels);
}

function secondsOf(track: Mp4Track): number {
  const told = track.ticks / track.timescale;
  // Times may be anything; frames of AAC are not.
  return track.codec === "mp4a" && track.sampleRate > 0
    ? Math.max(told, (track.samples * AAC_FRAME) / track.sampleRate)
    : told;
}
