/** Fetched inputs of runs: the file that they are written to, and the errors when a fetch fails. */
import { createWriteStream, writeFileSync } from "node:fs";
import { finished } from "node:stream/promises";

import { ApiError } from "#shared/errors.ts";
import { addressFault, OutboundError, type OutboundFault } from "#shared/outbound/fetch.ts";
import { WEB_REDIRECTS_MAX } from "#workers/capabilities/limits.ts";

export interface OpenFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Safe to call twice. */
  end(): Promise<void>;
}

/** So much is written at once; more in turns with other work. */
export const SMALL_FILE_BYTES_MAX = 65_536;

/** Makes the file, which is not there yet: when it ends, or grows beyond what is small. */
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
      // Its memory may be used again.
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

/** Maps the failure of a fetch to the caller's error; returns any other error as it is. */
export function fetchFault(error: unknown, param: string, bytesMax: number): unknown {
  if (!(error instanceof OutboundError)) return error;
  if (error.fault === "too_large") return tooLarge(param, bytesMax);
  const { fault, status = 0 } = error;
  // An answer that began well and stopped, or cannot be read, is told by what went wrong.
  const isRefused = fault === "status" && (status < 200 || status > 299) && status !== 0;
  const sentence = isRefused ? `The server at this address returned status ${status}.` : SENTENCES[fault];
  return new ApiError(addressFault(error), sentence, { param, cause: error });
}

export function tooLarge(param: string, bytesMax: number, got?: number): ApiError {
  const found = got === undefined ? "more" : String(got);
  return new ApiError("unprocessable_input", `Expected at most ${bytesMax} bytes, got ${found}.`, { param });
}
