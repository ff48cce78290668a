import type { MediaOutcome } from "#schemas/generated/types.ts";

import type { Kept } from "./artifacts.ts";

/** Returns the outcome for the row of a successful job. It contains file ids; links are created for each response. */
export function outcomeOf(
  from: Pick<MediaOutcome, "model"> & Partial<Pick<MediaOutcome, "fallback">>,
  kept: readonly Kept[],
): MediaOutcome {
  return { object: "media.outcome", created: Math.floor(Date.now() / 1_000), ...from, data: kept.map(describe) };
}

function describe({ fileId, contentType, bytes, seconds }: Kept): MediaOutcome["data"][number] {
  return {
    file_id: fileId,
    content_type: contentType,
    bytes,
    ...(seconds === undefined ? {} : { duration_seconds: Math.round(seconds * 1_000) / 1_000 }),
  };
}
