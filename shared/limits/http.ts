/** Limits on what callers send over HTTP, and on how they read their answers. */
import { paced } from "#shared/pace.ts";

export const HTTP_LIMITS = {
  /** Deeper JSON parses in Bun but cannot be written again from about 5·10⁴. */
  jsonDepthMax: 64,
  /** Larger JSON is read in pieces: a parser takes up to 2 ms for so much, measured, and the search for a fault 5 ms. */
  jsonAtOnceBytesMax: 65_536,
  /**
   * Values and names of members of a larger text: the longest conversations have some thousand. As many members of an object, each with a
   * name of its own, take 60 ms and 30 MB to be read and checked.
   */
  jsonPartsMax: 200_000,
  /** Longest stretch of long work before others have their turn: a tenth of what a caller notices. */
  timeSliceMs: 5,
  /** A body has this long to arrive, plus its size at 64 KB/s (Bun never cuts a dripping body). */
  bodyReadBaseMs: 10_000,
  /** Bodies beyond this count as large: the largest chats stay below it. */
  smallBodyBytesMax: 1_048_576,
  /** Large JSON bodies that a process handles at once, in all and of one workspace; so many others wait this long. */
  largeBodiesBytesMax: 134_217_728,
  largeBodiesWorkspaceBytesMax: 67_108_864,
  largeBodiesWaitingMax: 256,
  largeBodyWaitMs: paced(20_000),
  bodyReadBytesPerSecond: 65_536,
  /**
   * Requests that wait for work on others of their workspace, and for how long: half of them of one workspace, which is a second of bodies
   * of 300 KB. Those beyond 1 MB have been let in a few at a time.
   */
  longWorkWaitingMax: 1_024,
  longWorkWaitMs: paced(20_000),
  /** Text an ingress counts exactly for one count_tokens call or estimate: about 0.3 s of its only thread at worst. */
  countedCharactersMax: 1_048_576,
  /** SSE comment at most every 10 s of silence (spec of streams); we send it a little earlier. */
  keepaliveMs: paced(8_000),
  /** Frames or bytes held for a reader that does not read; deltas are merged beyond it. */
  relayFramesMax: 256,
  relayBytesMax: 1_048_576,
  /** A reader that takes nothing for this long is cut. */
  readerStuckMs: paced(30_000),
  /**
   * Before a broken answer is cut: what was handed over goes out in the next turns, and a cut at once takes even the head with it,
   * so that clients resend a call that was paid (measured on Bun 1.4.4).
   */
  cutDelayMs: 20,
  /** A process that has to end leaves those who wait this long to hear of it in words of their own, before it answers for them. */
  lastAnswerMs: 500,
  /** Tokens after the first leave in batches of this age or size. */
  deltaBatchMs: 20,
  deltaBatchBytes: 1_024,
  /** Life of an answer in the response cache: the default, where neither model nor request sets one, and the most. */
  cacheTtlS: 3_600,
  cacheTtlMaxS: 86_400,
  /** Larger requests are not cached. */
  cachedRequestBytesMax: 1_048_576,
  /** Answers being written to the cache at once in one process; beyond it they are not kept. */
  cacheWritesMax: 4,
  /** Larger answers are not kept. */
  cachedAnswerBytesMax: 256 * 1024,
  /** Answers a workspace keeps; the oldest go first. */
  cachedAnswersMax: 2_000,
  /** They travel with every look-up of a key, so a workspace cannot have any number of chains. */
  fallbackChainsMax: 200,
  /** A key is believed this long without asking the database; the promise to revoke within 1 s rests on it. */
  keyCacheMs: 900,
  keyCacheMax: 50_000,
} as const;
