/** README's table of providers and endpoints, from the catalogue that ships with the service and the providers' adapters. */
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

/** Kinds whose adapters have another name. */
const ADAPTER_OF = { image_edits: "imageEdits" } as const;

/** Columns of the table: title, and kind of call of the endpoint. */
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

/** Family whose adapters speak to servers of operators' own, which serve what they please. */
const OWN_SERVERS = "openai-compatible";

/** Returns README with its table written anew. @throws Error when the page has no place for it */
export async function pageWithProviders(root: string = ROOT_DIR): Promise<Record<string, string>> {
  const page = await Bun.file(join(root, PAGE)).text();
  const [before, behind] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before === -1 || behind < before) throw new Error(`${PAGE} lacks the lines ${BEGIN} and ${END}`);
  const table = await providersTable();
  return { [PAGE]: `${page.slice(0, before)}${BEGIN}\n${table}\n${page.slice(behind)}` };
}

/** Providers with the same endpoints share a row, whose numbers are sums. */
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

/** Number of models that ship with the service; 0 where only models of an operator's own file can be called; undefined: none can. */
function countOf(catalogue: Catalogue, providers: Providers, provider: Provider, kind: KindName): number | undefined {
  const models = [...catalogue.models.values()].filter(
    (model) => model.kind !== "tool" && model.sources.some((source) => source.provider === provider.id),
  );
  const count = models.filter((model) => isServed(model, kind)).length;
  if (count > 0) return count;
  return provider.family !== OWN_SERVERS && hasAdapter(providers, provider, kind) ? 0 : undefined;
}

/** True for an endpoint that the model is called at. An image model that accepts an image is called at both of images. */
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
