/** The admin role: runs one command. Results go to stdout, errors to stderr. */
import { ApiError } from "#shared/base/errors.ts";

import { ACCOUNT_COMMANDS } from "./accounts.ts";
import { ALERT_COMMANDS } from "./alerts.ts";
import { CATALOGUE_COMMANDS } from "./catalogue.ts";
import { type Command, commandName, type Live, readLine, UsageError } from "./command.ts";
import { CONSOLE_COMMANDS } from "./console-link.ts";
import { openContext } from "./context.ts";
import { commandText, listText, unknownText, usageLine } from "./help.ts";
import { IMPORT_COMMANDS } from "./import.ts";
import { LIMIT_COMMANDS } from "./limits.ts";
import { MAINTENANCE_COMMANDS } from "./maintenance.ts";
import { OPERATOR_COMMANDS } from "./operators.ts";
import { RESTORE_COMMANDS } from "./restore.ts";
import { refusedError } from "./service.ts";
import { SETUP_COMMANDS } from "./setup.ts";
import { textOf } from "./table.ts";
import { SERVICE_COMMANDS } from "./verbs.ts";
import { WEBHOOK_COMMANDS } from "./webhook-listen.ts";

const HELP: Command = {
  usage: "help [command…]",
  about: "Lists the commands by task. With a command: its options and an example.",
  needs: "nothing",
  async run(_context, { rest }) {
    if (rest.length > 0) {
      const command = findCommand(rest);
      if (command === undefined) throw new UsageError(unknownText(COMMANDS, rest));
      return { json: jsonOf(command), text: commandText(command) };
    }
    return { json: COMMANDS.map(jsonOf), text: listText(COMMANDS) };
  },
};

function jsonOf(command: Command): Record<string, unknown> {
  const { about, needs, usage } = command;
  return { command: commandName(command), usage: `${usage} [--json]`, about, needs };
}

const COMMANDS: readonly Command[] = [
  ...SERVICE_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...LIMIT_COMMANDS,
  ...ALERT_COMMANDS,
  ...CONSOLE_COMMANDS,
  ...OPERATOR_COMMANDS,
  ...MAINTENANCE_COMMANDS,
  ...RESTORE_COMMANDS,
  ...CATALOGUE_COMMANDS,
  ...IMPORT_COMMANDS,
  ...SETUP_COMMANDS,
  ...WEBHOOK_COMMANDS,
  HELP,
];

/** Output streams and environment of a command, and the signal that interrupts the command. */
export interface Edge {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Environment variables. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Returns the signal that interrupts the command. Default: SIGINT and SIGTERM of the process. */
  readonly interruption?: () => AbortSignal;
}

const PROCESS: Edge = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
};

/** Runs one command line and returns its exit code: 0 success, 1 error or failed check, 2 wrong usage. Never throws. */
export async function runAdminCommand(args: readonly string[], edge: Edge = PROCESS): Promise<number> {
  const { stdout, stderr, environment, interruption = interruptionOfProcess } = edge;
  const first = args[0];
  const isHelp = first === "--help" || first === "-h";
  const command = isHelp ? HELP : findCommand(args);
  if (command === undefined) {
    stderr(`${unknownText(COMMANDS, args)}\nusage: ${usageLine(HELP)}\n`);
    return 2;
  }
  const context = openContext(stderr, environment);
  try {
    const line = readLine(command, isHelp ? args.slice(1) : args.slice(countNameWords(command, args)));
    if (line.isHelp) {
      stdout(`${commandText(command)}\n`);
      return 0;
    }
    const print: Live["print"] = (part) => stdout(`${line.isJson ? JSON.stringify(part.json) : textOf(part)}\n`);
    const answer = await command.run(context, line.input, { print, interruption });
    print(answer);
    return answer.exitCode ?? 0;
  } catch (thrown) {
    const error = thrown instanceof ApiError ? refusedError(thrown) : thrown;
    if (error instanceof UsageError) {
      stderr(`${error.message}\nusage: ${usageLine(command)}\n`);
      return 2;
    }
    stderr(`sluice: ${oneLine(error)}\n`);
    return 1;
  } finally {
    await context.close();
  }
}

function interruptionOfProcess(): AbortSignal {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => ending.abort());
  return ending.signal;
}

function findCommand(args: readonly string[]): Command | undefined {
  const two = args.slice(0, 2).join(" ");
  return COMMANDS.find((command) => [two, args[0]].includes(commandName(command)) || command.alias === two);
}

/** Returns the number of words that name the command. */
function countNameWords(command: Command, args: readonly string[]): number {
  return commandName(command) === args[0] ? 1 : 2;
}

/** Returns the message of an error and of its causes, on one line. */
function oneLine(error: unknown): string {
  const parts: string[] = [];
  let fault = error;
  for (let depth = 0; fault instanceof Error && depth < 4; depth++) {
    // a refused connection is one error per address tried, with no message of its own
    const next: unknown = fault instanceof AggregateError && fault.message === "" ? fault.errors[0] : fault.cause;
    // A parser's prefix must not make its message appear twice.
    const message = fault.message.replace(/^YAML Parse error: /, "");
    if (message !== "" && !parts.some((part) => part.includes(message))) parts.push(message);
    fault = next;
  }
  return (parts.length > 0 ? parts.join(": ") : String(error)).replaceAll(/\s*\n\s*/g, "; ");
}
