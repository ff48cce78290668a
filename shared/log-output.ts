/**
 * Lines to stdout in batches, written synchronously. pino's own synchronous destination repeats a write that fails for
 * ever, so a log reader that dies would take the process' event loop with it; this one gives up for good on EPIPE.
 */
import { writeSync } from "node:fs";

const STDOUT = 1;
const FLUSH_AFTER_MS = 200;
const BATCH_BYTES = 8_192;
/** A full pipe whose reader is only slow is waited for this long, then the batch is dropped. */
const FULL_PIPE_MAX_MS = 2_000;
const FULL_PIPE_PAUSE_MS = 5;

export interface LogOutput {
  write(line: string): void;
  flush(): void;
}

/** @param write stands in for the system call in tests */
export function createLogOutput(write: (bytes: Uint8Array) => number = (bytes) => writeSync(STDOUT, bytes)): LogOutput {
  let batch = "";
  let isClosed = false;

  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (batch === "") return;
    let bytes: Uint8Array = Buffer.from(batch, "utf8");
    batch = "";
    const giveUpAt = performance.now() + FULL_PIPE_MAX_MS;
    while (bytes.length > 0 && !isClosed) {
      try {
        bytes = bytes.subarray(write(bytes));
      } catch (error) {
        const isFull = (error as { code?: unknown }).code === "EAGAIN";
        if (!isFull) isClosed = true;
        else if (performance.now() > giveUpAt) return;
        else Bun.sleepSync(FULL_PIPE_PAUSE_MS);
      }
    }
  };

  process.on("exit", flush);
  return {
    write(line) {
      if (isClosed) return;
      batch += line;
      if (batch.length >= BATCH_BYTES) flush();
      else timer ??= setTimeout(flush, FLUSH_AFTER_MS).unref();
    },
    flush,
  };
}
