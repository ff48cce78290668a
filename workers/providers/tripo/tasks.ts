/**
 * Tripo's tasks as data. The source's model name is a task, followed by a slash and the dated `model` that runs it. Sources:
 * developers.tripo3d.ai/en/docs/{text-to-model,image-to-model,texture,decimate,segment,rig}.
 */
import { isMedia, type PlacedInput, setField } from "../fields.ts";
import type { MediaInput, MediaCall, MeshInput } from "../media.ts";
import { sentNames, meshInputs, type MeshInputName, type MeshNeeds } from "../mesh-inputs.ts";
import { ProviderError } from "../provider.ts";

const PROMPT_MAX = 1_024;

interface TaskKind extends MeshNeeds {
  readonly path: string;
}

const kind = (path: string, usual: MeshNeeds["usual"], needs: MeshNeeds["needs"]): TaskKind => ({
  path,
  usual,
  needs,
  promptMax: PROMPT_MAX,
});

const KINDS: Readonly<Record<string, TaskKind>> = {
  "text-to-model": kind("/generation/text-to-model", { prompt: "prompt", seed: "model_seed" }, [["prompt"]]),
  "image-to-model": kind("/generation/image-to-model", { image: "input", seed: "model_seed" }, [["image"]]),
  texture: kind(
    "/models/texture",
    { mesh: "input", image: "texture_prompt.image", prompt: "texture_prompt.text", seed: "texture_seed" },
    [["mesh"], ["image", "prompt"]],
  ),
  decimate: kind("/mesh/decimate", { mesh: "input" }, [["mesh"]]),
  segment: kind("/mesh/segment", { mesh: "input" }, [["mesh"]]),
  rig: kind("/animations/rig", { mesh: "input" }, [["mesh"]]),
};

export interface TripoTask {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly given: readonly MeshInputName[];
}

/** Uploads media for Tripo and returns the value for the body. @throws ProviderError */
export type Upload = (media: MediaInput, ours: MeshInputName) => Promise<string>;

/** @throws ProviderError */
export async function taskOf(
  { input, sourceModel, fields, adapt }: MediaCall<MeshInput>,
  upload: Upload,
): Promise<TripoTask> {
  const slash = sourceModel.indexOf("/");
  const [name, model] = [sourceModel.slice(0, Math.max(0, slash)), sourceModel.slice(slash + 1)];
  const known = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  // Without a model, Tripo would choose one and its price.
  if (!known || model === "") throw new ProviderError("misconfigured", `Tripo has no task and model "${sourceModel}"`);
  const placed = meshInputs(input, fields, known);
  const body: Record<string, unknown> = { model };
  for (const one of placed) setField(body, one.theirs, await valueOf(one, upload));
  adapt(body);
  return { path: known.path, body, given: sentNames(placed) };
}

async function valueOf({ ours, value }: PlacedInput, upload: Upload): Promise<unknown> {
  if (!isMedia(value)) return value;
  return "url" in value ? value.url : upload(value, ours === "mesh" ? "mesh" : "image");
}
