/** Bounds of the sandbox's work on media: a unit in the name, the reason beside it. */
import { MediaError } from "#shared/children/media-error.ts";

export const MEDIA_LIMITS = {
  /** Two cores are enough for test models; each child weighs 60 to 300 MB. */
  childrenMax: 2,
  /** Jobs that wait. At half a second each the last of them is still answered before clients give up. */
  queueMax: 64,
  /** The longest text at the lowest speed takes about 20 s of one core, and cores are shared. */
  jobMs: 90_000,
  /** A warm child answers 100 ms sooner. */
  idleMs: 10_000,
  /**
   * Address space, not memory: a WebAssembly memory reserves gigabytes, and without them it is ten times slower (measured:
   * 3 GB 4.5 s, 16 GB 0.5 s for ten seconds of speech).
   */
  childAddressSpaceBytes: 16_000_000_000,
  /** Memory in use: looked at this often while a job runs. An edit of the largest image takes 550 MB, three sung minutes 750. */
  childMemoryBytesMax: 1_536 * 1_048_576,
  childWatchMs: 200,
  /** Half of it is more than the longest job takes: a child that has used half is replaced. */
  childProcessorSeconds: 600,
  childJobsMax: 100,
  childResidentBytesMax: 700 * 1_048_576,
  /** A made image: 16.8 million pixels are 67 MB before encoding. */
  imageSideMaxPixels: 4_096,
  /** An input image: what a phone's camera makes (24 million), 100 MB decoded. */
  sourcePixelsMax: 25_000_000,
  sourceSideMaxPixels: 16_384,
  sourceBytesMax: 50 * 1_048_576,
  imageSeconds: 30,
  /** Characters from the start of a prompt that are searched for words. */
  promptCharactersMax: 8_000,
  /** A mesh to transform: what generators and scanners hand out; its description is small beside its points. */
  meshBytesMax: 50 * 1_048_576,
  meshJsonBytesMax: 4 * 1_048_576,
  /** Points and triangles as they are shown, a mesh that is used ten times counts ten times. */
  meshVerticesMax: 1_000_000,
  meshTrianglesMax: 1_000_000,
  /** Entries of each list of a mesh to transform, and how deep nodes lie in each other. */
  meshEntriesMax: 10_000,
  meshNodeDepthMax: 64,
  /** Pieces of one material each that a mesh to transform is drawn in. */
  meshPiecesMax: 2_000,
  /** All lists of numbers of a mesh to transform together, decoded. */
  meshNumbersBytesMax: 192 * 1_048_576,
  /** Images of a mesh to transform, and their pixels together: sixteen of 2,048 × 2,048. */
  meshImagesMax: 64,
  meshPixelsMax: 67_108_864,
  /** Parts that a mesh is segmented into: more cannot be told apart by colour. */
  meshSegmentsMax: 48,
  /** A made video: 30 s of 1080p at 21:9 take about 30 s of one core, and cores are shared. */
  videoJobMs: 240_000,
  videoSecondsMax: 30,
  videoSideMinPixels: 64,
  videoSideMaxPixels: 2_560,
  videoPixelsMax: 2_520 * 1_080,
  /** A given video: pictures up to 4K, of which decoders hold up to 16 at 12 MB each. */
  sourceVideoPixelsMax: 4_096 * 2_304,
  sourceVideoSideMaxPixels: 4_096,
  sourceVideoBytesMax: 100 * 1_048_576,
  /** Composed music: three minutes take about 7 s of one core with lyrics. */
  musicSecondsMin: 3,
  musicSecondsMax: 180,
  /** Characters from the start of lyrics that are read: more cannot be spoken in three minutes. */
  lyricsCharactersMax: 8_000,
  /** Spec of the speech endpoint. */
  speechCharactersMax: 4_096,
  speedMin: 0.25,
  speedMax: 4,
  /** flite is given this much at a time: its memory grows with a sentence, and the first sound should come soon. */
  pieceCharactersMax: 240,
  /** Sound of one piece: 240 characters at the lowest speed are about 80 s. */
  pieceSecondsMax: 150,
  fliteOutputBytesMax: 16 * 1_048_576,
  /** Inflated size of a packet of the marker: 240 characters with two times for each word are below 4 KB. */
  markerBytesMax: 64 * 1_024,
  /** Base64 of the largest marker: 4,096 characters with their times. */
  tagBytesMax: 128 * 1_024,
  /** Start of raw pcm that is searched for the marker: the longest first piece with 16 bytes for each byte of its packet. */
  pcmProbeBytes: 512 * 1_024,
  /** The longest speech the sandbox can have made: 4,096 characters at a quarter of the speed. */
  markedSecondsMax: 3_600,
  /** Length of foreign sound that is decoded to describe it. */
  listenSeconds: 60,
  /** Most samples of it, all channels together: those seconds in stereo at 48 kHz. A file may promise eight channels at 655 kHz. */
  listenSamplesMax: 5_760_000,
} as const;

/**
 * Refuses more of something than a file may have.
 * @param file how errors name it, such as "The mesh"
 * @param what is counted, in the plural
 * @throws MediaError too_large
 */
export function checkMax(file: string, count: number, max: number, what: string): void {
  if (count > max) throw new MediaError("too_large", `${file} has ${count} ${what}; at most ${max} are accepted.`);
}
