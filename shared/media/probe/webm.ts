/** Determines the duration of audio in WebM and Matroska. */
import { MediaError } from "#shared/children/media-error.ts";

import { aacPacketSeconds } from "./aac-config.ts";
import { corrupt, facts, withGaps, type AudioFacts, type Cursor } from "./facts.ts";
import { flacInfo } from "./flac.ts";
import { ac3Clock, evenClock, flacClock, mpegClock, opusClock, type PacketClock, plainClock } from "./packets.ts";
import { VORBIS_TAIL_BYTES, vorbisClock, vorbisHead } from "./vorbis.ts";
import { readXiph } from "./webm-frames.ts";
import { AUDIO, readWebm, type WebmTrack, webmSeconds } from "./webm-tracks.ts";

const BLOCK_SECONDS = 0.02;

export function probeWebm(cursor: Cursor): AudioFacts {
  const clocks = new Map<WebmTrack, PacketClock>();
  const counted = new Map<WebmTrack, number>();
  const content = readWebm(cursor, (track, at, end) => {
    if (track.type !== AUDIO) return;
    const clock = clocks.get(track) ?? clockOf(cursor, track);
    clocks.set(track, clock);
    counted.set(track, (counted.get(track) ?? 0) + clock(cursor, at, end));
  });
  const audios = content.tracks.filter(({ type }) => type === AUDIO);
  const [first] = audios;
  if (first === undefined || counted.size === 0) throw corrupt("has no audio track");
  // Timestamps may be arbitrary; frames are not.
  const seconds = [...counted].map(([track, all]) => withGaps(webmSeconds(content, track, BLOCK_SECONDS), all));
  return facts("webm", Math.max(...seconds), first.sampleRate, first.channels);
}

/**
 * Returns the clock of a track, which determines the duration of its frames.
 * @throws MediaError `unsupported` for audio whose duration cannot be determined from its frames; `corrupt`
 */
function clockOf(cursor: Cursor, track: WebmTrack): PacketClock {
  const [, make] = CODECS.find(([codec]) => codec.test(track.codec)) ?? [];
  if (make && !track.isPacked) return make(cursor, track);
  throw new MediaError("unsupported", "The audio of this WebM file uses an unsupported codec.");
}

/** Clocks by codec name. A name may have a suffix after a slash. */
const CODECS: readonly (readonly [RegExp, (cursor: Cursor, track: WebmTrack) => PacketClock])[] = [
  [/^A_OPUS\b/, () => opusClock],
  [/^A_VORBIS\b/, vorbis],
  [/^A_MPEG\/L[123]\b/, () => mpegClock],
  [/^A_E?AC3\b/, () => ac3Clock],
  [
    /^A_AAC\b/,
    (cursor, { privateAt, privateEnd, sampleRate }) =>
      evenClock(aacPacketSeconds(cursor, privateAt, privateEnd) ?? 1_024 / sampleRate),
  ],
  [
    /^A_FLAC\b/,
    // After "fLaC" and the header of its first block.
    (cursor, { privateAt, sampleRate }) => flacClock(flacInfo(cursor, privateAt + 8)?.sampleRate || sampleRate),
  ],
  [
    /^A_ALAC\b/,
    ({ view }, { privateAt, privateEnd }) => {
      if (privateEnd - privateAt < 24) throw corrupt("has no ALAC configuration");
      return evenClock(view.getUint32(privateAt) / view.getUint32(privateAt + 20));
    },
  ],
  [/^A_PCM\//, (_cursor, { sampleRate, channels, bits }) => plainClock(sampleRate * channels * bits)],
];

/**
 * Returns the clock of a Vorbis track. Its three headers are laced as in Ogg: their number minus one, the sizes of all but the last, and
 * the headers.
 */
function vorbis(cursor: Cursor, { privateAt, privateEnd }: WebmTrack): PacketClock {
  let at = privateAt + 1;
  const sizes = [0, 1].map(() => {
    const { size, next } = readXiph(cursor, at, privateEnd);
    at = next;
    return size;
  });
  const head = vorbisHead(cursor, at);
  const setup = cursor.bytes.subarray(at + sizes.reduce((sum, size) => sum + size, 0), privateEnd);
  if (head === undefined) throw corrupt("has no Vorbis header");
  return vorbisClock(head, setup.subarray(-VORBIS_TAIL_BYTES));
}
