/** Maps errors that engines throw to errors about the caller's data. */
import { MediaError } from "#shared/children/media-error.ts";

/** Matches error messages of libvips, whose decoders read images. */
const OF_IMAGES = /Input (?:file|buffer)|unsupported image|corrupt|premature|VipsJpeg|vips|pngload|webp|gifload|tiff/i;
const OF_DEPTH = /call stack size exceeded/i;
/**
 * Matches error messages about missing memory: of JavaScriptCore (oversized strings and buffers), Emscripten, C++ and the system (ENOMEM).
 */
const OF_MEMORY = /out of memory|cannot (?:allocate|enlarge) memory|memory allocation|bad_alloc|ENOMEM|\bOOM\b/i;

/** True if an engine overflowed the call stack, which means that its data is nested too deeply. */
export function isOfDepth(error: unknown): boolean {
  return error instanceof RangeError && OF_DEPTH.test(error.message);
}

/** Converts an engine's error to an error about the caller's data. An error that is a bug of this service is returned unchanged. */
export function asMediaError(error: unknown): unknown {
  const fault = ofEngine(error);
  if (fault instanceof MediaError || !(error instanceof Error)) return fault;
  return OF_IMAGES.test(error.message)
    ? new MediaError("corrupt", "The image cannot be decoded.", { cause: error })
    : error;
}

/** Returns `too_large` if the error is about memory, size or depth, otherwise `corrupt` with the given message. */
export function corruptOr(error: unknown, message: string): MediaError {
  const fault = ofEngine(error);
  return fault instanceof MediaError ? fault : new MediaError("corrupt", message, { cause: error });
}

/** Converts errors that every engine can throw. Other errors are returned unchanged. */
function ofEngine(error: unknown): unknown {
  if (error instanceof MediaError || !(error instanceof Error)) return error;
  const cause = { cause: error };
  if (OF_DEPTH.test(error.message)) {
    return new MediaError("too_large", "The data is nested too deeply.", cause);
  }
  if (OF_MEMORY.test(error.message)) {
    return new MediaError("too_large", "The work needs more memory than one run may use.", cause);
  }
  const format = /too large for the (\S+) format/i.exec(error.message)?.[1];
  if (format !== undefined) {
    return new MediaError(
      "too_large",
      `Expected a result with fewer pixels on a side: ${format} cannot hold it.`,
      cause,
    );
  }
  // WebAssembly traps when a decoder meets data that it does not expect.
  if (error instanceof WebAssembly.RuntimeError) {
    return new MediaError("corrupt", "The data cannot be decoded: its decoder failed.", cause);
  }
  return error;
}
