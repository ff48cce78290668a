/** Converts a configuration of LiteLLM's proxy to a catalogue file, and lists everything that a catalogue file cannot contain. */
import type { CatalogueModel, ProviderEntry } from "#schemas/generated/types.ts";
import { CatalogueError } from "#shared/calls/catalogue/faults.ts";
import type { Layer } from "#shared/calls/catalogue/layer.ts";
import { catalogueOf } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { locate, syntaxLine } from "#shared/calls/catalogue/positions.ts";

import {
  modelsOf,
  NO_COUNTERPART,
  noteMalformed,
  noteParams,
  readDeployment,
  type Shelf,
  slugOf,
} from "./import-models.ts";
import {
  listOf,
  type Members,
  membersOf,
  type Note,
  type Notes,
  openNotes,
  ownOf,
  positiveIn,
  textIn,
} from "./import-notes.ts";
import { openProviders, printable } from "./import-providers.ts";

/** Maximum size of a configuration, in bytes. It is far above any file written by hand. */
const TEXT_BYTES_MAX = 1_048_576;
/** Maximum number of values in the file. Values behind YAML aliases are counted at each use. */
const VALUES_MAX = 100_000;

export interface Chain {
  readonly model: string;
  readonly fallbacks: readonly string[];
}

export interface Imported {
  /** Text of the catalogue file. */
  readonly yaml: string;
  readonly models: readonly string[];
  readonly providers: readonly string[];
  /** Environment variables to set, in addition to the variables of shipped providers. */
  readonly variables: readonly string[];
  /** Fallback chains to set in workspaces, because a catalogue file cannot contain them. */
  readonly chains: readonly Chain[];
  readonly notes: readonly Note[];
}

export interface Input {
  /** Name of the configuration file, used in error messages. */
  readonly file: string;
  readonly text: string;
  /** Catalogue layers that ship with the service. */
  readonly ours: readonly Layer[];
  /** Day of the import, such as `2026-11-29`. */
  readonly date: string;
}

/**
 * Converts the text of a LiteLLM configuration to a catalogue file.
 * @throws Error with a one-sentence message for text that is too large, not YAML, or not a LiteLLM configuration
 */
export function importLiteLlm({ file, text, ours, date }: Input): Imported {
  const config = parse(file, text);
  const positions = locate(text);
  const notes = openNotes(positions);
  for (const { path, line } of positions.repeated)
    notes.add(path, `given again in line ${line}: the last one was taken`);
  const shipped = mergeLayers(ours);
  const shippedProviders = new Map([...shipped.providers].map(([id, { entry }]) => [id, entry]));
  const shelf: Shelf = {
    providers: openProviders(shippedProviders, variablesIn(text), notes),
    models: new Map([...shipped.models].map(([slug, { entry }]) => [slug, entry])),
    credentials: credentialsOf(config, notes),
    notes,
    priceSource: { source: "configuration of LiteLLM", date },
  };
  const list = listOf(config["model_list"], "model_list", notes);
  const deployments = list.flatMap((entry, at) => readDeployment(entry, `model_list[${at}]`, shelf) ?? []);
  const models = modelsOf(deployments, shelf);
  const withAliases = [...models, ...aliasesOf(config, models, shelf)];
  const cached = withCache(withAliases, config, shelf);
  const chains = chainsOf(config, notes);
  noteSections(config, notes);
  const content = validated({ providers: shelf.providers.entries(), models: cached }, { ours, notes });
  const used = new Set(content.models.flatMap(({ sources = [] }) => sources.map(({ provider }) => provider)));
  const own = content.providers.filter(({ id }) => used.has(id));
  const known = new Set([...shelf.models.keys(), ...content.models.map(({ slug }) => slug)]);
  return {
    yaml: yamlOf({ ...(own.length > 0 && { providers: own }), models: content.models }),
    models: content.models.map(({ slug }) => slug),
    providers: own.map(({ id }) => id),
    variables: [
      ...new Set(
        [...used].flatMap(
          (id) => [...own, ...shippedProviders.values()].find((one) => one.id === id)?.api_key_env ?? [],
        ),
      ),
    ],
    chains: knownChains(chains, known, notes),
    notes: notes.all.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}

/** Formats the catalogue as YAML without anchors. A value that several entries share is repeated in each. */
function yamlOf(content: {
  readonly providers?: readonly ProviderEntry[];
  readonly models: readonly CatalogueModel[];
}): string {
  return Bun.YAML.stringify(JSON.parse(JSON.stringify(content)), null, 2);
}

/** Returns the environment variables that the file references as `os.environ/…`. */
function variablesIn(text: string): ReadonlySet<string> {
  return new Set(Array.from(text.matchAll(/os\.environ\/(\w+)/g), ([, name = ""]) => name));
}

function parse(file: string, text: string): Members {
  const bytes = Buffer.byteLength(text);
  if (bytes > TEXT_BYTES_MAX) throw new Error(`${file} has ${bytes} bytes; expected at most ${TEXT_BYTES_MAX}`);
  let content: unknown;
  try {
    content = Bun.YAML.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^YAML Parse error: /, "") : String(error);
    // The search for the line parses beginnings of the text, which is of no use where nesting is the fault.
    const line = error instanceof SyntaxError ? `:${syntaxLine(text, Bun.YAML.parse)}` : "";
    throw new Error(`${file}${line} is not YAML: ${reason}`, { cause: error });
  }
  refuseLarge(file, content);
  if (typeof content !== "object" || content === null || Array.isArray(content) || !("model_list" in content)) {
    throw new Error(`${file} is no configuration of LiteLLM: expected a mapping with model_list`);
  }
  return content;
}

/**
 * Counts the values of the parsed file. YAML aliases let a short text expand to any number of values, or contain themselves.
 * @throws Error for more than VALUES_MAX values
 */
function refuseLarge(file: string, content: unknown): void {
  const waiting = [content];
  for (let count = 0; waiting.length > 0; count += 1) {
    if (count > VALUES_MAX) throw new Error(`${file} has more than ${VALUES_MAX} values, aliases included`);
    const value = waiting.pop();
    if (typeof value === "object" && value !== null) waiting.push(...Object.values(value).slice(0, VALUES_MAX + 1));
  }
}

function credentialsOf(config: Members, notes: Notes): ReadonlyMap<string, Members> {
  const list = listOf(config["credential_list"], "credential_list", notes);
  return new Map(
    list.flatMap((entry, at) => {
      const place = `credential_list[${at}]`;
      const { credential_name: name, credential_values: values, ...others } = membersOf(entry, place, notes);
      for (const other of Object.keys(others)) notes.add(`${place}.${printable(other)}`, NO_COUNTERPART);
      if (textIn(name) === undefined) {
        notes.add(`${place}.credential_name`, "expected a name as text; the credential was left out");
        return [];
      }
      const members = membersOf(values, `${place}.credential_values`, notes);
      noteParams(members, `${place}.credential_values`, notes);
      if ("litellm_credential_name" in members)
        notes.add(`${place}.credential_values.litellm_credential_name`, NO_COUNTERPART);
      return [[String(name).trim(), members] as const];
    }),
  );
}

/** Returns a model for each `model_group_alias` of the router. The alias becomes a further model with the same sources. */
function aliasesOf(
  config: Members,
  models: readonly CatalogueModel[],
  { models: shipped, notes }: Shelf,
): CatalogueModel[] {
  const place = "router_settings.model_group_alias";
  const router = membersOf(config["router_settings"], "router_settings", notes);
  return Object.entries(membersOf(router["model_group_alias"], place, notes)).flatMap(
    ([name, value]): CatalogueModel[] => {
      const at = `${place}.${printable(name)}`;
      const { model, ...others } = textIn(value) === undefined ? membersOf(value, at, notes) : { model: value };
      for (const other of Object.keys(others)) notes.add(`${at}.${printable(other)}`, NO_COUNTERPART);
      const target = textIn(model);
      const slug = slugOf(name, at, notes);
      const imported = models.find((model) => model.slug === target);
      const own = shipped.get(target ?? "");
      if (slug === undefined || (imported === undefined && own === undefined)) {
        if (slug !== undefined) notes.add(at, "no model of this name was imported, so the alias was not either");
        return [];
      }
      if (models.some((model) => model.slug === slug)) {
        notes.add(at, `model_list has a model ${printable(slug)}, which was taken instead of the alias`);
        return [];
      }
      return [{ ...own, ...imported, slug }];
    },
  );
}

/** Sets `cache_ttl_s` on every chat model when the configuration has `cache: true`, which caches answers of every model. */
function withCache(
  models: readonly CatalogueModel[],
  config: Members,
  { models: shipped, notes }: Shelf,
): CatalogueModel[] {
  const settings = membersOf(config["litellm_settings"], "litellm_settings", notes);
  const params = membersOf(settings["cache_params"], "litellm_settings.cache_params", notes);
  const place = "litellm_settings.cache";
  for (const name of Object.keys(params)) {
    if (!["type", "mode", "ttl"].includes(name)) notes.add(`${place}_params.${printable(name)}`, NO_COUNTERPART);
  }
  noteMalformed(params, `${place}_params`, notes);
  if (settings["cache"] !== true) {
    if (settings["cache"] !== undefined && settings["cache"] !== false && settings["cache"] !== null)
      notes.add(place, "the value was not taken: expected true or false");
    return [...models];
  }
  if (textIn(params["type"])?.includes("semantic") === true) {
    notes.add(place, "no counterpart: a response cache keeps exact repeats only");
    return [...models];
  }
  const isOptIn = params["mode"] === "default_off";
  notes.add(
    place,
    isOptIn
      ? "clients turn the response cache on with the header x-cache"
      : "cache_ttl_s was set for every chat model; the cache needs no server of its own",
  );
  if (isOptIn) return [...models];
  const ttl = Math.min(86_400, Math.max(1, Math.round(positiveIn(params["ttl"]) ?? 60)));
  const chats = ({ slug, supports_chat: own }: CatalogueModel): boolean =>
    own ?? shipped.get(slug)?.supports_chat ?? false;
  return models.map((model) => (chats(model) ? { ...model, cache_ttl_s: ttl } : model));
}

const CHAIN_SECTIONS = ["litellm_settings", "router_settings"] as const;

/** Reads the fallback chains, which LiteLLM writes as lists of `{model: [fallbacks]}`. */
function chainsOf(config: Members, notes: Notes): Chain[] {
  const chains = CHAIN_SECTIONS.flatMap((section) => {
    const settings = membersOf(config[section], section, notes);
    for (const kind of ["context_window_fallbacks", "content_policy_fallbacks", "default_fallbacks"]) {
      if (kind in settings)
        notes.add(
          `${section}.${kind}`,
          "no counterpart: a chain is one of a model, and is used for every failure of its provider",
        );
    }
    const place = `${section}.fallbacks`;
    return listOf(settings["fallbacks"], place, notes).flatMap((entry, at) =>
      Object.entries(membersOf(entry, `${place}[${at}]`, notes)).map(([model, names]) => ({
        model,
        fallbacks: listOf(names, `${place}[${at}]`, notes).flatMap((name) => textIn(name) ?? []),
      })),
    );
  });
  return [...new Map(chains.map((chain) => [chain.model, chain])).values()];
}

function knownChains(chains: readonly Chain[], known: ReadonlySet<string>, notes: Notes): Chain[] {
  return chains.flatMap(({ model, fallbacks }) => {
    const served = fallbacks.filter((name) => known.has(name));
    const lost = [model, ...fallbacks].filter((name) => !known.has(name)).map(printable);
    if (lost.length > 0)
      notes.add("litellm_settings.fallbacks", `models of a chain that were not imported: ${lost.join(", ")}`);
    return known.has(model) && served.length > 0 ? [{ model, fallbacks: served }] : [];
  });
}

/** Notes on settings and sections that do not define models, by path in the file. Each note names the counterpart in Sluice. */
const SETTINGS: Readonly<Record<string, string>> = {
  "general_settings.master_key":
    "not copied: `npm run admin -- operator add` creates operator tokens, `key create` keys of workspaces",
  "general_settings.database_url": "not copied: set DATABASE_URL, to a database of its own",
  "general_settings.alerting": "set up notification channels: /workspaces/{workspaceId}/notification-channels",
  "general_settings.store_model_in_db":
    "models that LiteLLM keeps in its database are not in this file: add them to the catalogue",
  "litellm_settings.drop_params":
    "parameters that a model lacks are refused with their name; drop_params of a source leaves some out",
  "litellm_settings.success_callback": "no counterpart: metrics, traces and usage records are built in",
  "litellm_settings.failure_callback": "no counterpart: metrics, traces and usage records are built in",
  "litellm_settings.callbacks": "no counterpart: metrics, traces and usage records are built in",
  "litellm_settings.request_timeout": "no counterpart: calls have limits by their kind",
  "litellm_settings.num_retries": "no counterpart: a failed source is asked once more, then the next one",
  "litellm_settings.max_budget": "set budget alerts with a limit: /workspaces/{workspaceId}/budget-alerts",
  "router_settings.routing_strategy": "sources with weights share calls by them; others are asked in order",
  "router_settings.num_retries": "no counterpart: a failed source is asked once more, then the next one",
  "router_settings.redis_host": "not needed: processes share state over Postgres and NATS",
  "router_settings.redis_port": "not needed: processes share state over Postgres and NATS",
  "router_settings.redis_password": "not needed: processes share state over Postgres and NATS",
  environment_variables: "not copied: set them where the service starts, if it needs them",
  guardrails: "no counterpart: guardrails are not offered",
  mcp_servers: "no counterpart: the service is an MCP server, and calls none",
  include: "not followed: import each file by itself",
  files_settings: "not needed: files are stored in the service's own object store",
};

const SECTIONS = ["general_settings", "litellm_settings", "router_settings"];
const TAKEN = new Set([
  "model_list",
  "credential_list",
  "litellm_settings.cache",
  "litellm_settings.cache_params",
  "router_settings.model_group_alias",
  ...CHAIN_SECTIONS.flatMap((section) =>
    ["fallbacks", "context_window_fallbacks", "content_policy_fallbacks", "default_fallbacks"].map(
      (kind) => `${section}.${kind}`,
    ),
  ),
]);

function noteSections(config: Members, notes: Notes): void {
  const places = Object.entries(config).flatMap(([name, value]) => {
    if (!SECTIONS.includes(name)) return [name];
    return Object.keys(membersOf(value, name, notes)).map((setting) => `${name}.${setting}`);
  });
  for (const place of places) {
    if (!TAKEN.has(place)) notes.add(printable(place), ownOf(SETTINGS, place) ?? "no counterpart");
  }
}

interface Content {
  readonly providers: readonly ProviderEntry[];
  readonly models: readonly CatalogueModel[];
}

/** Removes the models that the service would refuse and adds a note for each. The check uses the service's own catalogue reader. */
function validated(
  content: Content,
  { ours, notes }: { readonly ours: readonly Layer[]; readonly notes: Notes },
): Content {
  let { models } = content;
  for (;;) {
    try {
      const text = yamlOf({ providers: content.providers, models });
      catalogueOf(ours, [{ name: "catalogue.yaml", text }], { sandbox: false, providerKey: () => "set" });
      return { ...content, models };
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      const refused = new Map(
        error.faults.flatMap(({ place, message }) => {
          const [, index] = /^models\[(\d+)\]/.exec(place) ?? [];
          return index === undefined
            ? []
            : [[Number(index), `${place.replace(/^models\[\d+\]\.?/, "")}: ${message}`] as const];
        }),
      );
      if (refused.size === 0)
        throw new Error(`the models do not fit one catalogue file; import parts of them: ${error.message}`, {
          cause: error,
        });
      for (const [at, why] of refused)
        notes.add("model_list", `${models[at]?.slug ?? ""} was left out, since a catalogue cannot have it: ${why}`);
      models = models.filter((_model, at) => !refused.has(at));
    }
  }
}
