/** Files of a workspace, on their way in and out. */
import { paced } from "#shared/pace.ts";

export const FILES_LIMITS = {
  /** A part of an upload on its way to S3, the least that S3 takes: what an upload holds in memory, once. */
  uploadPartBytes: 5 * 1_048_576,
  /** Uploads of one process, and of one workspace in it, at once: with the above what all hold (120 MB at most). */
  uploadsMax: 24,
  uploadsPerWorkspaceMax: 8,
  /** The audio of calls shares the disk with them, as many at once; as many calls wait for room, no longer than this. */
  audioWaitingMax: 96,
  audioWaitMs: paced(10_000),
  /** Files of one workspace that are there: their rows take some 500 MB then. */
  filesPerWorkspaceMax: 1_000_000,
  /** An upload without an owner is freed this long after it last showed itself, which it does this often. */
  uploadLeaseMs: paced(30_000),
  uploadBeatMs: paced(8_000),
  /** A caller whose upload failed waits this long for its bytes to be gone. */
  uploadEraseMs: paced(2_000),
  /** Bytes of an upload come at least at this rate, after a start and with pauses that its speed before has earned. */
  uploadBytesPerSecondMin: 16_384,
  uploadStartMs: 30_000,
  uploadCreditMsMax: 120_000,
  /** Parts of a multipart body, header of a part, and the text before its first part or behind its last. */
  multipartPartsMax: 20,
  multipartHeaderBytesMax: 8_192,
  /** All fields together: none that has a meaning is longer than some thousand characters. */
  multipartFieldsBytesMax: 65_536,
  /** All parts without a meaning, which are passed over. */
  multipartPassedBytesMax: 1_048_576,
  multipartOutsideBytesMax: 8_192,
  /** Bytes at the beginning of a file from which its type is detected. */
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
  /** Shortest and longest life that a client may give a file, as OpenAI has it. */
  fileLifeSecondsMin: 3_600,
  fileLifeSecondsMax: 2_592_000,
  /** An object of the file store without a row, or a row without its object, is believed after this long. */
  orphanAgeMs: 3_600_000,
  /** The process that ended a file has this long to delete its bytes; after that the janitor deletes them. */
  fileDeleteGraceMs: paced(60_000),
} as const;
