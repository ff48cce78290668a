/** Limits on what a workspace may have, and on reading and writing its settings. */
export const SETTINGS_LIMITS = {
  settingsBodyBytesMax: 65_536,
  settingsNameCharsMax: 64,
  /** In the 30 days for which a name that was given up is kept. */
  workspaceRenamesMax: 10,
  settingsPageDefault: 20,
  settingsPageMax: 100,
  /** Rows of one CSV: what a spreadsheet still opens. */
  csvRowsMax: 100_000,
  /** Keys that are neither revoked nor expired. */
  keysPerWorkspaceMax: 1_000,
  membersPerWorkspaceMax: 1_000,
  channelsPerWorkspaceMax: 100,
  subscriptionsPerChannelMax: 100,
  budgetAlertsPerWorkspaceMax: 50,
  /** Buckets of one answer: a month by the hour would be 744. */
  usageBucketsMax: 400,
  /** The same in sums, where they are grouped: a page ends before a bucket that would exceed it. */
  usageSumsMax: 10_000,
  keyOverlapSecondsMax: 604_800,
  /** Deliveries that are sent again at once. */
  recoverDaysMax: 14,
  recoverMax: 10_000,
} as const;
