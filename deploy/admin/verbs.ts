/** Commands that are requests to a running service. */
import { yesNoOf } from "./arguments.ts";
import { type Command, quote, UsageError } from "./command.ts";
import { LIMIT_OPTIONS, limitsCell, limitsText } from "./limit-options.ts";
import { isObject, type Json } from "./service.ts";
import { commandOf, type Line, type Verb } from "./verb.ts";

const WORKSPACE = "/operator/workspaces/{workspace}";
const CHAIN = `${WORKSPACE}/fallback-chains/{model}`;

const VERBS: readonly Verb[] = [
  {
    usage: "workspace list",
    about: "Lists all workspaces and their balances.",
    asks: "GET /operator/workspaces",
    json: workspaceJson,
    columns: "name id is_active credits held available created_at",
    sortedBy: "name",
  },
  switchVerb("disable", "Disables a workspace: its keys stop working within a second. Nothing is deleted."),
  switchVerb("enable", "Enables a workspace: its keys work again."),
  {
    usage: "member list <workspace>",
    about: "Lists the members of a workspace.",
    asks: `GET ${WORKSPACE}/members`,
    columns: "name role is_active limits id created_at",
    cells: ({ limits }) => ({ limits: limitsCell(limits) }),
    sortedBy: "name",
  },
  {
    usage: "key list <workspace>",
    about: "Lists the keys of a workspace, revoked ones included, by their first characters.",
    asks: `GET ${WORKSPACE}/api-keys`,
    json: keyJson,
    columns: "id name hint member role preset tools limits created_at expires_at revoked_at",
    cells: ({ tools, limits }) => ({ tools: toolsCell(tools), limits: limitsCell(limits) }),
    sortedBy: "created_at",
  },
  {
    usage: "key revoke <key id>",
    about: "Revokes a key for good. It stops working everywhere within a second.",
    asks: "PATCH /operator/api-keys/{key id}",
    body: () => ({ is_revoked: true }),
    json: keyJson,
    says: "key {id} ({hint}) is revoked since {revoked_at}",
  },
  {
    usage: "key tools <key id> <tool> [tool…]",
    about:
      "Limits the tools that a key may run. Tools are capabilities (image.resize, image.*) and workflows (an id, workflow.*); `all` or `none`.",
    asks: "PATCH /operator/api-keys/{key id}",
    body: (line) => ({ tools: toolsIn([line.argument("tool"), ...line.rest]) }),
    json: keyJson,
    says: ({ tools }) => `key {id} ({hint}) may run ${tools === null ? "all tools" : "these tools: {tools}"}`,
  },
  {
    usage: `key limits <key id> ${LIMIT_OPTIONS}`,
    about: "Replaces the limits of a key: what it may spend and call. Without options, removes them.",
    asks: "PATCH /operator/api-keys/{key id}",
    body: (line) => ({ limits: JSON.parse(limitsText(line)) as unknown }),
    json: keyJson,
    says: ({ limits }) => `key {id} ({hint}) has ${limits === null ? "no limits" : `the limits ${limitsCell(limits)}`}`,
  },
  {
    usage: "preset list",
    about: "Lists the quota presets of the catalogue.",
    asks: "GET /operator/presets",
    columns: "name requests_per_minute daily_tokens",
    cells: ({ requests_per_minute: requests, daily_tokens: tokens }) => ({
      requests_per_minute: requests ?? "unlimited",
      daily_tokens: tokens ?? "unlimited",
    }),
  },
  {
    usage: "preset set <key id> <preset>",
    about: "Changes the quota preset of a key. It takes effect within a second.",
    asks: "PATCH /operator/api-keys/{key id}",
    body: ({ argument }) => ({ preset: argument("preset") }),
    json: keyJson,
    says: "key {id} ({hint}) has the preset {preset}",
  },
  {
    usage: "fallback-chains list --workspace <workspace>",
    about: "Lists the fallback chains of a workspace.",
    asks: `GET ${WORKSPACE}/fallback-chains`,
    columns: "model fallbacks weight sticky continue_streams updated_at",
    cells: ({ fallbacks }) => ({ fallbacks: fallbackWords(fallbacks) }),
  },
  {
    usage:
      "fallback-chains set <model> [fallback…] --workspace <workspace> [--weight <n>] [--sticky <user|conversation>] [--continue-streams <yes|no>]",
    about:
      "Replaces the fallbacks of a model, in order. With weights, each call draws its first model. It takes effect within a second.",
    asks: `PUT ${CHAIN}`,
    body: chainBody,
    says: chainText,
  },
  {
    usage: "fallback-chains delete <model> --workspace <workspace>",
    about: "Deletes the fallbacks of a model.",
    asks: `DELETE ${CHAIN}`,
    says: "deleted the fallbacks of {model} in {workspace}",
  },
  moveVerb("credits top-up", "top_up", "Adds credits to a workspace."),
  moveVerb("credits correct", "correction", "Adds credits as a correction, or takes them back when negative."),
  {
    usage: "credits balance <workspace>",
    about: "Shows the balance of a workspace, its held credits and what it can spend.",
    asks: `GET ${WORKSPACE}/credits`,
  },
  {
    usage: "credits ledger <workspace>",
    about: "Lists the latest ledger entries of a workspace.",
    asks: `GET ${WORKSPACE}/ledger`,
    columns: "at kind credits source_id attempt note",
    cells: ({ credits }) => ({ credits: String(credits).replace(/^(?=\d)/, "+") }),
    usual: 50,
  },
  {
    usage: "usage <workspace> [--request <id>] [--user <end user>] [--tag <name:value>]",
    about: "Lists the latest finished calls of a workspace, or shows one call by its x-request-id.",
    asks: ({ option }) =>
      `GET ${WORKSPACE}/usage/requests${option("request") === undefined ? labelQuery(option) : "/{request}"}`,
    columns: "ended_at request_id attempt status error_code model source units credits uncollected user key_id",
    cells: (row) => ({ model: inTurn(row, "model"), source: inTurn(row, "source"), units: unitsText(row) }),
    usual: 50,
  },
  {
    usage: "holds list",
    about: "Lists open holds, the nearest deadline first.",
    asks: ["GET /operator/holds?overdue=true", "GET /operator/holds?overdue=false"],
    columns: "job_id attempt workspace key_id model credits created_at deadline is_overdue unknown_since",
    sortedBy: "deadline",
    usual: 100,
  },
  {
    usage: "holds close <job or job.attempt> [--credits <n>] [--before-deadline <yes|no>] [--note <text>]",
    about:
      "Releases a hold that is past its deadline, or takes --credits of it. Janitors close holds: use it only when they cannot.",
    asks: "POST /operator/holds/{job or job.attempt}/close",
    body: (line) => ({
      credits: line.option("credits"),
      before_deadline: isYes(line, "before-deadline"),
      note: line.option("note"),
    }),
    json: ({ credits, ...closed }) => ({ ...closed, taken: credits }),
  },
  {
    usage: "holds faults",
    about: "Lists settle faults: holds that were closed without being settled, newest first.",
    asks: "GET /operator/settle-faults",
    columns: "id at workspace_id job_id attempt fault used settled",
    usual: 100,
  },
  {
    usage: "holds resolve <fault> [--note <text>]",
    about: "Marks a settle fault as resolved. It moves no credits; credits correct does.",
    asks: "POST /operator/settle-faults/{fault}/resolve",
    body: ({ option }) => ({ note: option("note") }),
    says: "fault {id} is resolved",
  },
  {
    usage: "source list",
    about: "Lists the sources of models (provider/model) and why calls are not sent to one.",
    asks: "GET /operator/sources",
    columns: "id state setting next_attempt_seconds reason",
  },
  {
    usage: "source show <source>",
    about: "Shows the state of a source.",
    asks: "GET /operator/sources/{source}",
  },
  {
    usage: "source reset <source>",
    about: "Enables a source that is disabled after errors, in every worker within seconds.",
    asks: "POST /operator/sources/{source}/reset",
    says: "source {id} is {state}",
  },
  {
    usage: "source test <source>",
    about:
      "Sends a smallest call to a source and shows the result. Not for video, music and 3D. It works while the source is disabled.",
    asks: "POST /operator/sources/{source}/test",
  },
  {
    usage: "dead-letters list",
    about: "Lists messages that no worker could finish, newest first.",
    asks: "GET /operator/dead-letters",
    columns: "id at subject reason deliveries",
    usual: 100,
  },
  {
    usage: "dead-letters show <id>",
    about: "Shows the origin of a dead letter and its reason. The body belongs to the caller and is not shown.",
    asks: "GET /operator/dead-letters/{id}",
  },
  {
    usage: "dead-letters redrive <id>",
    about:
      "Queues the job of a dead letter again, under a new hold at its old price. Letters of calls cannot be sent again.",
    asks: "POST /operator/dead-letters/redrive",
    body: ({ argument }) => ({ ids: [argument("id")] }),
    json: redriven,
    says: "queued the job of dead letter {id} again",
  },
  {
    usage: "dead-letters drop <id>",
    about: "Deletes a dead letter and its body. Its credits are settled or released already.",
    asks: "DELETE /operator/dead-letters/{id}",
    says: "deleted dead letter {id}",
  },
];

export const SERVICE_COMMANDS: readonly Command[] = VERBS.map(commandOf);

function switchVerb(action: "enable" | "disable", about: string): Verb {
  return {
    usage: `workspace ${action} <workspace>`,
    about,
    asks: `PATCH ${WORKSPACE}`,
    body: () => ({ is_active: action === "enable" }),
    json: workspaceJson,
    says: (after, before) => `workspace {name} ${after["is_active"] === before["is_active"] ? "was" : "is"} ${action}d`,
  };
}

function moveVerb(name: string, kind: "top_up" | "correction", about: string): Verb {
  const idOf = ({ option, fresh }: Line): string => option("id") ?? fresh;
  return {
    usage: `${name} <workspace> <credits> [--id <uuid>] [--note <text>]`,
    about: `${about} Repeating it with the same id changes nothing.`,
    asks: `POST ${WORKSPACE}/credits`,
    body: (line) => ({ id: idOf(line), kind, credits: line.argument("credits"), note: line.option("note") }),
    json(move, status) {
      const { credits: balance, available } = partsOf(move, "balance")[0] ?? {};
      return { ...move, was_done_before: status === 200, balance, available };
    },
    unsure: (line) =>
      `it is not known whether the credits moved; repeat it with --id ${idOf(line)}, which moves them once`,
  };
}

function workspaceJson({ balance, ...workspace }: Json): Json {
  return { ...workspace, credits: balance };
}

function keyJson(key: Json): Json {
  const { name, role } = partsOf(key, "member")[0] ?? {};
  return { ...key, member: name, role };
}

/** Returns the words that `key tools` accepts for these tools. */
function toolsCell(tools: unknown): unknown {
  if (tools === null) return "all";
  return Array.isArray(tools) && tools.length === 0 ? "none" : tools;
}

function toolsIn(names: readonly string[]): readonly string[] | null {
  const [first] = names;
  if (names.length > 1 || (first !== "all" && first !== "none")) return names;
  return first === "all" ? null : [];
}

/** Returns the body of a chain. A fallback `name=20` has the weight 20. @throws UsageError for a malformed weight */
function chainBody(line: Line): object {
  const { option, rest } = line;
  const weightIn = (text: string): number => {
    if (/^\d{1,4}$/.test(text)) return Number(text);
    throw new UsageError(`expected a whole number from 0 to 1000 as weight, got ${quote(text)}`);
  };
  const fallbacks = rest.map((word) => {
    const [model = "", ...weight] = word.split("=");
    return weight.length === 0 ? word : { model, weight: weightIn(weight.join("=")) };
  });
  const [own, sticky] = [option("weight"), option("sticky")];
  return {
    fallbacks,
    ...(own === undefined ? {} : { weight: weightIn(own) }),
    ...(sticky === undefined ? {} : { sticky }),
    continue_streams: isYes(line, "continue-streams"),
  };
}

function chainText({ fallbacks, weight, continue_streams: continues }: Json): string {
  const words = fallbackWords(fallbacks).join(", ");
  const chain =
    weight === undefined
      ? `{model} in {workspace} falls back to ${words}`
      : `calls of {model} in {workspace} begin with {model}={weight}, ${words}`;
  return continues === true ? `${chain}, also for streams that break off` : chain;
}

/** Returns the words that `fallback-chains set` accepts for these fallbacks. */
function fallbackWords(fallbacks: unknown): string[] {
  return [fallbacks]
    .flat()
    .map((one) => (isObject(one) ? `${String(one["model"])}=${String(one["weight"])}` : String(one)));
}

const NOT_REDRIVEN: Readonly<Record<string, string>> = {
  unknown: "there is no such dead letter, or it was redriven before",
  over: "the dead letter has no job that can run again; drop it",
  funds: "the available credits of the workspace no longer cover the job",
  limit: "a spend limit of the key, its member, the end user or a tag leaves less than the job may cost",
};

/** Returns the dead letter that the service put back on the queue. @throws Error when the service did not put the dead letter back */
function redriven(answer: Json): Json {
  const [one = {}] = partsOf(answer, "data");
  const result = String(one["result"]);
  if (result !== "done") throw new Error(NOT_REDRIVEN[result] ?? "the service reported no result for the dead letter");
  return one;
}

/** Returns the models or sources that produced the parts of a response, in order, as text; null when unknown. */
function inTurn(row: Json, member: "model" | "source"): string | null {
  const parts = [...partsOf(row, "parts"), row].map((part) => part[member]);
  if (parts.length === 1 && parts[0] === null) return null;
  return parts.map((part) => (typeof part === "string" ? part : "-")).join(", then ");
}

/** Returns the query that filters calls by the labels in the options. */
function labelQuery(option: Line["option"]): string {
  const filters = ["user", "tag"].filter((name) => option(name) !== undefined).map((name) => `${name}={${name}}`);
  return filters.length === 0 ? "" : `?${filters.join("&")}`;
}

/** Formats usage units, such as `input 12, output 3`. Adds `(estimated)` when the units are estimated. */
function unitsText(row: Json): string {
  const units = Object.entries(partsOf(row, "units")[0] ?? {}).filter(([, count]) => count !== 0);
  const text = units.map(([name, count]) => `${name} ${String(count)}`).join(", ") || "-";
  return row["is_estimated"] === true ? `${text} (estimated)` : text;
}

/** Reads a yes-or-no option; the default is no. @throws UsageError for other values */
function isYes({ option }: Line, name: string): boolean {
  return yesNoOf(name, option(name) ?? "no");
}

/** Returns the objects in a member that contains one object or a list of objects. */
function partsOf(value: Json, name: string): readonly Json[] {
  return [value[name]].flat().filter(isObject);
}
