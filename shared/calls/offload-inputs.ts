/**
 * Moves media of a body to the object store before the call is admitted: a call waits for minutes, and its bytes should not occupy this
 * process, the queue or a row meanwhile.
 */
import type { InputMedia, StoredInputs } from "#shared/calls/kinds/input-media.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { deleteCallMedia, storeCallMedia } from "#shared/storage/call-media.ts";

import type { Logger } from "#shared/base/logger.ts";
import type { Storage } from "#shared/storage/client.ts";

/** Maximum bytes of media that stay in the body; larger media is moved to the object store. */
export const INLINE_INPUT_BYTES_MAX = 32 * 1_024;

interface Context {
  readonly storage: Storage;
  readonly log: Logger;
}

/** Bytes from a body. */
export interface Inline {
  /** Our name of the input. */
  readonly name: string;
  /** The member of the body. */
  readonly param: string;
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** The request with file ids for own links and without the media for the object store, and that media. */
export interface ReleasedBody<Request> {
  readonly request: Request;
  /** Call this once: the body keeps no copy, so that its bytes can be freed. */
  readonly take: () => readonly Inline[];
}

/** Placeholder in a request for bytes that were moved to the object store; the original value was checked before. */
const PLACEHOLDER = "kept";

/** Small media stays in the body: an object for each would cost more than it saves. */
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

/** @param part prefix of the objects' names. @throws ApiError `service_unavailable` */
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

/** Deletes the media of a rejected call, which no worker reads. The janitor deletes the rest. */
export function discardInputs({ storage, log }: Context, jobId: string, kept: StoredInputs): void {
  for (const { reference } of Object.values(kept)) {
    deleteCallMedia(storage, reference).catch((error: unknown) =>
      log.warn({ err: error, job_id: jobId }, "the media of a refused job could not be deleted"),
    );
  }
}
