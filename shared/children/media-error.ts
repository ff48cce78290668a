/**
 * Reason why media could not be read or created. `unsupported`, `corrupt`, `too_large` and `invalid` are the caller's faults; the others
 * are ours.
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

/** The message is one plain sentence that a client may read, except for `failed`, which is only logged. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  readonly fault: MediaFault;
  /** True if a child created the message, which may quote its input. */
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

/** For errors received as data from a child process. */
export function isMediaFault(value: unknown): value is MediaFault {
  return FAULTS.some((fault) => fault === value);
}
