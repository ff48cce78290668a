/** The admin role: one command, answered on stdout, complaints on stderr. */
import { ADMIN } from "#shared/command-lines.ts";

import { ACCOUNT_COMMANDS } from "./accounts.ts";
import { CATALOGUE_COMMANDS } from "./catalogue.ts";
import { type Command, commandName, type Live, quote, readLine, UsageError } from "./command.ts";
import { openContext } from "./context.ts";
import { IMPORT_COMMANDS } from "./import.ts";
import { MAINTENANCE_COMMANDS } from "./maintenance.ts";
import { OPERATOR_COMMANDS } from "./operators.ts";
import { RESTORE_COMMANDS } from "./restore.ts";
import { SETUP_COMMANDS } from "./setup.ts";
import { textOf } from "./table.ts";
import { SERVICE_COMMANDS } from "./verbs.ts";
import { WEBHOOK_COMMANDS } from "./webhook-listen.ts";

const HELP: Command = {
  usage: "help",
  about: "this list",
  needs: "nothing",
  async run() {
    const json = COMMANDS.map((command) => {
      const { about, needs } = command;
      return { command: commandName(command), usage: usageLine(command), about, needs };
    });
    const groups = Object.entries(NEEDS).map(([needs, title]) => {
      const commands = COMMANDS.filter((command) => command.needs === needs);
      return `${title}\n\n${commands.map((command) => `  ${usageLine(command)}\n      ${command.about}`).join("\n")}`;
    });
    return { json, text: `usage: ${ADMIN} <command>\n\n${groups.join("\n\n")}\n\n${NOTES}` };
  },
};

const NEEDS: Readonly<Record<Command["needs"], string>> = {
  service: `To a running service, with an operator token in SLUICE_OPERATOR_TOKEN. It is at --url or SLUICE_URL, else it is the stack that
npm start runs here, whose token need not be given, else http://127.0.0.1:8080:`,
  database: `On the database of DATABASE_URL, else of the stack that npm start runs here, also while no service runs:`,
  nothing: "On this machine alone:",
};

const NOTES = `A workspace is named by its name or its id. Amounts are credits; a negative one may stand last on the line.
In the container image: bun deploy/sluice.ts admin <command>.
--json answers with one line of JSON in which amounts are decimal text in credits. A list has at most 10000 rows.
Dead letters of calls cannot be sent again, since their callers have long had an answer; those of jobs can.
Exit codes: 0 done, 1 fault or a check that found something, 2 wrong usage.`;

const COMMANDS: readonly Command[] = [
  ...SERVICE_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...OPERATOR_COMMANDS,
  ...MAINTENANCE_COMMANDS,
  ...RESTORE_COMMANDS,
  ...CATALOGUE_COMMANDS,
  ...IMPORT_COMMANDS,
  ...SETUP_COMMANDS,
  ...WEBHOOK_COMMANDS,
  HELP,
];

/** Output streams of a command, its environment, and the signal that interrupts it. */
export interface Edge {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Those of the process when absent. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Those of the process's signals when absent. */
  readonly interruption?: () => AbortSignal;
}

const PROCESS: Edge = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
};

/**
 * Runs one command line and returns its exit code: 0 done, 1 a fault or a check that found something, 2 wrong usage.
 * Never throws.
 */
export async function runAdminCommand(args: readonly string[], edge: Edge = PROCESS): Promise<number> {
  const { stdout, stderr, environment, interruption = interruptionOfProcess } = edge;
  const first = args[0];
  const isHelp = first === "--help" || first === "-h";
  const command = isHelp ? HELP : findCommand(args);
  if (command === undefined) {
    stderr(`${unknownCommand(args)}\n`);
    return 2;
  }
  const context = openContext(stderr, environment);
  try {
    const line = readLine(command, isHelp ? args.slice(1) : args.slice(wordsOf(command, args)));
    if (line.isHelp) {
      stdout(`usage: ${ADMIN} ${usageLine(command)}\n${command.about}\n`);
      return 0;
    }
    const tell: Live["tell"] = (part) => stdout(`${line.isJson ? JSON.stringify(part.json) : textOf(part)}\n`);
    const answer = await command.run(context, line.given, { tell, interruption });
    tell(answer);
    return answer.exitCode ?? 0;
  } catch (error) {
    if (error instanceof UsageError) {
      stderr(`${error.message}\nusage: ${ADMIN} ${usageLine(command)}\n`);
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

function usageLine({ usage }: Command): string {
  return `${usage} [--json]`;
}

/** Number of words on the line that name the command. */
function wordsOf(command: Command, args: readonly string[]): number {
  return commandName(command) === args[0] ? 1 : 2;
}

function unknownCommand(args: readonly string[]): string {
  const group = COMMANDS.filter(({ usage }) => usage.split(" ")[0] === args[0]);
  const expected =
    group.length > 0
      ? `expected ${args[0]} with ${group.map(({ usage }) => usage.split(" ")[1]).join(", ")}`
      : "expected a command";
  const got = args.length === 0 ? "none" : quote(args.slice(0, 2).join(" "));
  const lines = group.length > 0 ? group.map(usageLine) : ["<command>, or help for the list"];
  return `${expected}, got ${got}\n${lines.map((line) => `usage: ${ADMIN} ${line}`).join("\n")}`;
}

/** The fault and what caused it; of wrong settings there is one line each. */
function oneLine(error: unknown): string {
  const parts: string[] = [];
  let fault = error;
  for (let depth = 0; fault instanceof Error && depth < 4; depth++) {
    // a refused connection is one error per address tried, with no message of its own
    const next: unknown = fault instanceof AggregateError && fault.message === "" ? fault.errors[0] : fault.cause;
    if (fault.message !== "" && !parts.includes(fault.message)) parts.push(fault.message);
    fault = next;
  }
  return (parts.length > 0 ? parts.join(": ") : String(error)).replaceAll(/\s*\n\s*/g, "; ");
}
