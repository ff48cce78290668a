/** The sandbox's media models, by name: what each rehearses beside making what it is asked for. */
import { MediaError } from "#shared/media/media-error.ts";

import type { MediaCall } from "../../media.ts";
import { ProviderError } from "../../provider.ts";

export interface Rehearsal {
  /** Longer than an impatient client waits. */
  readonly delayMs?: number;
  readonly failsAs?: "failed" | "refused";
  /** Of a job that is asked about: it never ends, or nobody ever learns what became of it. */
  readonly never?: "ends" | "tells";
  /** Of sound that is heard as it comes. */
  readonly breaksOff?: true;
}

/** Ends when the signal fires, by throwing. */
export type Delay = (ms: number, signal: AbortSignal) => Promise<void>;

const COMMON: Readonly<Record<string, Rehearsal>> = {
  "": {},
  "-slow": { delayMs: 5_000 },
  "-error": { failsAs: "failed" },
  "-refuse": { failsAs: "refused" },
};

function family(name: string, further: Readonly<Record<string, Rehearsal>> = {}): [string, Rehearsal][] {
  return Object.entries({ ...COMMON, ...further }).map(([suffix, rehearsal]) => [name + suffix, rehearsal]);
}

export const SANDBOX_MEDIA_MODELS: Readonly<Record<string, Rehearsal>> = Object.fromEntries([
  ...family("sandbox-image"),
  ...family("sandbox-tts", { "-truncate": { breaksOff: true } }),
  ...family("sandbox-stt"),
  ...family("sandbox-video", { "-hang": { never: "ends" }, "-lost": { never: "tells" } }),
  ...family("sandbox-music"),
  ...family("sandbox-3d"),
  ...["remesh", "retexture", "segment", "rig"].map((what): [string, Rehearsal] => [`sandbox-3d-${what}`, {}]),
]);

/** @throws ProviderError as the model is told to fail; `aborted` */
export async function rehearse(
  { sourceModel, signal }: Pick<MediaCall<unknown>, "sourceModel" | "signal">,
  delay: Delay,
): Promise<void> {
  const { failsAs, delayMs } = rehearsalOf(sourceModel);
  if (failsAs) throw new ProviderError(failsAs, "the sandbox fails as it was told to");
  if (delayMs !== undefined) await waiting(delay(delayMs, signal));
}

/** @throws ProviderError for a model that the sandbox has not */
export function rehearsalOf(sourceModel: string): Rehearsal {
  const rehearsal = SANDBOX_MEDIA_MODELS[sourceModel];
  if (!rehearsal) throw new ProviderError("misconfigured", `the sandbox has no model ${sourceModel}`);
  return rehearsal;
}

async function waiting(delay: Promise<void>): Promise<void> {
  try {
    await delay;
  } catch (error) {
    throw new ProviderError("aborted", "the call was aborted", { cause: error });
  }
}

/** @param param what a fault of the given media is about */
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
