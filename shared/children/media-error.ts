/**
 * Reason why media could not be read or created. `unsupported`, `corrupt`, `too_large` and `invalid` are caused by the caller, the others
 * by this service.
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

/** Error of a media task. Its message is one plain sentence that a client may read. The message of `failed` is only logged. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  readonly fault: MediaFault;
  /** True if a child created the message. Such a message may quote the child's input. */
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

/** Returns true if a value from a child process is one of the known faults. */
export function isMediaFault(value: unknown): value is MediaFault {
  return FAULTS.some((fault) => fault === value);
}
