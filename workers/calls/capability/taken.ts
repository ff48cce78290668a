/** Stores the fetched inputs of runs: writes the received bytes to a file, and maps the errors of failed fetches. */
import { createWriteStream, writeFileSync } from "node:fs";
import { finished } from "node:stream/promises";

import { ApiError } from "#shared/base/errors.ts";
import { addressFault, OutboundError, type OutboundFault } from "#shared/net/fetch.ts";
import { WEB_REDIRECTS_MAX } from "#workers/capabilities/limits.ts";

export interface OpenFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Closes the file. Calling it twice is safe. */
  end(): Promise<void>;
}

/** Maximum size of a file that is written in one write, in bytes. Larger files are written chunk by chunk, asynchronously. */
export const SMALL_FILE_BYTES_MAX = 65_536;

/** Opens a new file for writing. The file is created on disk when it is closed or when it exceeds `SMALL_FILE_BYTES_MAX`. */
export function openFile(path: string): OpenFile {
  const begun: Uint8Array[] = [];
  let length = 0;
  let large: OpenFile | undefined;
  let ended: Promise<void> | undefined;
  const finish = async (): Promise<void> => {
    if (large) await large.end();
    else writeFileSync(path, Buffer.concat(begun), { flag: "wx", mode: 0o600 });
  };
  return {
    async write(bytes) {
      length += bytes.length;
      if (!large && length > SMALL_FILE_BYTES_MAX) {
        large = openLarge(path);
        await large.write(Buffer.concat(begun.splice(0)));
      }
      if (large) await large.write(bytes);
      // Copied, because the caller may reuse the memory.
      else begun.push(new Uint8Array(bytes));
    },
    end: () => (ended ??= finish()),
  };
}

function openLarge(path: string): OpenFile {
  const stream = createWriteStream(path, { flags: "wx", mode: 0o600 });
  const written = finished(stream);
  written.catch(() => undefined);
  return {
    async write(bytes: Uint8Array): Promise<void> {
      if (stream.write(bytes)) return;
      await Promise.race([new Promise<void>((resolve) => void stream.once("drain", resolve)), written]);
    },
    async end(): Promise<void> {
      stream.end();
      await written;
    },
  };
}

const SENTENCES: Readonly<Record<Exclude<OutboundFault, "too_large">, string>> = {
  unsafe: "The address is not public.",
  unreachable: "The server at this address cannot be reached.",
  status: "The server at this address returned no usable response.",
  redirects: `The address redirects more than ${WEB_REDIRECTS_MAX} times.`,
  timeout: "The server at this address did not respond in time.",
};

/** Maps a fetch error to an error for the caller. Any other error is returned unchanged. */
export function fetchFault(error: unknown, param: string, bytesMax: number): unknown {
  if (!(error instanceof OutboundError)) return error;
  if (error.fault === "too_large") return tooLarge(param, bytesMax);
  const { fault, status = 0 } = error;
  // A successful status whose body broke off or cannot be read gets the sentence of its fault.
  const isRefused = fault === "status" && (status < 200 || status > 299) && status !== 0;
  const sentence = isRefused ? `The server at this address returned status ${status}.` : SENTENCES[fault];
  return new ApiError(addressFault(error), sentence, { param, cause: error });
}

export function tooLarge(param: string, bytesMax: number, got?: number): ApiError {
  const found = got === undefined ? "more" : String(got);
  return new ApiError("unprocessable_input", `Expected at most ${bytesMax} bytes, got ${found}.`, { param });
}
