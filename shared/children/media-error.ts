/**
 * Why a piece of media could not be read or made. `unsupported`, `corrupt`, `too_large` and `invalid` are the caller's to
 * mend; the others are ours.
 */
export type MediaFault =
  | "unsupported"
  | "corrupt"
  | "too_large"
  | "invalid"
  | "busy"
  | "timeout"
  | "aborted"
  | "failed";

const FAULTS: readonly MediaFault[] = [
  "unsupported",
  "corrupt",
  "too_large",
  "invalid",
  "busy",
  "timeout",
  "aborted",
  "failed",
];

/** The message is one plain sentence that a client may read, except for `failed`, which goes to the log only. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  readonly fault: MediaFault;
  /** Its message came from a child, which may repeat in it what it was given. */
  readonly isRelayed: boolean;

  constructor(
    fault: MediaFault,
    message: string,
    options: { readonly cause?: unknown; readonly isRelayed?: boolean } = {},
  ) {
    const { isRelayed = false, ...more } = options;
    super(message, more);
    this.fault = fault;
    this.isRelayed = isRelayed;
  }
}

/** For errors that crossed from a child process as data. */
export function isMediaFault(value: unknown): value is MediaFault {
  return FAULTS.some((fault) => fault === value);
}
