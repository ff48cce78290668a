/** Limits on an archive's content, counted while it is read: its own headers are its maker's word. */
export const ARCHIVE_LIMITS = {
  archiveEntriesMax: 10_000,
  archiveUnpackedBytesMax: 2_048 * 1_048_576,
  /** Bytes out for each byte in: what inflates further is a bomb. */
  archiveRatioMax: 200,
  /** Small archives of much of the same byte are none. */
  archiveRatioFreeBytes: 10 * 1_048_576,
  archivePathBytesMax: 1_024,
} as const;
