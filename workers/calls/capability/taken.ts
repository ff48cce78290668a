/** Fetched inputs of runs: the file that they are written to, and the errors when a fetch fails. */
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

import { ApiError } from "#shared/errors.ts";
import { OutboundError, type OutboundFault } from "#shared/outbound/fetch.ts";

export interface OpenFile {
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

export function openFile(path: string): OpenFile {
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
  unsafe: "The address is not a public one.",
  unreachable: "Nothing could be fetched from this address.",
  status: "The server at this address did not send what was asked for.",
  timeout: "The server at this address was too slow.",
};

/** Maps the failure of a fetch to the caller's error; returns any other error as it is. */
export function fetchFault(error: unknown, param: string, bytesMax: number): unknown {
  if (!(error instanceof OutboundError)) return error;
  if (error.fault === "too_large") return tooLarge(param, bytesMax);
  const code = error.fault === "unsafe" ? "unsafe_url" : "unprocessable_input";
  const { fault, status = 0 } = error;
  // An answer that began well and stopped, or cannot be read, is told by what went wrong.
  const isRefused = fault === "status" && (status < 200 || status > 299) && status !== 0;
  const sentence = isRefused ? `The server at this address answered ${status}.` : SENTENCES[fault];
  return new ApiError(code, sentence, { param, cause: error });
}

export function tooLarge(param: string, bytesMax: number, got?: number): ApiError {
  const found = got === undefined ? "more" : String(got);
  return new ApiError("unprocessable_input", `Expected at most ${bytesMax} bytes, got ${found}.`, { param });
}
