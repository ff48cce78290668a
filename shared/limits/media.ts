/** Media that comes with calls, and what is made. */
import { paced } from "#shared/pace.ts";

export const MEDIA_LIMITS = {
  /** A media job that no worker has taken for this long is given up: its caller waits no longer. */
  mediaJobLifeMs: 3_600_000,
  /** Share by which the pauses between polls of a provider vary at random, either way. */
  pollJitter: 0.2,
  /** First and longest pause between two looks for a job whose start was not answered; a provider's list is long. */
  startLookMs: [paced(1_000), paced(15_000)],
  /** Bytes of a provider's ring for a job: fal sends the result along, which are addresses. */
  ringBytesMax: 1_048_576,
  /** A vendor may take a job for this long after its gateway gave up, where the catalogue says nothing of it: Cloudflare waits 100 s. */
  startTakenMs: 120_000,
  /** A provider's clock may be off by this against ours: both follow time servers. */
  startClocksMs: 10_000,
  /** One question about a job, or the wish to end it. */
  pollMs: 20_000,
  /** Attempts to fetch something made, each from a fresh address where the provider can give one. */
  artifactFetchAttempts: 4,
  /**
   * Media of callers that all media jobs of a worker hold together; one that wants more waits. Each counts as often as it is in
   * memory while it is sent: itself, the form or text around it, what the socket has not taken (measured: 53 MB for 18 MB).
   */
  inputProcessBytesMax: 512 * 1_048_576,
  givenCopies: 3,
  /** Media in a body travels with the call up to this size, and waits in the object store beyond it. */
  inlineInputBytesMax: 32 * 1_024,
  /** Fetching one of them: a caller's slow server is not the provider's fault. */
  givenFetchMs: 120_000,
  /** A download asks its pool's budget for so much at once, and waits for room there for so long. */
  resultStepBytes: 4 * 1_048_576,
  resultRoomMs: paced(180_000),
  /** An answer that brings what was made is in memory so often while it is read: its pieces, its text, what it says. */
  answerCopies: 3,
  /** The file store is asked again this long, since what it would not take was paid for. */
  storeArtifactMs: paced(60_000),
  /** A link to an image works this long (spec "Limits"). */
  linkLifeS: 3_600,
  /** Audio is handed on while it is made where a workspace has room for this much: more than any speech takes. */
  liveRoomBytes: 33_554_432n,
} as const;

/** Media that comes with a call, where its model names no bound: what fits into the memory of a worker several times. */
export const INPUT_BYTES_MAX = {
  image: 20 * 1_048_576,
  video: 128 * 1_048_576,
  mesh: 64 * 1_048_576,
  audio: 100 * 1_048_576,
} as const;

/**
 * Bounds of each kind of media job: from its start at a provider (none takes longer), how it is asked
 * about, and how large one thing that it makes can be.
 */
export const MEDIA_JOBS = {
  images: {
    totalMs: 600_000,
    pollMinMs: paced(500),
    pollMaxMs: paced(3_000),
    bytesMax: 64 * 1_048_576,
    fetchMs: 60_000,
  },
  speech: {
    totalMs: 300_000,
    pollMinMs: paced(500),
    pollMaxMs: paced(3_000),
    bytesMax: 256 * 1_048_576,
    fetchMs: 120_000,
  },
  music: {
    totalMs: 900_000,
    pollMinMs: paced(1_000),
    pollMaxMs: paced(5_000),
    bytesMax: 256 * 1_048_576,
    fetchMs: 120_000,
  },
  video: {
    totalMs: 3_600_000,
    pollMinMs: paced(2_000),
    pollMaxMs: paced(10_000),
    bytesMax: 1_024 * 1_048_576,
    fetchMs: 600_000,
  },
  mesh: {
    totalMs: 1_800_000,
    pollMinMs: paced(2_000),
    pollMaxMs: paced(10_000),
    bytesMax: 256 * 1_048_576,
    fetchMs: 300_000,
  },
} as const;

/** Tokens an image is held and counted for where the catalogue gives no bound. */
export const TOKENS_PER_IMAGE = 4_096;
