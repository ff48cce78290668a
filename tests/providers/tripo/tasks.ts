/** Bodies of Tripo's tasks, from their own pages; members that a task does not know are refused here, so that ours are right. */

import type { Members } from "../engine/behaviour.ts";
import { type Check, isFlag, oneOf, textUpTo, whole } from "../engine/jobs.ts";

const isText = textUpTo(1_024);
const isWhole = whole(-Infinity, Infinity);
/** A token of an upload, an address, or the id of a task. */
const isInput: Check = (value) =>
  typeof value === "string" && /^(https?:\/\/|file_[a-z0-9]+$|task_[a-z0-9]+$)/.test(value);
const isTexturePrompt: Check = (value) => {
  const { text, image, ...rest } = (value ?? {}) as Members;
  if (Object.keys(rest).length > 0 || (text === undefined) === (image === undefined)) return false;
  return text === undefined ? isInput(image) : isText(text);
};

const GENERATION = {
  model: oneOf("v2.5-20250123", "v3.0-20250812", "v3.1-20260211", "P1-20260311", "P2-20260801"),
  model_seed: isWhole,
  texture_seed: isWhole,
  face_limit: isWhole,
  texture: isFlag,
  pbr: isFlag,
  texture_quality: oneOf("standard", "detailed"),
  geometry_quality: oneOf("standard", "detailed"),
} as const satisfies Record<string, Check>;

export interface TaskRules {
  readonly members: Readonly<Record<string, Check>>;
  readonly needs: readonly string[];
  /** Credits, by model; of generation with a texture. */
  readonly prices: Readonly<Record<string, number>>;
}

export const RULES: Readonly<Record<string, TaskRules>> = {
  "/generation/text-to-model": {
    members: { ...GENERATION, prompt: isText, negative_prompt: isText, image_seed: isWhole },
    needs: ["prompt", "model"],
    prices: { "v3.0-20250812": 20, "v3.1-20260211": 20, "P1-20260311": 40 },
  },
  "/generation/image-to-model": {
    members: { ...GENERATION, input: isInput },
    needs: ["input", "model"],
    prices: { "v3.0-20250812": 30, "v3.1-20260211": 30, "P1-20260311": 50 },
  },
  "/models/texture": {
    members: {
      input: isInput,
      model: oneOf("v3.0-20250812", "v3.5-20260815"),
      texture_prompt: isTexturePrompt,
      texture_seed: isWhole,
      pbr: isFlag,
      bake: isFlag,
    },
    needs: ["input", "model"],
    prices: { "v3.0-20250812": 10 },
  },
  "/mesh/decimate": {
    members: { input: isInput, model: oneOf("v1.0", "v2.0"), face_limit: isWhole, quad: isFlag, bake: isFlag },
    needs: ["input", "model"],
    prices: { "v1.0": 10, "v2.0": 30 },
  },
  "/mesh/segment": {
    members: { input: isInput, model: oneOf("v1.0-20250506", "v2.0-20260430") },
    needs: ["input", "model"],
    prices: { "v1.0-20250506": 40 },
  },
  "/animations/rig": {
    members: {
      input: isInput,
      model: oneOf("v1.0-20240301", "v2.5-20260210"),
      rig_type: oneOf("biped", "quadruped", "avian", "others"),
      spec: oneOf("tripo", "mixamo"),
      out_format: oneOf("glb", "fbx"),
    },
    needs: ["input", "model"],
    prices: { "v1.0-20240301": 25, "v2.5-20260210": 25 },
  },
};
