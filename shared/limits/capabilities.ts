/** Limits on the inputs, work and results of one run of a capability, by the kind of what it works on. */
import type { CapabilityModality, Category } from "#shared/calls/capabilities/entry.ts";

const MB = 1_048_576;

/** Bytes of one input of a kind. */
export const CAPABILITY_INPUT_BYTES_MAX: Readonly<Record<CapabilityModality, number>> = {
  image: 50 * MB,
  video: 2_048 * MB,
  audio: 500 * MB,
  document: 100 * MB,
  archive: 500 * MB,
  text: 2 * MB,
  any: 500 * MB,
};

/** Wall clock of one run's work in its child: what outlasts it is refused as too large. */
export const CAPABILITY_RUN_MS: Readonly<Record<Category, number>> = {
  video: 900_000,
  audio: 300_000,
  image: 60_000,
  document: 120_000,
  archive: 300_000,
  web: 60_000,
  code: 10_000,
};

export const CAPABILITIES_LIMITS = {
  /** Decoded: what is larger comes as a file or from an address. */
  capabilityBase64BytesMax: 10 * MB,
  /** A param that may be any object, as JSON: data comes as an input, and engines hold params many times over. */
  capabilityParamBytesMax: 65_536,
  /** Pixels of one image, and of all frames of one. */
  imagePixelsMax: 64_000_000,
  imageFramesPixelsMax: 256_000_000,
  imageSidePixelsMax: 16_384,
  /** Effects of an SVG's filters times megapixels of its image: drawings have some for each of their shadows, which are small. */
  svgEffectsMegapixelsMax: 2_000,
  /** Files that one run makes, and their bytes in all. */
  capabilityFilesMax: 200,
  capabilityOutputBytesMax: 2_048 * MB,
  /** Text of a result stands in `output` up to this size, and is a file beyond it. */
  capabilityTextBytesMax: MB,
  /** Looking at the inputs of one run before it is admitted: what is not seen by then is held at its limit. */
  capabilityLookMs: 5_000,
  /** Read from the object store for one look: heads, tables, and small files as a whole. */
  capabilityLookBytesMax: 16 * MB,
  capabilityLookWholeBytesMax: 4 * MB,
  /** Looks of one process that read at the same time, each a few megabytes in memory, half of them of one workspace; and that wait. */
  capabilityLooksAtOnce: 8,
  capabilityLooksWaitingMax: 1_024,
  /** Fetching one input from its address. */
  capabilityFetchMs: 120_000,
  /** A run that crashes its child is run once more, in a fresh one. */
  capabilityTries: 2,
  /** Work that may take longer than this leaves a turn to what takes less: so long at most a short run waits behind others'. */
  capabilityLongMs: 10_000,
  /** Time of runs that came to nothing, for a workspace: beyond it, others come first. As long as one short run may take. */
  capabilityOwedMs: 10_000,
  /** More is not counted: as long as the longest run of most kinds. */
  capabilityOwedMsMax: 300_000,
  /** Loading an engine when a worker starts. */
  engineTryMs: 20_000,
  /**
   * Address space of a child. Addresses are no memory: Bun and FFmpeg reserve 2.8 GB of them before any work, and a child that runs out
   * of them crashes, where one that runs out of memory is told so. They are the last bound, should memory grow faster than it is watched.
   */
  capabilityAddressSpaceBytes: 8_000_000_000,
  /** Resident memory of a child. */
  capabilityMemoryBytes: 1_500 * MB,
  capabilityProcessorSeconds: 1_800,
  /** The least that an image is counted for: half a megapixel. */
  capabilityPixelsMin: 500_000,
} as const;
