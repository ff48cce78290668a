/** Limits of the sandbox's media jobs. Names contain the unit, and comments the reason. */
import { MediaError } from "#shared/children/media-error.ts";

export const MEDIA_LIMITS = {
  /** Maximum number of child processes. Two cores are sufficient for test models; each child uses 60 to 300 MB. */
  childrenMax: 2,
  /** Maximum number of waiting jobs. At half a second each, the last job runs before clients time out. */
  queueMax: 64,
  /** Timeout of a job. The longest text at the lowest speed takes about 20 s of one core, and cores are shared. */
  jobMs: 90_000,
  /** Time for which an idle child keeps running. A running child responds 100 ms sooner than a new one. */
  idleMs: 10_000,
  /**
   * Limit of a child's address space. A WebAssembly memory reserves gigabytes of address space, and is ten times slower without them.
   * Measured for ten seconds of speech: 4.5 s with 3 GB, 0.5 s with 16 GB.
   */
  childAddressSpaceBytes: 16_000_000_000,
  /**
   * Maximum memory in use by a child, and the interval at which it is checked while a job runs. An edit of the largest image takes 550 MB,
   * three minutes of song 750 MB.
   */
  childMemoryBytesMax: 1_536 * 1_048_576,
  childWatchMs: 200,
  /**
   * Maximum processor time of a child, in seconds. A child is replaced after half of this time, which is more than the longest job takes.
   */
  childProcessorSeconds: 600,
  childJobsMax: 100,
  childResidentBytesMax: 700 * 1_048_576,
  /** Maximum side of a generated image. 16.8 million pixels are 67 MB before encoding. */
  imageSideMaxPixels: 4_096,
  /** Maximum number of pixels of an input image. A phone camera has 24 million, which are 100 MB decoded. */
  sourcePixelsMax: 25_000_000,
  sourceSideMaxPixels: 16_384,
  sourceBytesMax: 50 * 1_048_576,
  imageSeconds: 30,
  /** Number of characters at the start of a prompt that are searched for words. */
  promptCharactersMax: 8_000,
  /** Maximum size of a mesh to transform, as generators and scanners export it. Its JSON is small compared to its vertices. */
  meshBytesMax: 50 * 1_048_576,
  meshJsonBytesMax: 4 * 1_048_576,
  /** Maximum number of displayed vertices and triangles. A mesh that is used ten times counts ten times. */
  meshVerticesMax: 1_000_000,
  meshTrianglesMax: 1_000_000,
  /** Maximum number of entries in each list of a mesh to transform, and maximum depth of its node hierarchy. */
  meshEntriesMax: 10_000,
  meshNodeDepthMax: 64,
  /** Maximum number of pieces in a mesh to transform. A piece has one material. */
  meshPiecesMax: 2_000,
  /** Maximum total size of all decoded accessors of a mesh to transform, in bytes. */
  meshNumbersBytesMax: 192 * 1_048_576,
  /** Maximum number of images in a mesh to transform, and maximum total of their pixels: sixteen images of 2,048 × 2,048. */
  meshImagesMax: 64,
  meshPixelsMax: 67_108_864,
  /** Maximum number of parts of a segmented mesh. More parts could not be distinguished by colour. */
  meshSegmentsMax: 48,
  /** Timeout of a video job. 30 s of 1080p video at 21:9 take about 30 s of one core, and cores are shared. */
  videoJobMs: 240_000,
  videoSecondsMax: 30,
  videoSideMinPixels: 64,
  videoSideMaxPixels: 2_560,
  videoPixelsMax: 2_520 * 1_080,
  /** Maximum number of pixels of a frame in an input video, up to 4K. Decoders buffer up to 16 frames of 12 MB each. */
  sourceVideoPixelsMax: 4_096 * 2_304,
  sourceVideoSideMaxPixels: 4_096,
  sourceVideoBytesMax: 100 * 1_048_576,
  /** Limits of the duration of composed music. Three minutes with lyrics take about 7 s of one core. */
  musicSecondsMin: 3,
  musicSecondsMax: 180,
  /** Maximum number of characters of lyrics that are read. More could not be spoken in three minutes. */
  lyricsCharactersMax: 8_000,
  /** Maximum number of characters of a speech request, as in the specification of the speech endpoint. */
  speechCharactersMax: 4_096,
  speedMin: 0.25,
  speedMax: 4,
  /** Maximum number of characters per call of flite. Its memory grows with a sentence, and the first audio should be available soon. */
  pieceCharactersMax: 240,
  /** Maximum audio duration of one piece. 240 characters at the lowest speed are about 80 s. */
  pieceSecondsMax: 150,
  fliteOutputBytesMax: 16 * 1_048_576,
  /** Maximum decompressed size of a marker packet. 240 characters with two times per word are below 4 KB. */
  markerBytesMax: 64 * 1_024,
  /** Maximum size of a marker in base64: 4,096 characters with their times. */
  tagBytesMax: 128 * 1_024,
  /**
   * Number of bytes at the start of raw pcm that are searched for the marker. It covers the longest first piece of speech: each byte of its
   * marker packet is spread over 16 bytes of pcm.
   */
  pcmProbeBytes: 512 * 1_024,
  /** Maximum duration of the sandbox's own speech: 4,096 characters at a quarter of the speed. */
  markedSecondsMax: 3_600,
  /** Maximum decoded duration of audio that is not the sandbox's own speech, in seconds. The decoded part is only described. */
  listenSeconds: 60,
  /**
   * Maximum number of samples of other audio, all channels together: 60 s of stereo at 48 kHz. A file may declare eight channels at 655
   * kHz.
   */
  listenSamplesMax: 5_760_000,
} as const;

/**
 * Checks a number that was read from a file against its limit.
 * @param file subject of the error message, such as "The mesh"
 * @param what counted items, in the plural
 * @throws MediaError too_large
 */
export function checkMax(file: string, count: number, max: number, what: string): void {
  if (count > max) throw new MediaError("too_large", `${file} has ${count} ${what}; at most ${max} are accepted.`);
}
