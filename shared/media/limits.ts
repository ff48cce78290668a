/** Limits of inspecting media without decoding. */
export const PROBE_LIMITS = {
  audioBytesMax: 100 * 1_048_576,
  /** Maximum boxes, pages, frames or elements per probe, 0.1 s of work: ten hours of MP3 frames are 1.4 million. */
  stepsMax: 1_500_000,
  /** Maximum bytes that look like a frame but are none, plus one per this many bytes of the file: the chance is 1 in 256. */
  missesMax: 200_000,
  bytesPerMiss: 128,
  /** Maximum tracks; a video has a few dozen languages. */
  tracksMax: 100,
  /** Maximum processed characters and values of a PDF: a real one takes one for each character outside its streams. */
  pdfStepsBase: 100_000,
  pdfStepsPerByte: 2,
  /** Maximum unpacked object streams of one PDF: a book of a thousand pages has a few megabytes. */
  pdfInflatedBytesMax: 64 * 1_048_576,
  /** Maximum queued nodes of a page tree. */
  pdfNodesMax: 1_000_000,
  /** Concurrent probes of one process, and its waiting ones. */
  childrenMax: 2,
  queueMax: 64,
  /** Timeout of a probe in milliseconds; the largest audio takes a tenth of it on a slow machine. */
  jobMs: 10_000,
  /** Idle time of a child in milliseconds: a warm child responds 100 ms sooner and uses 60 MB. */
  idleMs: 30_000,
  /** The runtime reserves far more than it uses. */
  addressSpaceBytes: 16_000_000_000,
  /** Memory for the largest audio, read through a pipe, and the runtime's overhead. */
  memoryBytesMax: 640 * 1_048_576,
  watchMs: 100,
  /** Half of it exceeds the longest probe: a child that has used half is replaced. */
  processorSeconds: 120,
  jobsMax: 1_000,
  residentBytesMax: 300 * 1_048_576,
} as const;
