/** Converts capability runs and the list of capabilities to the format of API responses. */
import type { CapabilityEntry, CapabilityRun, Modality, ModelEntry } from "#schemas/generated/types.ts";
import type { Capability, CapabilityModality } from "#shared/calls/capabilities/entry.ts";
import { CAPABILITY_PIXELS_MIN, capabilityPrice } from "#shared/calls/capabilities/price.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { pricingNumbers } from "#shared/calls/present-model.ts";
import type { Config } from "#shared/config/config.ts";
import type { JobRow } from "#shared/database/jobs.ts";
import type { FileLinks } from "#shared/files/links.ts";
import { creditsNumber } from "#shared/base/money.ts";

/** Result of a capability run, as written by the worker (workers/calls/capability/run.ts). */
export interface RunOutcome {
  readonly capability: string;
  readonly output: Readonly<Record<string, unknown>>;
  readonly files: readonly {
    readonly file_id: string;
    readonly content_type: string;
    readonly bytes: number;
    readonly name: string;
  }[];
  readonly duration_ms: number;
}

/**
 * Converts a capability run to the response for its caller. @param request its origin is used in links if the configuration has no public
 * URL
 */
export function presentRun(
  { links, config }: { readonly links: FileLinks; readonly config: Pick<Config, "publicUrl"> },
  row: Pick<JobRow, "id" | "workspace_id" | "credits">,
  { capability, output, files, duration_ms }: RunOutcome,
  request: Request,
): CapabilityRun {
  const base = config.publicUrl ?? new URL(request.url).origin;
  return {
    id: row.id,
    object: "capability.run",
    capability,
    status: "completed",
    output: { ...output },
    files: files.map(({ file_id, content_type, bytes, name }) => ({
      file_id,
      url: links.url(base, row.workspace_id, file_id),
      content_type,
      bytes,
      name,
    })),
    credits_used: creditsNumber(row.credits ?? 0n),
    duration_ms,
  };
}

/** Returns capabilities as entries of the model list, of kind tool. */
export function capabilityRows(catalogue: Catalogue, capabilities: readonly Capability[]): readonly ModelEntry[] {
  return capabilities.map((capability) => ({
    id: capability.id,
    object: "model",
    created: CREATED_S,
    owned_by: "sluice",
    permission: [],
    root: capability.id,
    parent: null,
    _svc: {
      kind: "tool",
      modality: MODALITIES[capability.output_modality],
      supports_chat: false,
      supports_embeddings: false,
      supports_streaming: false,
      supports_tools: false,
      max_context_tokens: 0,
      max_output_tokens: 0,
      pricing: pricingNumbers(capabilityPrice(catalogue, capability)),
      allowed_params: {},
    },
  }));
}

/** Creation time of all capability entries, as Unix time in seconds: 2026-11-23. */
const CREATED_S = 1_795_392_000;

/** Model modality for each capability modality. Models have no modality for documents and archives. */
const MODALITIES: Readonly<Record<CapabilityModality, Modality>> = {
  video: "video",
  audio: "audio",
  image: "image",
  document: "text",
  text: "text",
  archive: "text",
  any: "text",
};

const DRAFT_07 = { $schema: "http://json-schema.org/draft-07/schema#" };

/** Returns the response of `GET /v1/tools`, which is the same for every workspace. */
export function listCapabilities(
  catalogue: Catalogue,
  capabilities: readonly Capability[],
): {
  readonly object: "list";
  readonly data: readonly CapabilityEntry[];
} {
  return {
    object: "list",
    data: capabilities.map((capability) => {
      const { members: _members, rules: _rules, engine: _engine, engineBy: _by, pricing: _own, ...entry } = capability;
      const { id, category, display_name, params_schema, input_schema, ...rest } = entry;
      const price = capabilityPrice(catalogue, capability);
      return {
        id,
        object: "capability",
        category,
        display_name,
        ...rest,
        params_schema: { ...DRAFT_07, ...params_schema },
        input_schema: { ...DRAFT_07, ...input_schema },
        pricing: pricingNumbers(price),
        ...(price.unit === "per_megapixel" ? { minimum_megapixels: CAPABILITY_PIXELS_MIN / 1e6 } : {}),
      } as unknown as CapabilityEntry;
    }),
  };
}
