/** Applies faults and delays of the sandbox's media models, and converts errors for callers. */
import { MediaError } from "#shared/children/media-error.ts";

import type { MediaCall } from "../../media.ts";
import { ProviderError } from "../../provider.ts";
import { failIfDue } from "../faults.ts";
import type { SandboxMedia } from "../media/index.ts";
import { type SandboxModel, sandboxModel } from "../models.ts";

/** Waits for a duration in milliseconds. Throws when the signal fires. */
export type Delay = (ms: number, signal: AbortSignal) => Promise<void>;

/** Functions on which the sandbox's adapters depend. */
export interface Tools {
  readonly media: () => SandboxMedia;
  readonly delay: Delay;
}

/**
 * Fails or delays a call before the media are generated, as its test model requires.
 * @throws ProviderError the failure of the test model; `aborted` when the call is aborted during the delay
 */
export async function applyFaults(
  { sourceModel, signal }: Pick<MediaCall<unknown>, "sourceModel" | "signal">,
  delay: Delay,
): Promise<void> {
  const model = mediaModel(sourceModel);
  failIfDue(model);
  if (model.delayMs !== undefined) await waiting(delay(model.delayMs, signal));
}

/**
 * Returns a media model of the sandbox by name.
 * @throws ProviderError for an unknown media model
 */
export function mediaModel(sourceModel: string): SandboxModel {
  return sandboxModel(sourceModel, "media");
}

export async function waiting(delay: Promise<void>): Promise<void> {
  try {
    await delay;
  } catch (error) {
    throw new ProviderError("aborted", "the call was aborted", { cause: error });
  }
}

/**
 * Converts an error of the media child processes to a ProviderError. Other errors are returned unchanged.
 * @param param request parameter of the input media, named in the error if the media are invalid
 */
export function explained(error: unknown, param?: string): unknown {
  if (!(error instanceof MediaError)) return error;
  switch (error.fault) {
    case "busy":
    case "timeout":
    case "aborted":
    case "failed":
      return new ProviderError(error.fault, error.message, { cause: error });
    default:
      return new ProviderError("rejected", error.message, {
        code: error.fault === "invalid" ? "unsupported_value" : "unprocessable_input",
        say: error.message,
        ...(param === undefined ? {} : { param }),
      });
  }
}
