/**
 * JSON lines on stdout. Everything a line says passes the redactor (redaction.ts), and lines leave in batches: one
 * write per line would cost more than the rest of the line.
 */
import pino, { type ChildLoggerOptions, type LevelWithSilent, type Logger } from "pino";

import { createLogOutput, type LogOutput } from "./log-output.ts";
import { createRedactor, type Redactor } from "./redaction.ts";

export type { Logger } from "pino";

export interface LoggerOptions {
  readonly level: LevelWithSilent;
  /** Role of the process that logs: ingress, worker, janitor, migrate, admin. */
  readonly role: string;
  /** Receives each finished line instead of stdout: for tests and for commands whose stdout is their answer. */
  readonly write?: (line: string) => void;
  /** Values to blank wherever they appear, beyond what their shape gives away. */
  readonly secrets?: readonly string[];
}

/** Made with the first logger that writes there. A process that dies by SIGKILL loses at most its last batch. */
let stdout: LogOutput | undefined;

/**
 * A logger whose lines hold `time` (ISO), `level` (name), `role`, `pid`, `msg` and the caller's members.
 * Give errors as `{ err }` or as first argument. Children (`log.child({ request_id })`) are redacted alike.
 */
export function createLogger(options: LoggerOptions): Logger {
  const redactor = createRedactor(options.secrets);
  const log = pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors are rendered by the redactor already; pino's default would render that rendering.
      serializers: { err: (rendered: unknown) => rendered },
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(inputs, method) {
          method.apply(this, cleanInputs(redactor, inputs));
        },
      },
    },
    options.write === undefined ? sharedStdout() : { write: options.write },
  );
  // pino asks no hook about a child's bindings. Children inherit from this object, so one wrapper covers them all.
  const plainChild: unknown = Reflect.get(log, "child");
  const makeChild = plainChild as (bindings: object, options?: ChildLoggerOptions) => Logger;
  Object.assign(log, {
    child(this: Logger, bindings: object, childOptions?: ChildLoggerOptions): Logger {
      return Reflect.apply(makeChild, this, [cleanObject(redactor, bindings), childOptions]);
    },
  });
  return log;
}

/** Writes out every buffered line. Call before ending the process by hand; a normal exit does it by itself. */
export function flushLogs(): void {
  stdout?.flush();
}

type LogInputs = [first: unknown, msg?: string, ...args: unknown[]];

/** pino takes (message, …args) or (object, message, …args); an error as first argument becomes `{ err }`. */
function cleanInputs(redactor: Redactor, inputs: readonly unknown[]): LogInputs {
  const [first, ...rest] = inputs;
  const clean = rest.map((part) => (typeof part === "string" ? redactor.text(part) : redactor.value(part)));
  let head: unknown;
  if (typeof first === "string") head = redactor.text(first);
  else if (first instanceof Error) {
    head = { err: redactor.value(first) };
    // The message of a parser quotes what it could not read (redaction.ts).
    if (clean.length === 0) clean.push(first instanceof SyntaxError ? first.name : redactor.text(first.message));
  } else head = redactor.value(first);
  return [head, ...clean] as LogInputs;
}

function cleanObject(redactor: Redactor, value: object): Record<string, unknown> {
  const clean = redactor.value(value);
  return typeof clean === "object" && clean !== null ? { ...clean } : {};
}

/** One output for all loggers of a process, so their lines never interleave. */
function sharedStdout(): LogOutput {
  stdout ??= createLogOutput();
  return stdout;
}
