/** Generates README's table of providers and endpoints, from the shipped catalogue and the providers' adapters. */
import { join } from "node:path";

import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { KINDS } from "#shared/calls/kinds/kinds.ts";
import { kindOfCall } from "#shared/calls/kinds/models.ts";
import type { Catalogue, Model, Provider } from "#shared/calls/model.ts";
import { createProviders, type Providers } from "#workers/providers/index.ts";

import { ROOT_DIR } from "./schema-files.ts";

const PAGE = "README.md";
const BEGIN = "<!-- providers: written by npm run generate -->";
const END = "<!-- /providers -->";

type KindName = keyof typeof KINDS;

/** Name of the adapter, for each kind of call whose adapter has a different name than the kind. */
const ADAPTER_OF = { image_edits: "imageEdits" } as const;

/** Columns of the table: the title, and the kind of call. */
const COLUMNS: readonly (readonly [title: string, kind: KindName])[] = [
  ["Chat", "chat"],
  ["Embeddings", "embeddings"],
  ["Images", "images"],
  ["Edits", "image_edits"],
  ["Speech", "speech"],
  ["Transcription", "transcription"],
  ["Music", "music"],
  ["Video", "video"],
  ["3D", "mesh"],
];

/** Adapter family for servers that operators run themselves. Such servers may support any endpoint. */
const OWN_SERVERS = "openai-compatible";

/** Returns README with a newly generated table. @throws Error when README has no markers for the table */
export async function pageWithProviders(root: string = ROOT_DIR): Promise<Record<string, string>> {
  const page = await Bun.file(join(root, PAGE)).text();
  const [before, behind] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before === -1 || behind < before) throw new Error(`${PAGE} lacks the lines ${BEGIN} and ${END}`);
  const table = await providersTable();
  return { [PAGE]: `${page.slice(0, before)}${BEGIN}\n${table}\n${page.slice(behind)}` };
}

/** Returns the table. Providers with the same endpoints share a row, in which the numbers of models are sums. */
async function providersTable(): Promise<string> {
  const catalogue = buildCatalogue(mergeLayers(await loadOurLayers()), { sandbox: false, providerKey: () => "set" });
  const providers = createProviders(() => undefined);
  const rows = new Map<string, { readonly names: string[]; readonly counts: (number | undefined)[] }>();
  for (const provider of catalogue.providers.values()) {
    if (provider.family === "sandbox") continue;
    const counts = COLUMNS.map(([, kind]) => countOf(catalogue, providers, provider, kind));
    const key = counts.map((count) => (count === undefined ? "" : Math.sign(count))).join();
    const before = rows.get(key) ?? { names: [], counts: COLUMNS.map(() => undefined) };
    const sums = counts.map((count, at) => (count === undefined ? undefined : count + (before.counts[at] ?? 0)));
    rows.set(key, { names: [...before.names, `\`${provider.id}\``], counts: sums });
  }
  const own: Provider = { id: "own", family: OWN_SERVERS, base_url: "http://localhost" };
  const ownCounts = COLUMNS.map(([, kind]) => (hasAdapter(providers, own, kind) ? 0 : undefined));
  await providers.close();
  const lines = [...rows.values(), { names: ["any OpenAI-compatible server"], counts: ownCounts }].map(
    ({ names, counts }) => `| ${names.join(", ")} |${counts.map(cellOf).join("|")}|`,
  );
  const head = `| Provider | ${COLUMNS.map(([title]) => title).join(" | ")} |\n|---|${"---|".repeat(COLUMNS.length)}`;
  return [head, ...lines].join("\n");
}

function cellOf(count: number | undefined): string {
  return count === undefined ? " " : ` ${count === 0 ? "✓" : count} `;
}

/**
 * Returns the number of shipped models of a provider that the endpoint serves. 0: only models of an operator's own catalogue file can be
 * called; undefined: no model can be called.
 */
function countOf(catalogue: Catalogue, providers: Providers, provider: Provider, kind: KindName): number | undefined {
  const models = [...catalogue.models.values()].filter(
    (model) => model.kind !== "tool" && model.sources.some((source) => source.provider === provider.id),
  );
  const count = models.filter((model) => isServed(model, kind)).length;
  if (count > 0) return count;
  return provider.family !== OWN_SERVERS && hasAdapter(providers, provider, kind) ? 0 : undefined;
}

/** Returns true if the endpoint serves the model. An image model that accepts an input image is served by both image endpoints. */
function isServed(model: Model, kind: KindName): boolean {
  const first = kindOfCall(model);
  const isEditor = first === KINDS.images && model.allowed_params.accepts_input_image === true;
  return first === KINDS[kind] || (kind === "image_edits" && isEditor);
}

function hasAdapter(providers: Providers, provider: Provider, name: KindName): boolean {
  if (name === "chat") return providers.chat(provider) !== undefined;
  if (name === "embeddings") return providers.embeddings(provider) !== undefined;
  return providers.media(provider, name === "image_edits" ? ADAPTER_OF[name] : name) !== undefined;
}
