/** Bytes that begin as sound of each format does, for servers that speak. */
import type { SpeechFormat } from "#workers/providers/media.ts";

const HEADS: Readonly<Record<SpeechFormat, string>> = {
  mp3: "ID3\u0004\u0000\u0000\u0000\u0000\u0000\u0000",
  opus: "OggS\u0000\u0002",
  aac: "\u00ff\u00f1\u0050\u0080",
  flac: "fLaC\u0000\u0000\u0000\u0022",
  wav: "RIFF\u00ff\u00ff\u00ff\u00ffWAVEfmt ",
  pcm: "\u0001\u0000\u0002\u0000",
};

/** Makes a sound of its format's head and 64 bytes more. */
export function soundOf(format: SpeechFormat): Buffer {
  return Buffer.concat([Buffer.from(HEADS[format], "latin1"), Buffer.alloc(64, 7)]);
}
