/** Limits on requests to /operator and on the work of one. */
export const OPERATOR_LIMITS = {
  /** Calls with one token, in one process. */
  operatorCallsPerMinuteMax: 600,
  /** Live ones: all of them are read at once. */
  operatorTokensMax: 1_000,
  /** A file of the catalogue is 10 KB; parsing 1 MB would keep other callers of the process waiting. */
  catalogueCheckBytesMax: 262_144,
  redriveMax: 100,
  /** Longest audit for a request; the command may take longer. */
  operatorAuditMs: 60_000,
} as const;
