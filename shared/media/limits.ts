/** Limits of probing media files without decoding them. */
export const PROBE_LIMITS = {
  audioBytesMax: 100 * 1_048_576,
  /** Maximum boxes, pages, frames or elements that one probe reads, about 0.1 s of CPU time. Ten hours of MP3 frames are 1.4 million. */
  stepsMax: 1_500_000,
  /**
   * Maximum number of positions at which bytes look like a frame header but no frame follows. One more is allowed per `bytesPerMiss` bytes
   * of the file, because one random position in 256 looks like a header.
   */
  missesMax: 200_000,
  bytesPerMiss: 128,
  /** Maximum number of tracks. A video has tracks for a few dozen languages at most. */
  tracksMax: 100,
  /** Maximum processed characters and values of a PDF. A real PDF needs one for each character outside its streams. */
  pdfStepsBase: 100_000,
  pdfStepsPerByte: 2,
  /** Maximum size of a PDF's unpacked object streams, in bytes. A book of a thousand pages has a few megabytes. */
  pdfInflatedBytesMax: 64 * 1_048_576,
  /** Maximum number of queued nodes of a PDF's page tree. */
  pdfNodesMax: 1_000_000,
  /** Maximum concurrent probes of one process (childrenMax), and maximum waiting ones (queueMax). */
  childrenMax: 2,
  queueMax: 64,
  /** Timeout of a probe, in milliseconds. The largest audio takes a tenth of it on a slow machine. */
  jobMs: 10_000,
  /**
   * Idle time after which a child process is stopped, in milliseconds. An idle child responds 100 ms sooner than a new one, but uses 60 MB.
   */
  idleMs: 30_000,
  /** Address space of a child process, in bytes. The runtime reserves far more than it uses. */
  addressSpaceBytes: 16_000_000_000,
  /** Memory limit of a child process, in bytes. Enough for the largest audio, read through a pipe, and the runtime's overhead. */
  memoryBytesMax: 640 * 1_048_576,
  watchMs: 100,
  /**
   * CPU time limit of a child process, in seconds. A child that has used half of the limit is replaced. The other half is longer than the
   * longest probe.
   */
  processorSeconds: 120,
  jobsMax: 1_000,
  residentBytesMax: 300 * 1_048_576,
} as const;
