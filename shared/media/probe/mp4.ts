/** Determines the duration of audio in MP4, M4A and MOV. */
import { MediaError } from "#shared/children/media-error.ts";

import { aacPacketSeconds } from "./aac-config.ts";
import { corrupt, facts, withGaps, type AudioFacts, type Cursor } from "./facts.ts";
import { flacInfo } from "./flac.ts";
import { type Mp4Track, readMp4Tracks } from "./mp4-tracks.ts";
import { ac3Clock, amrClock, flacClock, mpegClock, opusClock, type PacketClock, plainClock } from "./packets.ts";

export function probeMp4(cursor: Cursor): AudioFacts {
  const counted = new Map<Mp4Track, number>();
  const tracks = readMp4Tracks(cursor, (track) => {
    if (track.handler !== "soun" || track.timescale === 0) return undefined;
    const { clock, packetSeconds } = codecOf(cursor, track);
    if (clock === undefined) return undefined;
    const add = (at: number, end: number): void => {
      counted.set(track, (counted.get(track) ?? 0) + clock(cursor, at, end));
    };
    const { uniformBytes, sizes } = track.tables;
    if (packetSeconds === undefined || uniformBytes === 0) return add;
    // Its samples have few bytes each, and their number is the sampling rate.
    add(0, uniformBytes * (sizes?.count ?? 0));
    return undefined;
  });
  const audios = tracks.filter(({ handler, timescale }) => handler === "soun" && timescale > 0);
  const [first] = audios;
  if (first === undefined) throw corrupt("has no audio track");
  const seconds = audios.map((track) => {
    const { packetSeconds = 0 } = codecOf(cursor, track);
    const all = Math.max(counted.get(track) ?? 0, track.samples * packetSeconds);
    // Timestamps may be arbitrary; packets are not.
    return withGaps(track.ticks / track.timescale, all);
  });
  // A rate above 16 bits does not fit the description; the timescale is mostly the same.
  return facts("mp4", Math.max(...seconds), first.sampleRate || first.timescale, first.channels);
}

interface Codec {
  /** Duration of each packet in seconds, if it does not depend on the packet's content. */
  readonly packetSeconds?: number;
  readonly clock?: PacketClock;
}

/** Returns the codec of an audio track. @throws MediaError `unsupported`, for audio whose duration cannot be determined from its packets */
function codecOf(cursor: Cursor, track: Mp4Track): Codec {
  const codec = CODECS.get(track.codec)?.(cursor, track);
  if (codec && track.descriptions === 1) return codec;
  throw new MediaError("unsupported", "The audio of this MP4 file uses an unsupported codec.");
}

const plain =
  (own?: number) =>
  (_cursor: Cursor, track: Mp4Track): Codec => {
    const bits = (own ?? track.bits) * track.channels;
    // QuickTime counts samples of one byte, regardless of their size.
    return { clock: plainClock(bits * rateOf(track)), packetSeconds: 1 / rateOf(track) };
  };
const always = (clock: PacketClock) => (): Codec => ({ clock });

/** Codecs by four-character code: AAC and MP3, Opus, FLAC, ALAC, AC-3, AMR, PCM. */
const CODECS: ReadonlyMap<string, (cursor: Cursor, track: Mp4Track) => Codec> = new Map(
  Object.entries({
    mp4a: mpeg4,
    Opus: always(opusClock),
    fLaC: (cursor, track) => {
      const box = find(cursor, track, "dfLa");
      return { clock: flacClock((box && flacInfo(cursor, box + 8)?.sampleRate) || rateOf(track)) };
    },
    alac: (cursor, track) => {
      const box = find(cursor, track, "alac");
      const packet = box === undefined || box + 28 > cursor.length ? undefined : cursor.view.getUint32(box + 4);
      const rate = packet === undefined ? 0 : cursor.view.getUint32((box ?? 0) + 24);
      return { packetSeconds: packet && rate ? packet / rate : 4_096 / rateOf(track) };
    },
    ".mp3": always(mpegClock),
    "ms\0U": always(mpegClock),
    "ac-3": always(ac3Clock),
    "ec-3": always(ac3Clock),
    samr: always(amrClock(false)),
    sawb: always(amrClock(true)),
    sowt: plain(),
    twos: plain(),
    "raw ": plain(),
    NONE: plain(),
    lpcm: plain(),
    ipcm: plain(),
    fpcm: plain(),
    in24: plain(24),
    in32: plain(32),
    fl32: plain(32),
    fl64: plain(64),
    ulaw: plain(8),
    alaw: plain(8),
  } satisfies Record<string, (cursor: Cursor, track: Mp4Track) => Codec>),
);

function rateOf({ sampleRate, timescale }: Mp4Track): number {
  return sampleRate || timescale;
}

const MPEG_AUDIO = new Set([0x69, 0x6b]);

/** Returns the codec of a track that is AAC, or MP3 under the same code. */
function mpeg4(cursor: Cursor, track: Mp4Track): Codec {
  const { bytes } = cursor;
  const end = Math.min(cursor.length, track.descriptionEnd);
  const box = find(cursor, track, "esds");
  // Nested descriptors: a tag, its length, its content, the next. Identified by their tags alone.
  for (let at = (box ?? end) + 4, isInside = false; at + 2 < end;) {
    const tag = bytes[at] ?? 0;
    do at += 1;
    while (at < end && ((bytes[at] ?? 0) & 0x80) !== 0);
    at += 1;
    if (tag === 3) {
      const flags = bytes[at + 2] ?? 0;
      at += 3 + ((flags & 0x80) === 0 ? 0 : 2) + ((flags & 0x40) === 0 ? 0 : 1 + (bytes[at + 3] ?? 0));
      at += (flags & 0x20) === 0 ? 0 : 2;
    } else if (tag === 4 && !isInside) {
      if (MPEG_AUDIO.has(bytes[at] ?? 0)) return { clock: mpegClock };
      isInside = true;
      at += 13;
    } else if (tag === 5) {
      const packetSeconds = aacPacketSeconds(cursor, at, end);
      return packetSeconds === undefined ? { packetSeconds: 1_024 / rateOf(track) } : { packetSeconds };
    } else break;
  }
  return { packetSeconds: 1_024 / rateOf(track) };
}

/** Returns the offset of a box's content in the track's description, at any depth; undefined if it is absent. */
function find(cursor: Cursor, { descriptionAt, descriptionEnd }: Mp4Track, kind: string): number | undefined {
  const end = Math.min(descriptionEnd, descriptionAt + DESCRIPTION_BYTES_MAX);
  const at = cursor.ascii(descriptionAt, end - descriptionAt).indexOf(kind);
  return at < 0 ? undefined : descriptionAt + at + 4;
}

/** Maximum bytes of a sample description that are read. Decoders need no boxes behind them. */
const DESCRIPTION_BYTES_MAX = 1_000;
