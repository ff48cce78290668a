/**
 * Lines to stdout in batches, written synchronously, and the cheap lines of the hot path. pino's own synchronous destination repeats a write that fails for
 * ever, so a log reader that dies would take the process' event loop with it; this one gives up for good on EPIPE. What a full disk does not
 * take is lost, and what comes later is written again.
 */
import { writeSync } from "node:fs";

import { type Logger, symbols } from "pino";

const STDOUT = 1;
const FLUSH_AFTER_MS = 200;
const BATCH_BYTES = 8_192;
/** A full pipe whose reader is only slow is waited for this long, then the batch is dropped. */
const FULL_PIPE_MAX_MS = 2_000;
const FULL_PIPE_PAUSE_MS = 5;
/** Faults of a disk, which may take the next batch. */
const PASSING: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EIO"]);

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
        const { code } = error as { code?: unknown };
        if (PASSING.has(code)) return;
        if (code !== "EAGAIN") isClosed = true;
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

/** Ids, names of our own and of the catalogue, numbers: never what a caller, a provider or an error said. */
export type HotMembers = Readonly<Record<string, string | number>>;

interface Inside {
  /** Bindings of the logger and its parents, as the text that pino puts into each line. */
  readonly [symbols.chindingsSym]: string;
  readonly [symbols.streamSym]: { write(line: string): void };
}

/**
 * A writer of lines at level info that look like the logger's own, one for every call: written by hand, since pino and the
 * redactor cost ten times as much. Its members pass no redactor: the caller answers for them.
 */
export function hotLine(log: Logger, msg: string): (members: HotMembers) => void {
  const inside = log as unknown as Inside;
  const bindings = inside[symbols.chindingsSym];
  const stream = inside[symbols.streamSym];
  const end = `,"msg":${JSON.stringify(msg)}}\n`;
  return (members) => {
    if (!log.isLevelEnabled("info")) return;
    const own = JSON.stringify(members).slice(1, -1);
    stream.write(`{"level":"info","time":"${new Date().toISOString()}"${bindings},${own}${end}`);
  };
}
