/**
 * Every bound of the service in one place: a unit in the name, the reason beside it. Tests shorten the waits that are
 * `paced`.
 */
import { paced } from "./pace.ts";

export const LIMITS = {
  /** Deeper JSON parses in Bun but cannot be written again from about 5·10⁴ (lesson IN-1). */
  jsonDepthMax: 64,
  /** A body has this long to arrive, plus its size at 64 KB/s (lesson IN-5: Bun never cuts a dripping body). */
  bodyReadBaseMs: 10_000,
  /** Bodies beyond this count as large: the largest chats stay below it. */
  smallBodyBytesMax: 1_048_576,
  /** Large JSON bodies that a process handles at once, in all and of one workspace; so many others wait this long. */
  largeBodiesBytesMax: 134_217_728,
  largeBodiesWorkspaceBytesMax: 67_108_864,
  largeBodiesWaitingMax: 256,
  largeBodyWaitMs: paced(20_000),
  bodyReadBytesPerSecond: 65_536,
  /** NATS messages stay under this; larger requests travel as a claim check in S3 (design part 2). */
  messageBytesMax: 448 * 1024,
  streamMessageBytesMax: 512 * 1024,
  /** One reply frame; a longer answer is cut into parts of this size (server limit 1 MiB). */
  frameBytesMax: 256 * 1024,
  /** Held for a chat call that sets no output limit (design part 4). */
  chatDefaultOutputTokens: 8_192,
  /** Output of a chat call that an estimate takes for typical, where the call sets no lower limit. */
  estimateOutputTokens: 512,
  /** Inputs of one embeddings call, as OpenAI has it; a model may take fewer. */
  embeddingInputsMax: 2_048,
  /** Vectors of one answer as text: 2,048 of 3,072 numbers in base64. Below what NATS keeps for a reader (64 MB). */
  embeddingsAnswerBytesMax: 32 * 1_048_576,
  /** Requests that one embeddings call has under way at its source, where it takes more than one. */
  embeddingsParallel: 4,
  /** Text an ingress counts exactly for one count_tokens call or estimate: about 0.3 s of its only thread at worst. */
  countedCharactersMax: 1_048_576,
  /** Calls gathered into one admission or settle statement; stays far below the 4,096-slot rate ring. */
  groupSizeMax: 256,
  /** Calls waiting for their group in one process; beyond it callers hear 503 `overloaded`. */
  groupQueueMax: 20_000,
  /**
   * A lone call waits this long for its workspace's rows before it joins the contended: a statement of somebody else with
   * its commit, and no more than the calls behind it can bear.
   */
  singleCallWaitMs: 30,
  /**
   * Contended workspaces wait this long together for locks: several statements of others with their commits on a slow
   * disk, and no more than their neighbours can bear once when one of them is locked for good.
   */
  contendedWaitMs: 200,
  /** A call of a locked workspace waits this long for the lock, then 503 (engine part 4). */
  lockTimeoutMs: 2_000,
  /** SSE comment at most every 10 s of silence (spec of streams); we send it a little earlier. */
  keepaliveMs: paced(8_000),
  /** No frame for this long after the first one: the worker is taken for lost. */
  frameSilenceMs: paced(20_000),
  /** The worker asks this often whether the ingress that waits for it still lives, which shows that it lives itself. */
  ingressProbeMs: paced(2_000),
  /** The first time it asks this long after it took the call, so that quick calls cost no question. */
  ingressFirstProbeMs: paced(500),
  /** An ingress that lost its connection is back by then; one that is not is gone. With the above under 5 s (fault F5). */
  ingressReturnMs: 1_500,
  /** An answer that costs more than was held is settled before it goes out, when its ingress has said that it is there. */
  presenceRetryMs: paced(250),
  /** The word that an answer was taken comes at once; it is asked for this late. */
  takenAskMs: 250,
  /** Calls that are answered before they are settled wait this long for others to be told of, and to be settled, with. */
  settleLingerMs: 5,
  /**
   * A server that crashed may hand out again what it had handed out (its record lags by 100 ms). Messages from before a
   * lost connection are asked about this late: whoever had them has shown itself to the ingress by then.
   */
  reclaimMs: 2_500,
  /** An ingress that cannot be asked for this long, over all lost connections, is taken for gone. */
  reconsiderMs: 30_000,
  /** A worker that showed itself this recently lives, whatever a second delivery of its message says. */
  workerLivesMs: paced(5_000),
  /** A message that waited this long is asked about before it is run: its caller may have left while no worker heard it. */
  queuedLongMs: paced(2_000),
  /** A call whose worker has not asked by then is looked up in the queue: still waiting, or handed to a worker that died. */
  unclaimedMs: paced(3_000),
  /** The ingress records this often what it has relayed, so a lost worker's call can be settled. */
  relayRecordMs: paced(2_000),
  /** Frames or bytes held for a reader that does not read; deltas are merged beyond it. */
  relayFramesMax: 256,
  relayBytesMax: 1_048_576,
  /** A reader that takes nothing for this long is cut. */
  readerStuckMs: paced(30_000),
  /** Tokens after the first leave in batches of this age or size (lesson STR-14). */
  deltaBatchMs: 20,
  deltaBatchBytes: 1_024,
  /** Usage may follow the finish reason this long; then the stream is taken for whole as it is. */
  afterFinishMs: 2_000,
  /** Fetched media that all calls of a worker hold together; a call that fetches waits until its share is free. */
  inlineProcessBytesMax: 512 * 1_048_576,
  /** A busy source is asked again when it says it will be free within this; else the next one is. */
  providerRetryHintMs: 2_000,
  /** Full jitter of the one retry that has no hint. */
  providerRetryJitterMs: 500,
  /** Repeats of a lone failure: how many a source can save up, what a call that ends well adds, and what time adds. */
  providerRepeats: { tokensMax: 3, tokensPerCall: 0.1, msPerToken: 60_000, sourcesMax: 5_000 },
  /** A call without an answer by then has its provider's address tried: one that cannot be reached fails at once. */
  providerConnectMs: paced(5_000),
  /** How long an answer of the response cache lives where neither model nor request says, and at most. */
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
  /** One provider answer, after inflation. */
  providerBytesMax: 64 * 1_048_576,
  /** Pieces of parallel tool calls that wait for their turn in an Anthropic stream; no answer of a model is longer. */
  blocksWaitingCharactersMax: 4 * 1_048_576,
  /** One line of a provider's event stream. */
  sseLineBytesMax: 4 * 1_048_576,
  /** A server that callers named and that sends nothing of its answer for this long is given up. */
  outboundStallMs: paced(10_000),
  /** An address that callers name: servers take about as much, and signed ones of object stores have 2,000. */
  outboundUrlCharactersMax: 8_000,
  /** Media servers redirect to a store or a mirror, seldom further. */
  outboundRedirectsMax: 3,
  /** One picture or file that we fetch for a dialect that takes bytes only; providers refuse larger ones. */
  inlineItemBytesMax: 20 * 1_048_576,
  /** All of one call, each counted as often as it is sent: a request grows by this much in memory. */
  inlineBytesMax: 50 * 1_048_576,
  /** Different addresses of one call, and how many are fetched at once: a call is no tool to flood others with. */
  inlineAddressesMax: 100,
  inlineParallel: 4,
  /** Fetching them all. Well under the first-byte deadline: a caller's slow server is not the provider's fault. */
  inlineMs: 30_000,
  /** Models tried after the one asked for: more would outlast any client's patience. */
  fallbacksMax: 10,
  /** They travel with every look-up of a key, so a workspace cannot have any number of chains. */
  fallbackChainsMax: 200,
  /** A key is believed this long without asking the database; the promise to revoke within 1 s rests on it. */
  keyCacheMs: 900,
  keyCacheMax: 50_000,
  /** A job that has not begun by then ends as failed: its publisher has long given it up. */
  jobLifeMs: 24 * 3_600_000,
  /** A job's hold outlives its deadline by an hour: whoever ends the job closes it, the sweep of expired holds never should. */
  jobHoldSlackMs: 3_600_000,
  /** Requests and results up to this size stand in the job's row, larger ones in the object store. */
  jobTextBytesMax: 64 * 1024,
  /** A publisher's own name for a job. */
  idempotencyKeyCharsMax: 255,
  /** Batch messages an ingress has in hand at once: enough to fill a group, few enough to lose little time to a restart. */
  intakeSlots: 32,
  /** Of those, messages with media or text for the object store, or with a recording; half of them of one workspace. */
  intakeLargeMax: 8,
  /** Batch messages of one workspace that lie in the stream, for each pool; further ones are dropped. */
  batchMessagesPerWorkspace: 512,
  /** Batch messages that a process remembers as waiting for a window (200 bytes each). */
  waitingMessagesMax: 20_000,
  /** A batch message whose workspace's window is full comes again after this long at least and at most. */
  windowRetryMinMs: paced(1_000),
  windowRetryMaxMs: paced(60_000),
  /** A dispatched job whose message has not been confirmed by then is dispatched again. */
  unsentMs: paced(5_000),
  /** A job that waits on the queue this long is looked for there: its message may have gone with a store. */
  unclaimedJobMs: paced(60_000),
  /** An answer to a publisher; a larger result is named, and fetched from the job's endpoint (server limit 1 MiB). */
  batchAnswerBytesMax: 768 * 1024,
  /** A media job that no worker has taken by then: nobody waits for it any more. */
  mediaJobLifeMs: 3_600_000,
  /** How its provider's questions are spread. */
  pollJitter: 0.2,
  /** One question about a job, or the wish to end it. */
  pollMs: 20_000,
  /** How often an address of something made is tried, each time a fresh one where the provider can give it. */
  artifactFetchAttempts: 4,
  /**
   * Media of callers that all media jobs of a worker hold together; one that wants more waits. Each counts as often as it is in
   * memory while it is sent: itself, the form or text around it, what the socket has not taken (measured: 53 MB for 18 MB).
   */
  inputProcessBytesMax: 512 * 1_048_576,
  givenCopies: 3,
  /** What a body brings of media travels with the call up to this size, and waits in the object store beyond it. */
  inlineInputBytesMax: 32 * 1_024,
  /** Fetching one of them: a caller's slow server is not the provider's fault. */
  givenFetchMs: 120_000,
  /** A download asks its pool's budget for so much at once; how long whoever finds no room there waits. */
  resultStepBytes: 4 * 1_048_576,
  resultRoomMs: paced(180_000),
  /** An answer that brings what was made is in memory so often while it is read: its pieces, its text, what it says. */
  answerCopies: 3,
  /** The file store is asked again this long, since what it would not take was paid for. */
  storeArtifactMs: paced(60_000),
  /** Who waits for a job looks at its row this often: the word of its end may be lost. */
  jobLookMs: paced(2_000),
  /** A link to a picture works this long (spec "Limits"). */
  linkLifeS: 3_600,
  /** A part of an upload on its way to S3, the least that S3 takes: what an upload holds in memory, once. */
  uploadPartBytes: 5 * 1_048_576,
  /** Uploads of one process, and of one workspace in it, at once: with the above what all hold (120 MB at most). */
  uploadsMax: 24,
  uploadsPerWorkspaceMax: 8,
  /** Recordings of calls share the disk with them, as many at once; as many calls wait for room, no longer than this. */
  recordingsWaitingMax: 96,
  recordingWaitMs: paced(10_000),
  /** An upload without an owner is freed this long after it last showed itself, which it does this often. */
  uploadLeaseMs: paced(30_000),
  uploadBeatMs: paced(8_000),
  /** A caller whose upload failed waits this long for its bytes to be gone. */
  uploadEraseMs: paced(2_000),
  /** Bytes of an upload come at least at this rate, after a start and with pauses that its speed before has earned. */
  uploadBytesPerSecondMin: 16_384,
  uploadStartMs: 30_000,
  uploadCreditMsMax: 120_000,
  /** Parts of a multipart body, header of a part, a field (lesson IN-6), and the text before its first part or behind its last. */
  multipartPartsMax: 20,
  multipartHeaderBytesMax: 8_192,
  multipartFieldBytesMax: 1_048_576,
  multipartOutsideBytesMax: 8_192,
  /** What a file is, is seen from this much of its beginning. */
  sniffBytes: 4_096,
  /** A checksum stands for each such block, so that a range is proved by reading little more than it. */
  fileBlockBytes: 1_048_576,
  /** A file on its way to a client: smaller pieces show sooner that a reader is stuck. */
  filePieceBytes: 262_144,
  /** A file is read again from where its bytes stopped or were wrong this often. */
  fileReadAttempts: 3,
  filenameCharactersMax: 255,
  /** One page of a list of files, as OpenAI has it. */
  filesPageMax: 10_000,
  /** How long a client may let a file live at least and at most, as OpenAI has it. */
  fileLifeSecondsMin: 3_600,
  fileLifeSecondsMax: 2_592_000,
  /** A repeat under the same key hears the first answer for this long (lesson MON-18). */
  idempotencyMs: 24 * 3_600_000,
  /** Sound is handed on while it is made where a workspace has room for this much: more than any speech takes. */
  liveRoomBytes: 33_554_432n,
  /** A part on its way into the object store: 5 MiB at 256 KiB/s. */
  storagePartMs: paced(20_000),
  /** Bodies a process sends to the object store at once: each holds copies of what the socket has not taken. */
  storageSendsMax: 2,
  /** A body that a fault of the store's kept from arriving is sent again this often, after about this long. */
  storageAttempts: 3,
  storageRetryMs: 200,
  /** One attempt to store a claim: this long, and as long as its bytes take at 1 MiB/s. */
  storageAttemptMs: paced(3_000),
  storageBytesPerMs: 1_048,
  /** The object store joins thousands of parts. */
  storageJoinMs: 60_000,
  /** The object store sends nothing of an object for this long. */
  storageStallMs: paced(10_000),
  /** An object of the file store without a row, or a row without its object, is believed after this long. */
  orphanAgeMs: 3_600_000,
  /** Whoever ended a file deletes its bytes within this; then the janitor does. */
  fileDeleteGraceMs: paced(60_000),
  /** Each server that a process depends on is asked whether it is there this often, and not twice within this time. */
  dependencyCheckMs: 5_000,
  dependencyFreshMs: 1_000,
  /** A hold of a synchronous call is swept this long after its deadline. */
  holdSlackMs: paced(30_000),
} as const;

/** Media that comes with a call, where its model names no bound: what fits into the memory of a worker several times. */
export const INPUT_BYTES_MAX = {
  image: 20 * 1_048_576,
  video: 128 * 1_048_576,
  mesh: 64 * 1_048_576,
  audio: 100 * 1_048_576,
} as const;

/**
 * Bounds of each kind of media job: from its start at a provider (none takes longer: providers paper, part 1), how it is asked
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

/** Tokens a picture is held and counted for where the catalogue gives no bound. */
export const TOKENS_PER_IMAGE = 4_096;

/** When a source is taken out of rotation, for how long, and what the workers of a pool tell each other about it. */
export const BREAKER = {
  /** Calls are counted over this window, forgotten a bucket at a time: long enough for a ratio, short enough to act. */
  windowMs: 10_000,
  bucketMs: 1_000,
  /** Fewer calls make no ratio. */
  ratioCallsMin: 10,
  ratioFailedMin: 0.5,
  /**
   * Failures without a success between that take a source out. Where many calls succeed such runs come up by chance (one
   * call in five failing, a hundred calls a second: five in a row every few seconds), so it takes one more for every 50
   * successes of the window, never more than 25 (lesson PRO-5).
   */
  runFailures: 5,
  runFailuresMax: 25,
  successesPerRunFailure: 50,
  /**
   * The first rest, and by how much each failed trial lengthens it: a source that was away for a minute serves again within
   * 20 s of its return, one that was away for an hour within 30 s. A trial is one call of the whole fleet.
   */
  restMs: 5_000,
  restGrowth: 1.15,
  restMsMax: 24_000,
  /** The rest of a source that refuses our key or has lost the model: that is not mended in seconds. */
  downMs: 24_000,
  /** Rests differ by this share either way, so that sources that failed together are not tried together. */
  restJitter: 0.2,
  /** A trial whose worker died is given to another after this long. */
  probeLeaseMs: 30_000,
  /** Who wants the trial waits this long for Postgres, and a source whose trial is not to be had is asked for this late. */
  probeAskMs: 500,
  probeAgainMs: paced(1_000),
  /** Counts are told to the other workers this often at most; changes at once. */
  shareMs: paced(250),
  shareSourcesMax: 200,
  shareBytesMax: 512 * 1024,
  /** More calls of one source than one worker can end between two messages: whoever says so is not believed. */
  shareCallsMax: 100_000,
  /** Postgres is read this often while a source rests, and this often while none does: NATS tells of most changes. */
  syncMs: paced(2_000),
  idleSyncMs: 10_000,
  /** A row that Postgres still shows this soon after the source was back in rotation is about to be deleted. */
  closedLagMs: 5_000,
  /** Rests that ended this long ago and that nobody tried since belong to sources no longer used. */
  forgetMs: 3_600_000,
  /** Sources remembered at once; beyond it the one unused for longest is forgotten. */
  sourcesMax: 1_000,
  /** `provider/model`, as long as the catalogue allows. */
  sourceCharactersMax: 365,
} as const;
