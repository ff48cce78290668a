/**
 * Meshy's kinds of task as data. The source's model name is a kind, followed by a slash and the `ai_model` where the kind has models.
 * Sources: docs.meshy.ai/en/api/{text-to-3d,image-to-3d,retexture,remesh,rigging}.
 */
import { isMembers } from "../json.ts";
import { type Fields, isMedia, type PlacedInput, setField, urlOf } from "../fields.ts";
import type { MediaCall, MeshInput } from "../media.ts";
import { ProviderError } from "../provider.ts";

import { sentNames, meshInputs, type MeshInputName, type MeshNeeds } from "../mesh-inputs.ts";

/** Most characters of a prompt. Newer versions of the docs say 800; both accept 600. */
const PROMPT_MAX = 600;

interface TaskKind extends MeshNeeds {
  readonly path: string;
  readonly hasModels: boolean;
  /** True if Meshy lists tasks of this kind. Default: true. */
  readonly isListed?: boolean;
  /** True if a first task generates an untextured mesh, and a second task at the same path textures it. */
  readonly isTwoPhase?: boolean;
}

const kind = (
  path: string,
  usual: Fields,
  needs: MeshNeeds["needs"],
  more: Pick<TaskKind, "hasModels" | "isListed" | "isTwoPhase">,
): TaskKind => ({ path, usual, needs, promptMax: PROMPT_MAX, ...more });

const KINDS = {
  "text-to-3d": kind("/openapi/v2/text-to-3d", { prompt: "prompt" }, [["prompt"]], {
    hasModels: true,
    isTwoPhase: true,
  }),
  "image-to-3d": kind("/openapi/v1/image-to-3d", { image: "image_url" }, [["image"]], { hasModels: true }),
  retexture: kind(
    "/openapi/v1/retexture",
    { mesh: "model_url", image: "image_style_url", prompt: "text_style_prompt" },
    // With two styles, Meshy uses the image.
    [["mesh"], ["image", "prompt"]],
    { hasModels: true },
  ),
  remesh: kind("/openapi/v1/remesh", { mesh: "model_url" }, [["mesh"]], { hasModels: false }),
  rigging: kind("/openapi/v1/rigging", { mesh: "model_url" }, [["mesh"]], { hasModels: false, isListed: false }),
} as const satisfies Readonly<Record<string, TaskKind>>;

export type TaskName = keyof typeof KINDS;

export function isTaskName(value: unknown): value is TaskName {
  return typeof value === "string" && Object.hasOwn(KINDS, value);
}

export function pathOf(name: TaskName): string {
  return KINDS[name].path;
}

export function isListed(name: TaskName): boolean {
  const { isListed: is = true }: TaskKind = KINDS[name];
  return is;
}

export interface FirstTask {
  readonly name: TaskName;
  readonly body: Readonly<Record<string, unknown>>;
  readonly given: readonly MeshInputName[];
  /** Body of the second task of a two-phase job, without the id of the first task. */
  readonly refine?: Readonly<Record<string, unknown>>;
}

/**
 * Members for the second phase are an object `refine` in the source's `overrides`, since the two bodies have little in common.
 * @throws ProviderError
 */
export function firstTask({ input, sourceModel, fields, adapt }: MediaCall<MeshInput>): FirstTask {
  const [name, model] = splitOnce(sourceModel);
  if (!isTaskName(name)) throw new ProviderError("misconfigured", `Meshy has no task "${name}"`);
  const known: TaskKind = KINDS[name];
  if (known.hasModels ? !model : model !== undefined) {
    throw new ProviderError("misconfigured", `"${sourceModel}" names ${model ? "a" : "no"} model`);
  }
  const placed = meshInputs(input, fields, known);
  const body: Record<string, unknown> = {
    ...(known.isTwoPhase ? { mode: "preview" } : {}),
    ...(model === undefined ? {} : { ai_model: model }),
  };
  for (const one of placed) setField(body, one.theirs, valueOf(one));
  adapt(body);
  const { refine: overrides, ...first } = body;
  const given = sentNames(placed);
  if (!known.isTwoPhase) return { name, body: first, given };
  // Without a model, Meshy would choose one and its price.
  const refine = { ai_model: first["ai_model"], ...(isMembers(overrides) ? overrides : {}) };
  return { name, body: first, given, refine };
}

/** Returns the value for a field: meshes as bytes without a type, images with their type. */
function valueOf({ ours, value }: PlacedInput): unknown {
  if (!isMedia(value)) return value;
  if (ours !== "mesh" || "url" in value) return urlOf(value);
  return urlOf({ bytes: value.bytes, contentType: "application/octet-stream" });
}

function splitOnce(name: string): [string, string | undefined] {
  const slash = name.indexOf("/");
  return slash < 0 ? [name, undefined] : [name.slice(0, slash), name.slice(slash + 1)];
}
