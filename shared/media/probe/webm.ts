/** Sound in WebM and Matroska. */
import { corrupt, facts, type AudioFacts, type Cursor } from "./facts.ts";
import { readWebm, webmSeconds } from "./webm-tracks.ts";

const SOUND = 2;
const BLOCK_SECONDS = 0.02;

export function probeWebm(cursor: Cursor): AudioFacts {
  const content = readWebm(cursor);
  const sounds = content.tracks.filter(({ type }) => type === SOUND);
  const [first] = sounds;
  const last = sounds.toSorted((one, other) => other.lastSeconds - one.lastSeconds)[0];
  if (first === undefined || last === undefined || last.lastSeconds < 0) throw corrupt("has no track of sound");
  return facts("webm", webmSeconds(content, last, BLOCK_SECONDS), first.sampleRate, first.channels);
}
