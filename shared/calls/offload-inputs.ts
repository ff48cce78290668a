/**
 * Moves media of a body to the object store before the call is admitted. A call may wait for minutes, and its bytes must not fill this
 * process, the queue or a database row meanwhile.
 */
import type { InputMedia, StoredInputs } from "#shared/calls/kinds/input-media.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { deleteCallMedia, storeCallMedia } from "#shared/storage/call-media.ts";

import type { Logger } from "#shared/base/logger.ts";
import type { Storage } from "#shared/storage/client.ts";

/** Maximum size of media that stays in the body, in bytes. Larger media is moved to the object store. */
export const INLINE_INPUT_BYTES_MAX = 32 * 1_024;

interface Context {
  readonly storage: Storage;
  readonly log: Logger;
}

/** Media that was part of a request body. */
export interface Inline {
  /** Name of the input inside this service. */
  readonly name: string;
  /** Member of the body that contained the media. */
  readonly param: string;
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** A request without its large media, and this media, which must be moved to the object store. File ids replace links of this service. */
export interface ReleasedBody<Request> {
  readonly request: Request;
  /** Returns the media and removes it from this object, so that its bytes can be freed later. Call this once. */
  readonly take: () => readonly Inline[];
}

/** Value that replaces media in a request after the media was moved to the object store. The original value was checked before. */
const PLACEHOLDER = "kept";

/**
 * Removes large media from a request so that it can be moved to the object store. Small media stays in the body, because an object for each
 * would cost more than it saves.
 */
export function releaseBody<Request extends object>(
  request: Request,
  inputs: readonly InputMedia[],
): ReleasedBody<Request> {
  let inline = inputs.filter(
    (one): one is InputMedia & Inline => "bytes" in one && one.bytes.length > INLINE_INPUT_BYTES_MAX,
  );
  const places = [
    ...inline.map(({ param }) => [param, PLACEHOLDER]),
    // The worker reads the file, since the link may have expired by then.
    ...inputs.flatMap((one) =>
      "fileId" in one && one.param === `${one.name}_url`
        ? [
            [one.param, undefined],
            [`${one.name}_file_id`, one.fileId],
          ]
        : [],
    ),
  ];
  return {
    request: places.length === 0 ? request : { ...request, ...Object.fromEntries(places) },
    take() {
      const taken = inline;
      inline = [];
      return taken;
    },
  };
}

/**
 * Writes media to the object store and returns the references.
 * @param part prefix of the objects' names
 * @throws ApiError `service_unavailable`
 */
export async function offloadInputs(
  context: Context,
  jobId: string,
  inputs: readonly Inline[],
  part = "",
): Promise<StoredInputs> {
  const kept: Record<string, StoredInputs[string]> = {};
  try {
    for (const { name, bytes, contentType } of inputs) {
      const reference = await storeCallMedia(context.storage, jobId, part + name, bytes);
      failpoint("request.stored");
      kept[name] = { reference, content_type: contentType };
    }
    return kept;
  } catch (error) {
    discardInputs(context, jobId, kept);
    throw new ApiError("service_unavailable", "Media cannot be stored right now; try again shortly.", { cause: error });
  }
}

/** Deletes the stored media of a rejected call, which no worker reads. The janitor deletes media that remains after an error. */
export function discardInputs({ storage, log }: Context, jobId: string, kept: StoredInputs): void {
  for (const { reference } of Object.values(kept)) {
    deleteCallMedia(storage, reference).catch((error: unknown) =>
      log.warn({ err: error, job_id: jobId }, "the media of a refused job could not be deleted"),
    );
  }
}
