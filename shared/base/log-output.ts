/**
 * Writes log lines to stdout in batches, synchronously, including the hand-formatted lines that each call logs. The synchronous destination
 * of pino retries a failed write forever, so that a crashed log reader would block the event loop. This output stops writing permanently
 * after EPIPE. Lines that a full disk rejects are lost; later lines are written again.
 */
import { writeSync } from "node:fs";

import { type Logger, symbols } from "pino";

const STDOUT = 1;
const FLUSH_AFTER_MS = 200;
const BATCH_BYTES = 8_192;
/** Maximum wait for a slow reader of a full pipe, in milliseconds. Afterwards, the batch is dropped. */
const FULL_PIPE_MAX_MS = 2_000;
const FULL_PIPE_PAUSE_MS = 5;
/** Error codes of the disk after which the next batch may succeed. */
const PASSING: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EIO"]);

export interface LogOutput {
  write(line: string): void;
  flush(): void;
}

/**
 * Creates the output of log lines to stdout.
 * @param write replaces the system call in tests
 */
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

/**
 * Members of a hot-path log line: ids, our own names, names of the catalogue and numbers. Never text of a caller, a provider or an error.
 */
export type HotMembers = Readonly<Record<string, string | number>>;

interface Inside {
  /** Bindings of the logger and its parents, in the text form that pino adds to each line. */
  readonly [symbols.chindingsSym]: string;
  readonly [symbols.streamSym]: { write(line: string): void };
}

/**
 * Returns a function that logs an info line in the format of the logger, for lines that every call writes. Lines are formatted by hand,
 * because pino and the redactor cost ten times as much. The members are not redacted: the caller must pass safe values.
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
