/**
 * Places the inputs of a task that generates or transforms a mesh, and creates the errors for unsuitable inputs. Shared by Meshy and Tripo.
 */
import { clientParam, type Fields, place, type PlacedInput } from "./fields.ts";
import type { MeshInput } from "./media.ts";
import { meshValues } from "./media-fields.ts";
import { ProviderError } from "./provider.ts";
import { characters } from "./speech.ts";

export type MeshInputName = "prompt" | "image" | "mesh";

export interface MeshNeeds {
  /** Default fields for inputs, unless the source sets its own. */
  readonly usual: Fields;
  /**
   * Groups of alternative inputs, in order of preference. From each group, the first input is sent that the call contains and for which the
   * source has a field.
   */
  readonly needs: readonly (readonly MeshInputName[])[];
  /** Maximum length of a prompt at the vendor, in characters. */
  readonly promptMax: number;
}

const NAMES: Readonly<Record<MeshInputName, string>> = { prompt: "a prompt", image: "an image", mesh: "a mesh" };

/**
 * Returns the inputs to send for a mesh task.
 * @throws ProviderError `rejected` for a missing or too long input, `misconfigured` when the source has no field for it
 */
export function meshInputs(
  input: MeshInput,
  fields: Fields | undefined,
  { usual, needs, promptMax }: MeshNeeds,
): PlacedInput[] {
  const placed = place(meshValues(input), fields ?? usual);
  const unwanted = new Set<string>();
  for (const group of needs) {
    const providedInputs = group.filter((ours) => input[ours] !== undefined);
    if (providedInputs.length === 0) throw missing(group);
    const [sent, ...others] = providedInputs.filter((ours) => placed.some((one) => one.ours === ours));
    if (sent === undefined)
      throw new ProviderError("misconfigured", `the source has no field for ${providedInputs.join(", ")}`);
    for (const ours of others) unwanted.add(ours);
  }
  const wanted = placed.filter(({ ours }) => !unwanted.has(ours));
  if (wanted.some(({ ours }) => ours === "prompt") && characters(input.prompt ?? "") > promptMax) {
    throw rejectedPrompt("the prompt is too long", `This model accepts prompts of at most ${promptMax} characters.`);
  }
  return wanted;
}

/** Returns the names of the sent inputs. They are stored with the job, so that a later error can be attributed to an input. */
export function sentNames(placed: readonly PlacedInput[]): MeshInputName[] {
  return (["mesh", "image", "prompt"] as const).filter((name) => placed.some(({ ours }) => ours === name));
}

export function isMeshInputName(value: unknown): value is MeshInputName {
  return typeof value === "string" && Object.hasOwn(NAMES, value);
}

/**
 * Returns the error for a prompt that the vendor rejected.
 * @param say our error message; without it, the client receives only the error code
 */
export function rejectedPrompt(detail: string, say?: string, status?: number): ProviderError {
  return new ProviderError("rejected", detail, {
    code: "invalid_request",
    param: "prompt",
    ...(say === undefined ? {} : { say }),
    ...(status === undefined ? {} : { status }),
  });
}

/**
 * Returns the error for an input that the vendor could not process. If several inputs were sent, the first is blamed as the most likely
 * cause.
 */
export function unusable(detail: string, inputNames: readonly MeshInputName[], status?: number): ProviderError {
  const [ours = "prompt"] = inputNames;
  if (ours === "prompt") return rejectedPrompt(detail, undefined, status);
  return new ProviderError("rejected", detail, {
    code: "unprocessable_input",
    param: clientParam(ours, "mesh"),
    say: `The model cannot process this input; send ${NAMES[ours]} of another content.`,
    ...(status === undefined ? {} : { status }),
  });
}

function missing(group: readonly MeshInputName[]): ProviderError {
  const say = `This model requires ${group.map((ours) => NAMES[ours]).join(" or ")}.`;
  const param = clientParam(group[0] ?? "prompt", "mesh");
  return new ProviderError("rejected", say, { code: "invalid_request", param, say });
}
