/** Converts deployments of a LiteLLM configuration to models of a catalogue. */
import type { CatalogueModel, PricingText, SourceEntry } from "#schemas/generated/types.ts";

import { type Members, membersOf, type Notes, ownOf, positiveIn, textIn } from "./import-notes.ts";
import { dearest, isPrice, pricesOf } from "./import-prices.ts";
import { type Found, printable, type Providers } from "./import-providers.ts";

/** Limits assumed for a model when neither the file nor our catalogue has them. */
const ASSUMED = { max_context_tokens: 8_192, max_output_tokens: 4_096 } as const;

const WEIGHT_MAX = 1_000;
const SLUG = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** Modality by LiteLLM's `mode`. Deployments with another mode are not imported. */
const MODALITIES: Readonly<Record<string, CatalogueModel["modality"]>> = {
  chat: "text",
  completion: "text",
  responses: "text",
  embedding: "embedding",
  image_generation: "image",
  audio_transcription: "stt",
  audio_speech: "audio",
};

/** Names of the LiteLLM members that the import reads, by the mapping that contains them. */
const READ = {
  entry: new Set(["model_name", "litellm_params", "model_info", "rpm", "tpm"]),
  params: new Set(
    (
      "model api_base base_url api_key custom_llm_provider litellm_credential_name rpm tpm weight order stream_timeout " +
      "additional_drop_params"
    ).split(" "),
  ),
  info: new Set(
    (
      "base_model mode litellm_provider max_tokens max_input_tokens max_output_tokens output_vector_size supports_function_calling " +
      "supports_vision supports_audio_input supports_pdf_input supports_response_schema"
    ).split(" "),
  ),
} as const;

/**
 * Reasons why some LiteLLM members have no counterpart in a catalogue, by member name. Notes on all other members contain a general reason.
 */
const REASONS: Readonly<Record<string, string>> = {
  organization: "no counterpart: the organization of a key is that of the key itself",
  extra_headers: "no counterpart: providers receive no headers of an operator's own",
  timeout: "no counterpart per model; SLUICE settings and first_byte_ms bound calls",
  max_retries: "no counterpart: a failed source is asked once more, then the next one",
  num_retries: "no counterpart: a failed source is asked once more, then the next one",
  tags: "no counterpart: routing by tags is not offered",
  access_groups: "no counterpart: give keys a list of models or tools instead",
  max_tokens: "no counterpart: clients send it with a call; max_output_tokens of model_info is the model's limit",
  temperature: "no counterpart: clients send it with a call",
  max_parallel_requests: "no counterpart: limits are those of workspaces and keys",
};
export const NO_COUNTERPART = "no counterpart in a catalogue";

export interface Deployment {
  readonly slug: string;
  readonly place: string;
  readonly source: SourceEntry;
  readonly facts: Omit<CatalogueModel, "slug" | "sources">;
  readonly weight: number | undefined;
  readonly order: number | undefined;
}

export interface Shelf {
  readonly providers: Providers;
  /** Models that ship with the service. */
  readonly models: ReadonlyMap<string, CatalogueModel>;
  readonly credentials: ReadonlyMap<string, Members>;
  readonly notes: Notes;
  /** `price_source` of prices that the file contains. */
  readonly priceSource: { readonly source: string; readonly date: string };
}

/** Returns the model name as a slug. Returns undefined and adds a note when the name cannot become a slug. */
export function slugOf(name: string | undefined, place: string, notes: Notes): string | undefined {
  if (name === undefined || name.includes("*")) {
    notes.add(place, name === undefined ? "expected a name as text" : "a catalogue has no wildcards: name each model");
    return undefined;
  }
  if (SLUG.test(name)) return name;
  const slug = name
    .replaceAll(/[^A-Za-z0-9._:-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 128);
  if (!SLUG.test(slug)) {
    notes.add(place, "expected a name with letters or digits");
    return undefined;
  }
  notes.add(place, `names contain no slashes or spaces: ${printable(name)} is called ${slug} here`);
  return slug;
}

/** Reads an entry of `model_list`. Returns undefined and adds a note when Sluice cannot serve the deployment. */
export function readDeployment(entry: unknown, place: string, shelf: Shelf): Deployment | undefined {
  const { notes } = shelf;
  const members = membersOf(entry, place, notes);
  const litellmParams = membersOf(members["litellm_params"], `${place}.litellm_params`, notes);
  const info = membersOf(members["model_info"], `${place}.model_info`, notes);
  const slug = slugOf(textIn(members["model_name"]), `${place}.model_name`, notes);
  if (slug === undefined) return undefined;
  const params = withCredential(litellmParams, place, shelf);
  const found = shelf.providers.find(params, `${place}.litellm_params`);
  if (found === undefined) return undefined;
  noteUnread(members, place, READ.entry, notes);
  noteParams(litellmParams, `${place}.litellm_params`, notes);
  noteUnread(info, `${place}.model_info`, READ.info, notes);
  noteMalformed(info, `${place}.model_info`, notes);
  for (const limit of ["rpm", "tpm"]) {
    if (limit in params || limit in members) {
      notes.add(
        `${place}.litellm_params.${limit}`,
        "sources have no limits: it is used as the source's weight beside others; give keys presets",
      );
    }
  }
  const baseModel = textIn(info["base_model"]);
  const template = templateOf(found, baseModel, shelf);
  if (baseModel !== undefined && template === undefined)
    notes.add(
      `${place}.model_info.base_model`,
      `no model ${printable(baseModel)} ships with the service: its price and limits are not known`,
    );
  const facts = factsOf({ slug, found, params, info, template, place }, shelf);
  if (facts === undefined) return undefined;
  const drops = Array.isArray(params["additional_drop_params"])
    ? params["additional_drop_params"].filter((one) => textIn(one) !== undefined)
    : [];
  const shippedSource = template?.sources?.find(
    ({ provider, model }) => provider === found.shipped && model === found.model,
  );
  const { weight: _weight, ...adapted } = shippedSource ?? { provider: "", model: "" };
  const source: SourceEntry = {
    ...adapted,
    provider: found.provider,
    model: found.model,
    ...(drops.length > 0 && { drop_params: [...new Set([...(adapted.drop_params ?? []), ...drops])] }),
  };
  const weight = [params["weight"], params["rpm"], members["rpm"], params["tpm"], members["tpm"]]
    .map(positiveIn)
    .find(Boolean);
  return { slug, place, source, facts, weight, order: positiveIn(params["order"]) };
}

/** Returns the models of all deployments. Deployments with the same name become sources of one model. */
export function modelsOf(deployments: readonly Deployment[], shelf: Shelf): CatalogueModel[] {
  return [...Map.groupBy(deployments, ({ slug }) => slug)].map(([slug, group]) => {
    const [first] = group;
    if (first === undefined) throw new Error("a group without a deployment");
    const pricing = group.reduce<PricingText | undefined>((most, { facts }) => dearest(most, facts.pricing), undefined);
    if (group.some(({ facts }) => facts.modality !== first.facts.modality)) {
      shelf.notes.add(first.place, `deployments of ${slug} have several modes: that of the first was taken`);
    }
    const shipped = shelf.models.get(slug);
    const sources = sourcesOf(group, shelf.notes);
    // Shipped entries keep their values, except those in the file.
    const facts = shipped === undefined ? first.facts : ownFacts(first.facts, shipped);
    if (pricing === undefined && shipped?.pricing === undefined) {
      shelf.notes.add(first.place, `${slug} is not offered: no price is known. Add pricing to its entry; "0" is free`);
    }
    const isOwnPrice = pricing !== undefined && JSON.stringify(pricing) !== JSON.stringify(shipped?.pricing);
    return {
      slug,
      ...facts,
      ...(isOwnPrice && { pricing, price_source: first.facts.price_source ?? shelf.priceSource }),
      sources,
    };
  });
}

function sourcesOf(group: readonly Deployment[], notes: Notes): SourceEntry[] {
  const unique = [...new Map(group.map((one) => [JSON.stringify(one.source), one])).values()];
  const [first] = group;
  if (unique.length < group.length && first !== undefined) {
    notes.add(first.place, `deployments of ${first.slug} that differ in nothing a catalogue has are one source`);
  }
  if (unique.some(({ order }) => order !== undefined)) {
    return unique.toSorted((a, b) => (a.order ?? Infinity) - (b.order ?? Infinity)).map(({ source }) => source);
  }
  if (unique.length === 1) return unique.map(({ source }) => source);
  const most = Math.max(...unique.map(({ weight = 1 }) => weight));
  const scale = most > WEIGHT_MAX ? WEIGHT_MAX / most : 1;
  return unique.map(({ source, weight = 1 }) => ({ ...source, weight: Math.max(1, Math.round(weight * scale)) }));
}

/** Returns the facts that a deployment states and that differ from the shipped model. Omits the owner, the creation date and the prices. */
function ownFacts(facts: Deployment["facts"], shipped: CatalogueModel): Partial<CatalogueModel> {
  const { pricing: _pricing, price_source: _source, owned_by: _owner, created: _created, ...rest } = facts;
  const known: Readonly<Record<string, unknown>> = { ...shipped };
  return Object.fromEntries(
    Object.entries(rest).filter(([name, value]) => JSON.stringify(known[name]) !== JSON.stringify(value)),
  );
}

function withCredential(params: Members, place: string, { credentials, notes }: Shelf): Members {
  const name = textIn(params["litellm_credential_name"]);
  if (name === undefined) return params;
  const values = credentials.get(name);
  if (values === undefined)
    notes.add(`${place}.litellm_params.litellm_credential_name`, "credential_list has no such credential");
  return { ...values, ...params };
}

/** Returns the shipped model that the deployment calls, or else the shipped model that its `base_model` names. */
function templateOf(
  { shipped, model }: Found,
  baseModel: string | undefined,
  { models }: Shelf,
): CatalogueModel | undefined {
  const serves = (name: string) => (one: CatalogueModel) =>
    one.sources?.some((source) => source.provider === shipped && source.model === name) === true;
  const base = baseModel?.slice(baseModel.lastIndexOf("/") + 1);
  const all = [...models.values()];
  const bySource =
    all.find(serves(model)) ??
    all.find((one) => one.slug === model && one.sources?.some(({ provider }) => provider === shipped));
  return (shipped === undefined ? undefined : bySource) ?? (base === undefined ? undefined : models.get(base));
}

interface Described {
  readonly slug: string;
  readonly found: Found;
  readonly params: Members;
  readonly info: Members;
  readonly template: CatalogueModel | undefined;
  readonly place: string;
}

function factsOf(described: Described, { notes, priceSource }: Shelf): Deployment["facts"] | undefined {
  const { found, params, info, template, place } = described;
  const mode = textIn(info["mode"]);
  const modality = mode === undefined ? (template?.modality ?? modalityByName(found.model)) : ownOf(MODALITIES, mode);
  if (modality === undefined) {
    notes.add(`${place}.model_info.mode`, `models of the mode ${printable(mode ?? "")} are not served`);
    return undefined;
  }
  const { slug: _slug, sources: _sources, disabled: _disabled, ...known } = template ?? { slug: "" };
  const chats = modality === "text" || template?.supports_chat === true;
  const pricing =
    pricesOf(
      { ...info, ...params },
      modality,
      `${place}.${Object.keys(params).some(isPrice) ? "litellm_params" : "model_info"}`,
      notes,
    ) ?? known.pricing;
  const isOwnPrice = pricing !== undefined && pricing !== known.pricing;
  const facts = {
    ...known,
    modality,
    owned_by: known.owned_by ?? textIn(info["litellm_provider"])?.slice(0, 100) ?? found.owner,
    created: known.created ?? Math.floor(Date.parse(priceSource.date) / 1_000),
    ...(chats ? chatFacts(described, notes) : {}),
    ...(modality === "embedding"
      ? { supports_embeddings: true, max_context_tokens: tokensOf(info, known) ?? ASSUMED.max_context_tokens }
      : {}),
    ...(pricing !== undefined && { pricing }),
    ...(isOwnPrice && { price_source: priceSource }),
    ...firstByteOf(params),
  };
  if (modality !== "embedding") return facts;
  const dimensions = positiveIn(info["output_vector_size"]) ?? known.embedding?.dimensions;
  if (dimensions === undefined) {
    notes.add(
      `${place}.model_info`,
      "not served: an embedding model needs output_vector_size, the length of its vectors",
    );
    return undefined;
  }
  return { ...facts, embedding: { ...known.embedding, dimensions } };
}

function chatFacts({ info, template, place, slug }: Described, notes: Notes): Partial<CatalogueModel> {
  const context = tokensOf(info, template);
  const output = wholeIn(info["max_output_tokens"]) ?? wholeIn(info["max_tokens"]) ?? template?.max_output_tokens;
  if (context === undefined || output === undefined) {
    const { max_context_tokens: read, max_output_tokens: written } = ASSUMED;
    notes.add(
      `${place}.model_info`,
      `limits of ${slug} are not known: ${read} and ${written} tokens were assumed; correct its entry`,
    );
  }
  const most = context ?? Math.max(ASSUMED.max_context_tokens, output ?? 0);
  const inputs = new Set<string>(template?.allowed_params?.supported_inputs ?? ["text"]);
  for (const [name, input] of Object.entries(INPUTS)) {
    if (info[name] === true) inputs.add(input);
    if (info[name] === false) inputs.delete(input);
  }
  const json = info["supports_response_schema"];
  const tools = info["supports_function_calling"];
  return {
    supports_chat: true,
    supports_streaming: template?.supports_streaming ?? true,
    supports_tools: typeof tools === "boolean" ? tools : (template?.supports_tools ?? true),
    ...(typeof json === "boolean" && { supports_json: json }),
    max_context_tokens: most,
    max_output_tokens: Math.min(most, output ?? ASSUMED.max_output_tokens),
    allowed_params: { ...template?.allowed_params, supported_inputs: [...inputs] },
  };
}

const INPUTS = { supports_vision: "image", supports_audio_input: "audio", supports_pdf_input: "file" } as const;

function tokensOf(info: Members, known: Pick<CatalogueModel, "max_context_tokens"> | undefined): number | undefined {
  return wholeIn(info["max_input_tokens"]) ?? known?.max_context_tokens;
}

function wholeIn(value: unknown): number | undefined {
  const number = positiveIn(value);
  return number === undefined ? undefined : Math.floor(number);
}

/** Converts LiteLLM's `stream_timeout`, in seconds, to the timeout for the first byte, in milliseconds. */
function firstByteOf(params: Members): { readonly first_byte_ms?: number } {
  const seconds = positiveIn(params["stream_timeout"]);
  return seconds === undefined
    ? {}
    : { first_byte_ms: Math.min(3_600_000, Math.max(100, Math.round(seconds * 1_000))) };
}

function modalityByName(model: string): CatalogueModel["modality"] {
  if (/embed/i.test(model)) return "embedding";
  if (/whisper|transcribe/i.test(model)) return "stt";
  if (/(^|[-/])tts/i.test(model)) return "audio";
  return /dall-e|image/i.test(model) ? "image" : "text";
}

/** Adds a note for each member of `litellm_params`, or of a credential's values, that is not imported. */
export function noteParams(params: Members, place: string, notes: Notes): void {
  noteUnread(params, place, READ.params, notes);
  noteMalformed(params, place, notes);
}

function noteUnread(members: Members, place: string, read: ReadonlySet<string>, notes: Notes): void {
  for (const name of Object.keys(members)) {
    // An entry itself has no prices.
    const isRead = read.has(name) || (read !== READ.entry && isPrice(name));
    if (!isRead) notes.add(`${place}.${printable(name)}`, ownOf(REASONS, name) ?? NO_COUNTERPART);
  }
}

type Check = readonly [isValid: (value: unknown) => boolean, expected: string];
const TEXT: Check = [(value) => textIn(value) !== undefined, "a text"];
const NUMBER: Check = [(value) => positiveIn(value) !== undefined, "a number greater than 0"];
const BOOLEAN: Check = [(value) => typeof value === "boolean", "true or false"];
const TEXTS: Check = [(value) => Array.isArray(value) && value.every((one) => TEXT[0](one)), "a list of texts"];

/** Checks of member values, by member name. A value that fails its check is not imported. */
const FORMS: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(
    ["api_key", "custom_llm_provider", "litellm_credential_name", "base_model", "mode", "litellm_provider", "type"].map(
      (name) => [name, TEXT],
    ),
  ),
  ...Object.fromEntries(
    "rpm tpm weight order stream_timeout ttl max_tokens max_input_tokens max_output_tokens output_vector_size"
      .split(" ")
      .map((name) => [name, NUMBER]),
  ),
  ...Object.fromEntries([...READ.info].filter((name) => name.startsWith("supports_")).map((name) => [name, BOOLEAN])),
  additional_drop_params: TEXTS,
};

/**
 * Adds a note for each value that is not imported because it fails its check. Absent and null members get no note. A note does not repeat
 * the value, because the value may be a key.
 */
export function noteMalformed(members: Members, place: string, notes: Notes): void {
  for (const [name, value] of Object.entries(members)) {
    const [isValid, expected] = ownOf(FORMS, name) ?? [() => true, ""];
    if (value !== undefined && value !== null && !isValid(value))
      notes.add(`${place}.${name}`, `the value was not taken: expected ${expected}`);
  }
}
