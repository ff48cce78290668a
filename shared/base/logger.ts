/**
 * Creates loggers that write JSON lines to stdout. Every line passes the redactor (redaction.ts). Lines are written in batches, because one
 * write per line would cost more than the formatting.
 */
import pino, { type ChildLoggerOptions, type LevelWithSilent, type Logger } from "pino";

import { createLogOutput, type LogOutput } from "./log-output.ts";
import { createRedactor, type Redactor } from "./redaction.ts";

export type { Logger } from "pino";

export interface LoggerOptions {
  readonly level: LevelWithSilent;
  /** Role of the process in each line: ingress, worker, janitor, migrate, admin. */
  readonly role: string;
  /** Receives each finished line instead of stdout. For tests, and for commands that print their result to stdout. */
  readonly write?: (line: string) => void;
  /** Secret values to redact wherever they appear, in addition to those that are recognised by their format. */
  readonly secrets?: readonly string[];
}

/** Output to stdout, created with the first logger that uses it. A process killed by SIGKILL loses at most its last batch of lines. */
let stdout: LogOutput | undefined;

/**
 * Returns a logger whose lines contain `time` (ISO), `level` (name), `role`, `pid`, `msg` and the given members. Pass errors as `{ err }`
 * or as first argument. Child loggers (`log.child({ request_id })`) are redacted as well.
 */
export function createLogger(options: LoggerOptions): Logger {
  const redactor = createRedactor(options.secrets);
  const log = pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      // The redactor has already serialized errors; pino's default would serialize the result again.
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
  // pino has no hook for bindings of a child. Children inherit from this object, so one wrapper covers all of them.
  const plainChild: unknown = Reflect.get(log, "child");
  const makeChild = plainChild as (bindings: object, options?: ChildLoggerOptions) => Logger;
  Object.assign(log, {
    child(this: Logger, bindings: object, childOptions?: ChildLoggerOptions): Logger {
      return Reflect.apply(makeChild, this, [cleanObject(redactor, bindings), childOptions]);
    },
  });
  return log;
}

/** Writes all buffered lines. Call this before a forced exit; a normal exit does it automatically. */
export function flushLogs(): void {
  stdout?.flush();
}

type LogInputs = [first: unknown, msg?: string, ...args: unknown[]];

/**
 * Redacts the arguments of a log call. pino accepts (message, …args) or (object, message, …args). An error as first argument becomes `{ err
 * }`.
 */
function cleanInputs(redactor: Redactor, inputs: readonly unknown[]): LogInputs {
  const [first, ...rest] = inputs;
  const clean = rest.map((part) => (typeof part === "string" ? redactor.text(part) : redactor.value(part)));
  let head: unknown;
  if (typeof first === "string") head = redactor.text(first);
  else if (first instanceof Error) {
    head = { err: redactor.value(first) };
    // The message of a parser quotes the invalid text (redaction.ts).
    if (clean.length === 0) clean.push(first instanceof SyntaxError ? first.name : redactor.text(first.message));
  } else head = redactor.value(first);
  return [head, ...clean] as LogInputs;
}

function cleanObject(redactor: Redactor, value: object): Record<string, unknown> {
  const clean = redactor.value(value);
  return typeof clean === "object" && clean !== null ? { ...clean } : {};
}

/** Returns the output that all loggers of a process share, so that lines never interleave. */
function sharedStdout(): LogOutput {
  stdout ??= createLogOutput();
  return stdout;
}
