/** Bounds of looking at media without decoding it. */
export const PROBE_LIMITS = {
  audioBytesMax: 100 * 1_048_576,
  /** Boxes, pages, frames or elements a probe looks at, 0.1 s of work: ten hours of MP3 frames are 1.4 million. */
  stepsMax: 1_500_000,
  /** Bytes that look like a frame and are none, and one more for every so many bytes of the file: by chance 1 in 256. */
  missesMax: 200_000,
  bytesPerMiss: 128,
  /** A video has a few dozen languages. */
  tracksMax: 100,
  /** Characters and values of a PDF that are looked at: a real one takes one for each character outside its streams. */
  pdfStepsBase: 100_000,
  pdfStepsPerByte: 2,
  /** Unpacked object streams of one PDF: a book of a thousand pages has a few megabytes. */
  pdfInflatedBytesMax: 64 * 1_048_576,
  /** Nodes of a page tree that wait to be looked at. */
  pdfNodesMax: 1_000_000,
  /** Looks at once in one process, and those that wait for their turn. */
  childrenMax: 2,
  queueMax: 64,
  /** The largest audio takes a tenth of it on a slow machine. */
  jobMs: 10_000,
  /** A warm child answers 100 ms sooner; it weighs 60 MB. */
  idleMs: 30_000,
  /** The runtime reserves far more than it uses. */
  addressSpaceBytes: 16_000_000_000,
  /** The largest audio, read through a pipe, and what the runtime keeps of it. */
  memoryBytesMax: 640 * 1_048_576,
  watchMs: 100,
  /** Half of it is more than the longest look takes: a child that has used half is replaced. */
  processorSeconds: 120,
  jobsMax: 1_000,
  residentBytesMax: 300 * 1_048_576,
} as const;
