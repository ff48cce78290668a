/** Every command that goes to a running service. */
import { type Command, quote, UsageError } from "./command.ts";
import { isObject, type Json } from "./service.ts";
import { commandOf, type Line, type Verb } from "./verb.ts";

const WORKSPACE = "/operator/workspaces/{workspace}";
const CHAIN = `${WORKSPACE}/fallback-chains/{model}`;

const VERBS: readonly Verb[] = [
  {
    usage: "workspace list",
    about: "all workspaces and their balances",
    asks: "GET /operator/workspaces",
    json: workspaceJson,
    columns: "name id is_active credits held available created_at",
    sortedBy: "name",
  },
  switchVerb("disable", "its keys stop working within a second; nothing is lost"),
  switchVerb("enable", "its keys work again"),
  {
    usage: "member list <workspace>",
    about: "the members of a workspace",
    asks: `GET ${WORKSPACE}/members`,
    columns: "name role is_active id created_at",
    sortedBy: "name",
  },
  {
    usage: "key list <workspace>",
    about: "the keys of a workspace, revoked ones too, by their first characters",
    asks: `GET ${WORKSPACE}/api-keys`,
    json: keyJson,
    columns: "id name hint member role preset created_at revoked_at",
    sortedBy: "created_at",
  },
  {
    usage: "key revoke <key id>",
    about: "the key stops working everywhere within a second, for good",
    asks: "PATCH /operator/api-keys/{key id}",
    body: () => ({ is_revoked: true }),
    json: keyJson,
    says: "key {id} ({hint}) is revoked since {revoked_at}",
  },
  {
    usage: "key tools <key id> <tool> [tool…]",
    about:
      "the capabilities (image.resize, image.*) and workflows (an id, workflow.*) that a key may run; `all`, or `none`",
    asks: "PATCH /operator/api-keys/{key id}",
    body: (line) => ({ tools: toolsIn([line.word("tool"), ...line.rest]) }),
    json: keyJson,
    says: ({ tools }) => `key {id} ({hint}) may run ${tools === null ? "all tools" : "these tools: {tools}"}`,
  },
  {
    usage: "preset list",
    about: "the presets of the catalogue",
    asks: "GET /operator/presets",
    columns: "name requests_per_minute daily_tokens",
    cells: ({ requests_per_minute: requests, daily_tokens: tokens }) => ({
      requests_per_minute: requests ?? "unlimited",
      daily_tokens: tokens ?? "unlimited",
    }),
  },
  {
    usage: "preset set <key id> <preset>",
    about: "gives a key another preset, in force within a second",
    asks: "PATCH /operator/api-keys/{key id}",
    body: ({ word }) => ({ preset: word("preset") }),
    json: keyJson,
    says: "key {id} ({hint}) has the preset {preset}",
  },
  {
    usage: "fallback-chains list --workspace <workspace>",
    about: "the fallback chains of a workspace",
    asks: `GET ${WORKSPACE}/fallback-chains`,
    columns: "model fallbacks continue_streams updated_at",
  },
  {
    usage: "fallback-chains set <model> [fallback…] --workspace <workspace> [--continue-streams <yes|no>]",
    about: "gives a model its fallbacks in order, in place of those it had; in force within a second",
    asks: `PUT ${CHAIN}`,
    body: (line) => ({ fallbacks: line.rest, continue_streams: isYes(line, "continue-streams") }),
    says: ({ continue_streams: continues }) =>
      `{model} of {workspace} falls back to {fallbacks}${continues === true ? ", also for streams that break off" : ""}`,
  },
  {
    usage: "fallback-chains delete <model> --workspace <workspace>",
    about: "takes a model's fallbacks away",
    asks: `DELETE ${CHAIN}`,
    says: "{model} of {workspace} has no fallbacks now",
  },
  moveVerb("credits top-up", "top_up", "adds credits"),
  moveVerb("credits correct", "correction", "adds credits, or takes them when negative, as a correction"),
  {
    usage: "credits balance <workspace>",
    about: "what a workspace has, holds and can spend",
    asks: `GET ${WORKSPACE}/credits`,
  },
  {
    usage: "credits ledger <workspace>",
    about: "the last entries of a workspace's ledger",
    asks: `GET ${WORKSPACE}/ledger`,
    columns: "at kind credits source_id attempt note",
    cells: ({ credits }) => ({ credits: String(credits).replace(/^(?=\d)/, "+") }),
    usual: 50,
  },
  {
    usage: "usage <workspace> [--request <id>]",
    about: "the last closed calls of a workspace, or one by its x-request-id, with :1 behind it an earlier attempt",
    asks: ({ option }) => `GET ${WORKSPACE}/usage/requests${option("request") === undefined ? "" : "/{request}"}`,
    columns: "ended_at request_id attempt status error_code model source units credits uncollected key_id",
    cells: (row) => ({ model: inTurn(row, "model"), source: inTurn(row, "source"), units: unitsText(row) }),
    usual: 50,
  },
  {
    usage: "holds list",
    about: "open holds, nearest deadline first",
    asks: ["GET /operator/holds?overdue=true", "GET /operator/holds?overdue=false"],
    columns: "job_id attempt workspace key_id model credits created_at deadline is_overdue unknown_since",
    sortedBy: "deadline",
    usual: 100,
  },
  {
    usage: "holds close <job or job.attempt> [--credits <n>] [--before-deadline <yes|no>] [--note <text>]",
    about:
      "releases a hold past its deadline that nothing else closes, or takes --credits of it; --before-deadline yes closes one that may be in use",
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
    about: "holds that were closed without being settled at what was used, newest first",
    asks: "GET /operator/settle-faults",
    columns: "id at workspace_id job_id attempt fault used settled",
    usual: 100,
  },
  {
    usage: "holds resolve <fault> [--note <text>]",
    about: "notes that a fault is dealt with; credits are moved by credits correct",
    asks: "POST /operator/settle-faults/{fault}/resolve",
    body: ({ option }) => ({ note: option("note") }),
    says: "fault {id} is dealt with",
  },
  {
    usage: "source list",
    about: "sources of models (provider/model), whether calls are sent to them, and why not",
    asks: "GET /operator/sources",
    columns: "id state setting next_attempt_seconds reason",
  },
  {
    usage: "source show <source>",
    about: "the state of one source",
    asks: "GET /operator/sources/{source}",
  },
  {
    usage: "source reset <source>",
    about: "enables a source that is disabled after errors, in every worker within seconds",
    asks: "POST /operator/sources/{source}/reset",
    says: "source {id} is {state}",
  },
  {
    usage: "source test <source>",
    about: "sends a smallest call to a source of chat or embeddings, also while it is disabled, and says how it ended",
    asks: "POST /operator/sources/{source}/test",
  },
  {
    usage: "dead-letters list",
    about: "messages no worker could finish, newest first",
    asks: "GET /operator/dead-letters",
    columns: "id at subject reason deliveries",
    usual: 100,
  },
  {
    usage: "dead-letters show <id>",
    about: "where it came from and why it is here; its body is a caller's and stays hidden",
    asks: "GET /operator/dead-letters/{id}",
  },
  {
    usage: "dead-letters redrive <id>",
    about: "sends its job on its way again, under a new hold at the price it was admitted at",
    asks: "POST /operator/dead-letters/redrive",
    body: ({ word }) => ({ ids: [word("id")] }),
    json: redriven,
    says: "the job of dead letter {id} is on its way again",
  },
  {
    usage: "dead-letters drop <id>",
    about: "deletes it with its body; nobody waits for it, and its money is settled or released",
    asks: "DELETE /operator/dead-letters/{id}",
    says: "dead letter {id} is dropped",
  },
];

export const SERVICE_COMMANDS: readonly Command[] = VERBS.map(commandOf);

function switchVerb(word: "enable" | "disable", about: string): Verb {
  return {
    usage: `workspace ${word} <workspace>`,
    about,
    asks: `PATCH ${WORKSPACE}`,
    body: () => ({ is_active: word === "enable" }),
    json: workspaceJson,
    says: (after, before) => `workspace {name} ${after["is_active"] === before["is_active"] ? "was" : "is"} ${word}d`,
  };
}

function moveVerb(name: string, kind: "top_up" | "correction", about: string): Verb {
  const idOf = ({ option, fresh }: Line): string => option("id") ?? fresh;
  return {
    usage: `${name} <workspace> <credits> [--id <uuid>] [--note <text>]`,
    about: `${about}; a repeat with the same id changes nothing`,
    asks: `POST ${WORKSPACE}/credits`,
    body: (line) => ({ id: idOf(line), kind, credits: line.word("credits"), note: line.option("note") }),
    json(move, status) {
      const { credits: balance, available } = partsOf(move, "balance")[0] ?? {};
      return { ...move, was_done_before: status === 200, balance, available };
    },
    unsure: (line) => `the credits may not have moved; to be sure, repeat it with --id ${idOf(line)}`,
  };
}

function workspaceJson({ balance, ...workspace }: Json): Json {
  return { ...workspace, credits: balance };
}

function keyJson(key: Json): Json {
  const { name, role } = partsOf(key, "member")[0] ?? {};
  return { ...key, member: name, role };
}

function toolsIn(words: readonly string[]): readonly string[] | null {
  const [first] = words;
  if (words.length > 1 || (first !== "all" && first !== "none")) return words;
  return first === "all" ? null : [];
}

const NOT_REDRIVEN: Readonly<Record<string, string>> = {
  unknown: "there is no such dead letter, or it has been redriven before",
  over: "the dead letter has no job that could be run again; drop it",
  funds: "the workspace's available credits do not cover the job any more",
};

/** @throws Error when the job stays where it is */
function redriven(answer: Json): Json {
  const [one = {}] = partsOf(answer, "data");
  const result = String(one["result"]);
  if (result !== "done")
    throw new Error(NOT_REDRIVEN[result] ?? "the service did not say what became of the dead letter");
  return one;
}

/** Members of the models that wrote an answer, in the order in which they did. */
function inTurn(row: Json, member: "model" | "source"): string | null {
  const parts = [...partsOf(row, "parts"), row].map((part) => part[member]);
  if (parts.length === 1 && parts[0] === null) return null;
  return parts.map((part) => (typeof part === "string" ? part : "-")).join(", then ");
}

/** `input 12, output 3`, with a mark when we counted ourselves. */
function unitsText(row: Json): string {
  const units = Object.entries(partsOf(row, "units")[0] ?? {}).filter(([, count]) => count !== 0);
  const text = units.map(([name, count]) => `${name} ${String(count)}`).join(", ") || "-";
  return row["is_estimated"] === true ? `${text} (estimated)` : text;
}

/** @throws UsageError */
function isYes({ option }: Line, name: string): boolean {
  const word = option(name) ?? "no";
  if (word === "no" || word === "yes") return word === "yes";
  throw new UsageError(`expected --${name} yes or no, got ${quote(word)}`);
}

/** The object that a member is, or those that it lists. */
function partsOf(value: Json, name: string): readonly Json[] {
  return [value[name]].flat().filter(isObject);
}
