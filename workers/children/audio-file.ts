/** Sound in two channels as a file of any of the usual kinds. Speech, in one and with its marker, has its own writers. */
import { createHash } from "node:crypto";

import { openAudioEncoder, type AudioCodec, type AudioPacket } from "./audio-encoder.ts";
import { createOggWriter, opusTags } from "./ogg.ts";

export const AUDIO_FILE_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
export type AudioFileFormat = (typeof AUDIO_FILE_FORMATS)[number];

const CHANNELS = 2;
/** All are at this rate, which every codec has. */
const SAMPLE_RATE = 48_000;

/**
 * @param samples left and right in turn, at 48 kHz
 * @throws MediaError failed, where no binary of FFmpeg is installed for this system
 */
export async function writeAudioFile(format: AudioFileFormat, samples: Int16Array): Promise<Uint8Array> {
  switch (format) {
    case "pcm":
      return pcmBytes(samples);
    case "wav":
      return joined([wavHeader(2 * samples.length), pcmBytes(samples)]);
    default: {
      const { setup, packets } = await encode(format, samples);
      return WRITERS[format](setup, packets, samples);
    }
  }
}

/** Bare packets of one of the codecs. */
export async function encode(
  codec: AudioCodec,
  samples: Int16Array,
): Promise<{ readonly setup: Uint8Array; readonly packets: readonly AudioPacket[] }> {
  const encoder = await openAudioEncoder(codec, SAMPLE_RATE, CHANNELS);
  const packets = encoder.push(samples);
  packets.push(...encoder.end());
  return { setup: encoder.setup, packets };
}

type Writer = (setup: Uint8Array, packets: readonly AudioPacket[], samples: Int16Array) => Uint8Array;

const WRITERS: Readonly<Record<AudioCodec, Writer>> = {
  mp3: (_setup, packets, samples) => joined([infoFrame(packets, samples.length / CHANNELS), ...bytesOf(packets)]),
  aac: (_setup, packets) => joined(packets.flatMap(({ bytes }) => [adtsHeader(bytes.length), bytes])),
  flac: flacFile,
  opus: opusFile,
};

/** Little-endian, which is what OpenAI calls pcm. */
function pcmBytes(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(2 * samples.length);
  const view = new DataView(bytes.buffer);
  samples.forEach((sample, index) => view.setInt16(2 * index, sample, true));
  return bytes;
}

function wavHeader(dataBytes: number): Uint8Array {
  const head = new Uint8Array(44);
  const view = new DataView(head.buffer);
  const frameBytes = 2 * CHANNELS;
  head.set(ascii("RIFF"));
  view.setUint32(4, 36 + dataBytes, true);
  head.set(ascii("WAVEfmt "), 8);
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, CHANNELS, true);
  view.setUint32(24, SAMPLE_RATE, true);
  view.setUint32(28, frameBytes * SAMPLE_RATE, true);
  view.setUint16(32, frameBytes, true);
  view.setUint16(34, 16, true);
  head.set(ascii("data"), 36);
  view.setUint32(40, dataBytes, true);
  return head;
}

const MP3_FRAME_SAMPLES = 1_152;
/** Silence that LAME puts before the sound, without what every decoder adds. */
const LAME_DELAY_SAMPLES = 576;
/** Of the tag, up to its own checksum. */
const INFO_BYTES = 190;

/**
 * A first frame of silence that tells how many follow and where in them the sound begins and ends (LAME's "Info" tag):
 * with it a player knows the length to the sample.
 */
function infoFrame(packets: readonly AudioPacket[], samples: number): Uint8Array {
  const first = packets[0]?.bytes ?? new Uint8Array(4);
  const frame = new Uint8Array(first.length);
  const view = new DataView(frame.buffer);
  // Header, and 32 bytes in which MPEG 1 in stereo says where its bits lie.
  frame.set(first.subarray(0, 4));
  const bytes = packets.reduce((sum, packet) => sum + packet.bytes.length, frame.length);
  const padding = packets.length * MP3_FRAME_SAMPLES - LAME_DELAY_SAMPLES - samples;
  frame.set(ascii("Info"), 36);
  // Frames, bytes, places by hundredths, quality.
  view.setUint32(40, 0xf);
  view.setUint32(44, packets.length);
  view.setUint32(48, bytes);
  for (let index = 0; index < 100; index += 1) frame[52 + index] = Math.floor((256 * index) / 100);
  view.setUint32(152, 100);
  frame.set(ascii("LAME3.100"), 156);
  // Constant bit rate.
  frame[165] = 1;
  frame[177] = LAME_DELAY_SAMPLES >> 4;
  frame[178] = ((LAME_DELAY_SAMPLES & 15) << 4) | (padding >> 8);
  frame[179] = padding & 0xff;
  view.setUint32(184, bytes);
  view.setUint16(INFO_BYTES, crc16(frame.subarray(0, INFO_BYTES)));
  return frame;
}

/** CRC-16 with the polynomial x¹⁶ + x¹⁵ + x² + 1, lowest bit first. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >> 1) ^ ((crc & 1) === 0 ? 0 : 0xa001);
  }
  return crc;
}

/** ISO 13818-7: low complexity, rate number 3 is 48 kHz, and the frame's length in 13 bits. */
function adtsHeader(length: number): Uint8Array {
  const whole = 7 + length;
  return Uint8Array.of(
    0xff,
    0xf1,
    (1 << 6) | (3 << 2),
    (CHANNELS << 6) | (whole >> 11),
    (whole >> 3) & 0xff,
    ((whole & 7) << 5) | 0x1f,
    0xfc,
  );
}

/** STREAMINFO as the encoder knows it at its start, with what only the end knows: length and MD5 of the sound. */
function flacFile(setup: Uint8Array, packets: readonly AudioPacket[], samples: Int16Array): Uint8Array {
  const info = setup.slice(0, 34);
  // 20 bits of rate, 3 of channels, 5 of depth, 36 of length: the lower 32 of it stand alone.
  new DataView(info.buffer).setUint32(14, samples.length / CHANNELS);
  info.set(createHash("md5").update(pcmBytes(samples)).digest(), 18);
  return joined([ascii("fLaC"), Uint8Array.of(0x80, 0, 0, 34), info, ...bytesOf(packets)]);
}

/** Ours are all of 20 ms. */
const OPUS_PACKET_SAMPLES = 960;

function opusFile(setup: Uint8Array, packets: readonly AudioPacket[], samples: Int16Array): Uint8Array {
  const writer = createOggWriter();
  const skipped = new DataView(setup.buffer, setup.byteOffset).getUint16(10, true);
  const end = skipped + samples.length / CHANNELS;
  writer.packet(setup, 0n, { endsPage: true });
  writer.packet(opusTags([]), 0n, { endsPage: true });
  packets.forEach(({ bytes }, index) => {
    const isLast = index === packets.length - 1;
    const position = (index + 1) * OPUS_PACKET_SAMPLES;
    // A page a second; the last one says where the sound really ends.
    const granule = BigInt(isLast ? Math.min(end, position) : position);
    writer.packet(bytes, granule, { isLast, endsPage: index % 50 === 49 });
  });
  return writer.finish();
}

function bytesOf(packets: readonly AudioPacket[]): Uint8Array[] {
  return packets.map(({ bytes }) => bytes);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
