/** Limits of the sandbox's media work, with the unit in the name and the reason in the comment. */
import { MediaError } from "#shared/children/media-error.ts";

export const MEDIA_LIMITS = {
  /** Two cores are sufficient for test models; each child uses 60 to 300 MB. */
  childrenMax: 2,
  /** Jobs that wait. At half a second each, the last one is served before clients time out. */
  queueMax: 64,
  /** The longest text at the lowest speed takes about 20 s of one core, and cores are shared. */
  jobMs: 90_000,
  /** A running child responds 100 ms sooner than a new one. */
  idleMs: 10_000,
  /**
   * Address space instead of memory: a WebAssembly memory reserves gigabytes, and is ten times slower without them (measured: 3 GB 4.5 s,
   * 16 GB 0.5 s for ten seconds of speech).
   */
  childAddressSpaceBytes: 16_000_000_000,
  /** Memory in use, and its polling interval while a job runs. An edit of the largest image takes 550 MB, three minutes of song 750 MB. */
  childMemoryBytesMax: 1_536 * 1_048_576,
  childWatchMs: 200,
  /** A child is replaced after half of it, which is more than the longest job takes. */
  childProcessorSeconds: 600,
  childJobsMax: 100,
  childResidentBytesMax: 700 * 1_048_576,
  /** Largest side of a generated image: 16.8 million pixels are 67 MB before encoding. */
  imageSideMaxPixels: 4_096,
  /** Pixels of an input image: a phone camera has 24 million, 100 MB decoded. */
  sourcePixelsMax: 25_000_000,
  sourceSideMaxPixels: 16_384,
  sourceBytesMax: 50 * 1_048_576,
  imageSeconds: 30,
  /** Characters from the start of a prompt that are searched for words. */
  promptCharactersMax: 8_000,
  /** Mesh to transform, as exported by generators and scanners; its JSON is small compared to its vertices. */
  meshBytesMax: 50 * 1_048_576,
  meshJsonBytesMax: 4 * 1_048_576,
  /** Displayed vertices and triangles; a mesh that is used ten times counts ten times. */
  meshVerticesMax: 1_000_000,
  meshTrianglesMax: 1_000_000,
  /** Entries of each list of a mesh to transform, and depth of its node hierarchy. */
  meshEntriesMax: 10_000,
  meshNodeDepthMax: 64,
  /** Pieces of one material each in a mesh to transform. */
  meshPiecesMax: 2_000,
  /** All accessors of a mesh to transform together, decoded. */
  meshNumbersBytesMax: 192 * 1_048_576,
  /** Images of a mesh to transform, and their total pixels: sixteen of 2,048 × 2,048. */
  meshImagesMax: 64,
  meshPixelsMax: 67_108_864,
  /** Parts of a segmented mesh; more cannot be distinguished by colour. */
  meshSegmentsMax: 48,
  /** A generated video: 30 s of 1080p at 21:9 take about 30 s of one core, and cores are shared. */
  videoJobMs: 240_000,
  videoSecondsMax: 30,
  videoSideMinPixels: 64,
  videoSideMaxPixels: 2_560,
  videoPixelsMax: 2_520 * 1_080,
  /** Frames of an input video up to 4K; decoders buffer up to 16 frames of 12 MB each. */
  sourceVideoPixelsMax: 4_096 * 2_304,
  sourceVideoSideMaxPixels: 4_096,
  sourceVideoBytesMax: 100 * 1_048_576,
  /** Composed music: three minutes with lyrics take about 7 s of one core. */
  musicSecondsMin: 3,
  musicSecondsMax: 180,
  /** Characters of lyrics that are read; more cannot be spoken in three minutes. */
  lyricsCharactersMax: 8_000,
  /** Limit of the speech endpoint in the spec. */
  speechCharactersMax: 4_096,
  speedMin: 0.25,
  speedMax: 4,
  /** Characters per call of flite: its memory grows with a sentence, and the first audio should be available soon. */
  pieceCharactersMax: 240,
  /** Audio of one piece: 240 characters at the lowest speed are about 80 s. */
  pieceSecondsMax: 150,
  fliteOutputBytesMax: 16 * 1_048_576,
  /** Decompressed size of a marker packet: 240 characters with two times per word are below 4 KB. */
  markerBytesMax: 64 * 1_024,
  /** Base64 of the largest marker: 4,096 characters with their times. */
  tagBytesMax: 128 * 1_024,
  /** Start of raw pcm that is searched for the marker: the longest first piece with 16 bytes per byte of its packet. */
  pcmProbeBytes: 512 * 1_024,
  /** Longest possible speech of the sandbox: 4,096 characters at a quarter of the speed. */
  markedSecondsMax: 3_600,
  /** Duration of other audio that is decoded for its description. */
  listenSeconds: 60,
  /** Most samples of other audio, all channels together: 60 s of stereo at 48 kHz. A file may declare eight channels at 655 kHz. */
  listenSamplesMax: 5_760_000,
} as const;

/**
 * Checks a count in a file against its limit.
 * @param file name in errors, such as "The mesh"
 * @param what counted items, in the plural
 * @throws MediaError too_large
 */
export function checkMax(file: string, count: number, max: number, what: string): void {
  if (count > max) throw new MediaError("too_large", `${file} has ${count} ${what}; at most ${max} are accepted.`);
}
