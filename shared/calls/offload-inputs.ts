/**
 * Media that a body brought goes to the object store before the call is admitted: a call waits for minutes, and neither this
 * process nor the queue nor a row is to hold its bytes meanwhile.
 */
import type { InputMedia, StoredInputs } from "#shared/calls/kinds/input-media.ts";
import { ApiError } from "#shared/errors.ts";
import { failpoint } from "#shared/failpoint.ts";
import { deleteCallMedia, storeCallMedia } from "#shared/storage/call-media.ts";

import type { Logger } from "#shared/logger.ts";
import type { Storage } from "#shared/storage/client.ts";

/** Media in a body travels with the call up to this size, and waits in the object store beyond it. */
export const INLINE_INPUT_BYTES_MAX = 32 * 1_024;

interface Context {
  readonly storage: Storage;
  readonly log: Logger;
}

/** Bytes that a body brought. */
export interface Inline {
  /** Our name of the input. */
  readonly name: string;
  /** The member of the body. */
  readonly param: string;
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** The request without the media that goes to the object store and with file ids for own links, and that media. */
export interface ReleasedBody<Request> {
  readonly request: Request;
  /** Once: the body keeps no copy, so that its bytes can be freed. */
  readonly take: () => readonly Inline[];
}

/** Placeholder in a request for bytes that were moved to the object store; the original value was checked before. */
const PLACEHOLDER = "kept";

/** Small media stays where it is: an object for each would cost more than it saves. */
export function releaseBody<Request extends object>(
  request: Request,
  inputs: readonly InputMedia[],
): ReleasedBody<Request> {
  let inline = inputs.filter(
    (one): one is InputMedia & Inline => "bytes" in one && one.bytes.length > INLINE_INPUT_BYTES_MAX,
  );
  const places = [
    ...inline.map(({ param }) => [param, PLACEHOLDER]),
    // The worker reads the file: the link may have expired by then.
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

/** @param part before the names of the objects. @throws ApiError `service_unavailable` */
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

/** Deletes the media of a refused call, which no worker reads. What is not deleted here, the janitor deletes. */
export function discardInputs({ storage, log }: Context, jobId: string, kept: StoredInputs): void {
  for (const { reference } of Object.values(kept)) {
    deleteCallMedia(storage, reference).catch((error: unknown) =>
      log.warn({ err: error, job_id: jobId }, "media of a refused job was not deleted"),
    );
  }
}
