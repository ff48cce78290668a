/** Log lines of the hot path, one for every call: written by hand, since pino and the redactor cost ten times as much. */
import { type Logger, symbols } from "pino";

/** Ids, names of our own and of the catalogue, numbers: never what a caller, a provider or an error said. */
export type HotMembers = Readonly<Record<string, string | number>>;

interface Inside {
  /** Bindings of the logger and its parents, as the text that pino puts into each line. */
  readonly [symbols.chindingsSym]: string;
  readonly [symbols.streamSym]: { write(line: string): void };
}

/**
 * A writer of lines at level info that look like the logger's own. Its members pass no redactor: whoever calls it answers for
 * them.
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
