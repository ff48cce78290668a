/** Bodies of Meshy's tasks, from their own pages; members that a task does not know are refused here, so that ours are right. */

import type { Members } from "../engine/behaviour.ts";
import { type Check, faultIn, isFlag, isNumber, listOf, oneOf, textUpTo, whole } from "../engine/jobs.ts";

const isText = textUpTo(600);
const isImage: Check = (value) =>
  typeof value === "string" && /^(https?:\/\/|data:image\/(png|jpe?g);base64,[A-Za-z0-9+/]+=*$)/.test(value);
const isMesh: Check = (value) =>
  typeof value === "string" && /^(https?:\/\/|data:application\/octet-stream;base64,[A-Za-z0-9+/]+=*$)/.test(value);
const isModel = oneOf("meshy-5", "meshy-6", "meshy-6-lite", "meshy-7", "meshy-7.1", "meshy-t2", "latest");

const SHAPE = {
  topology: oneOf("quad", "triangle"),
  target_polycount: whole(100, 300_000),
  should_remesh: isFlag,
  target_formats: listOf(() => true),
} as const satisfies Record<string, Check>;

const PREVIEW = { mode: oneOf("preview"), prompt: isText, ai_model: isModel, model_type: isText, ...SHAPE };
const REFINE = {
  mode: oneOf("refine"),
  preview_task_id: isText,
  ai_model: isModel,
  enable_pbr: isFlag,
  texture_prompt: isText,
};

export interface TaskRules {
  readonly members: Readonly<Record<string, Check>>;
  /** Lists of members, of each of which exactly one must be there. */
  readonly needs: readonly (readonly string[])[];
  readonly price: number;
}

/** Path → what is taken there. Text-to-3d has two bodies. */
const RULES: Readonly<Record<string, TaskRules>> = {
  "/openapi/v1/image-to-3d": {
    members: { image_url: isImage, ai_model: isModel, should_texture: isFlag, enable_pbr: isFlag, ...SHAPE },
    needs: [["image_url"]],
    price: 30,
  },
  "/openapi/v1/retexture": {
    members: {
      model_url: isMesh,
      text_style_prompt: isText,
      image_style_url: isImage,
      ai_model: isModel,
      enable_original_uv: isFlag,
      enable_pbr: isFlag,
    },
    needs: [["model_url"], ["text_style_prompt", "image_style_url"]],
    price: 10,
  },
  "/openapi/v1/remesh": { members: { model_url: isMesh, ...SHAPE }, needs: [["model_url"]], price: 5 },
  "/openapi/v1/rigging": {
    members: { model_url: isMesh, height_meters: isNumber },
    needs: [["model_url"]],
    price: 5,
  },
};

export function rulesOf(path: string, mode: unknown): TaskRules | undefined {
  if (path !== "/openapi/v2/text-to-3d") return RULES[path];
  if (mode === "refine") return { members: REFINE, needs: [["preview_task_id"]], price: 10 };
  return { members: PREVIEW, needs: [["mode"], ["prompt"]], price: 20 };
}

/** Returns the fault of a body; undefined: none. */
export function wrongIn(body: Members, { members, needs }: TaskRules): string | undefined {
  const fault = faultIn(body, members, []);
  if (fault) return `Invalid values: ${fault.name}`;
  const unmet = needs.find((group) => group.filter((name) => body[name] !== undefined).length !== 1);
  return unmet && `Exactly one is wanted: ${unmet.join(", ")}`;
}
