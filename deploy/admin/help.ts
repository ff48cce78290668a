/** Help texts: the list of commands by task, the page of one command, and advice for an unknown command. */
import { nearNames } from "#shared/base/near-names.ts";
import { ADMIN } from "#shared/base/command-lines.ts";

import { type Command, commandName, parametersOf, quote } from "./command.ts";
import { EXAMPLES, PARAMETERS } from "./parameters.ts";

/** Tasks in the help, each with the first words of its commands. */
const TASKS: Readonly<Record<string, readonly string[]>> = {
  "Workspaces, members and keys": [
    "workspace",
    "member",
    "key",
    "console",
    "end-user",
    "tag",
    "preset",
    "fallback-chains",
  ],
  "Credits and usage": ["credits", "budget-alert", "balance-alert", "usage", "ledger", "holds"],
  "Models and providers": ["source", "catalogue", "import"],
  "Messages that could not be processed": ["dead-letters"],
  "Operators and secrets": ["operator", "secrets"],
  Installation: ["compose", "nats", "restore"],
  Development: ["webhook", "help"],
};

const NEEDS: Readonly<Record<Command["needs"], string>> = {
  service: `Needs a running service and an operator token in SLUICE_OPERATOR_TOKEN. For the stack that npm start runs here, the token is known.`,
  database: `Needs the database of DATABASE_URL, else that of the stack that npm start runs here. Works while no service runs.`,
  nothing: "Needs neither a service nor a database.",
};

const NOTES = `${ADMIN} help <command> shows options and an example.
Commands with * use the database of DATABASE_URL instead of a running service, and also work while none runs.
A running service is found by --url or SLUICE_URL and needs an operator token in SLUICE_OPERATOR_TOKEN. For the stack
that npm start runs here, neither is needed. In the container image, run: bun deploy/sluice.ts admin <command>
A workspace is given by name or id. Amounts are credits; a negative amount stands last on the line.
--json prints one line of JSON, with amounts as decimal text in credits. A list has at most 10000 rows.
Exit codes: 0 success, 1 error or failed check, 2 wrong usage.`;

/** Returns the list of all commands by task. */
export function listText(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => commandName(command).length)) + 2;
  const groups = Object.entries(TASKS).map(([task, firstWords]) => {
    const lines = firstWords.flatMap((first) =>
      commands
        .filter((command) => commandName(command).split(" ")[0] === first)
        .map((command) => {
          const mark = command.needs === "database" ? "*" : "";
          return `  ${(commandName(command) + mark).padEnd(width)} ${firstSentence(command.about)}`;
        }),
    );
    return `${task}\n${lines.join("\n")}`;
  });
  return `usage: ${ADMIN} <command>\n\n${groups.join("\n\n")}\n\n${NOTES}`;
}

/** Returns the page of one command: what it does, its parameters, an example, and what it needs. */
export function commandText(command: Command): string {
  const name = commandName(command);
  const parameters = [...parametersOf(command), ...(command.needs === "service" ? [URL] : []), JSON_FLAG];
  const terms = parameters.map(({ name: of, value, isOption }) =>
    isOption ? `--${of}${value === "" ? "" : ` <${value}>`}` : `<${of}>`,
  );
  const width = Math.max(...terms.map((term) => term.length));
  const rows = parameters.map((parameter, index) => {
    const description = PARAMETERS[`${name} <${parameter.name}>`] ?? PARAMETERS[parameter.name] ?? "";
    return `  ${(terms[index] ?? "").padEnd(width)}  ${description}`;
  });
  return [
    `usage: ${usageLine(command)}`,
    `\n${command.about}\n`,
    ...rows,
    `\nExample:\n  ${ADMIN} ${EXAMPLES[name] ?? name}`,
    `\n${NEEDS[command.needs]}`,
  ].join("\n");
}

const URL = { name: "url", value: "url", isOption: true };
const JSON_FLAG = { name: "json", value: "", isOption: true };

/** Returns the complete usage line of a command, beginning with the program's name. */
export function usageLine({ usage }: Pick<Command, "usage">): string {
  return `${ADMIN} ${usage} [--json]`;
}

/** Returns the error message for an unknown command, with the most similar known command. */
export function unknownText(commands: readonly Command[], args: readonly string[]): string {
  const [first = "", second = ""] = args;
  const list = `\`${ADMIN} help\` lists the commands`;
  if (first === "") return `missing command; ${list}`;
  const names = commands.map(commandName);
  const ofGroup = names.filter((name) => name.startsWith(`${first} `));
  const words = second === "" || second.startsWith("-") ? first : `${first} ${second}`;
  const near = nearCommand(names, first, second);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  if (ofGroup.length > 0) {
    const verbs = ofGroup.map((name) => name.slice(first.length + 1)).join(", ");
    const got = words === first ? `incomplete command ${quote(first)}` : `unknown command ${quote(words)}`;
    return `${got}; ${first} has ${verbs}${hint}`;
  }
  return `unknown command ${quote(words)}${hint === "" ? `; ${list}` : hint}`;
}

/**
 * Returns the known command most similar to the two typed words, or else to the first word alone. `workspcae list` and `workspce` both find
 * a workspace command.
 */
function nearCommand(names: readonly string[], first: string, second: string): string | undefined {
  const [whole] = nearNames(names, second === "" ? first : `${first} ${second}`);
  if (whole !== undefined) return whole;
  const firstWords = new Set(names.map((name) => name.split(" ")[0] ?? name));
  const [group] = firstWords.has(first) ? [first] : nearNames(firstWords, first);
  if (group === undefined || second === "") return group;
  const [verb] = nearNames(
    names.filter((name) => name.startsWith(`${group} `)).map((name) => name.slice(group.length + 1)),
    second,
  );
  return verb === undefined ? (group === first ? undefined : group) : `${group} ${verb}`;
}

/** Returns the description up to the first period or semicolon. The list of commands has one line per command. */
function firstSentence(about: string): string {
  return /^(.*?[^.])(?:[.;] |\.?$)/.exec(about)?.[1] ?? about;
}
