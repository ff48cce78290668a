/** Maps errors that engines throw at a caller's data to faults that the caller can mend. */
import { MediaError } from "#shared/children/media-error.ts";

/** Error messages of libvips, whose decoders read images. */
const OF_IMAGES = /Input (?:file|buffer)|unsupported image|corrupt|premature|VipsJpeg|vips|pngload|webp|gifload|tiff/i;
const OF_DEPTH = /call stack size exceeded/i;

/** The error itself where it is no fault of the data: a crash of ours. */
export function asMediaError(error: unknown): unknown {
  if (error instanceof MediaError || !(error instanceof Error)) return error;
  if (OF_DEPTH.test(error.message)) {
    return new MediaError("too_large", "Expected data whose parts are nested less deep.", { cause: error });
  }
  const format = /too large for the (\S+) format/i.exec(error.message)?.[1];
  if (format !== undefined) {
    return new MediaError("too_large", `Expected a result with fewer pixels on a side: ${format} cannot hold it.`, {
      cause: error,
    });
  }
  return OF_IMAGES.test(error.message)
    ? new MediaError("corrupt", "The image cannot be decoded.", { cause: error })
    : error;
}
