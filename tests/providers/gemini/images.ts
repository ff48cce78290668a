/** The picture side of the local upstream: calls with `responseModalities: ["IMAGE"]`. */
import type { AnswerBehaviour, Members } from "../engine/behaviour.ts";
import { oneOf, whole } from "../engine/jobs.ts";
import { pngOf } from "#tests/support/png.ts";
import type { GenerateBody } from "./check-request.ts";

const isRatio = oneOf("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9");
const isSize = oneOf("1K", "2K", "4K");

export function isImageCall({ generationConfig }: GenerateBody): boolean {
  return (generationConfig as Members | undefined)?.["responseModalities"]?.toString() === "IMAGE";
}

/** The first fault of an image call's configuration in Google's manner, or null. */
export function checkImageConfig(config: unknown): string | null {
  const { responseModalities, imageConfig, seed } = (config ?? {}) as Members;
  if (responseModalities === undefined) return imageConfig === undefined ? null : "imageConfig: not for this modality";
  if (!Array.isArray(responseModalities)) return "Invalid value at 'generation_config.response_modalities'";
  const { aspectRatio = "1:1", imageSize = "1K", ...rest } = (imageConfig ?? {}) as Members;
  const stranger = Object.keys(rest)[0];
  if (stranger !== undefined) return `Unknown name "${stranger}" at 'generation_config.image_config'`;
  if (!isRatio(aspectRatio)) return "* GenerateContentRequest.aspect_ratio: unsupported";
  if (!isSize(imageSize)) return "* GenerateContentRequest.image_size: unsupported";
  const isSeed = seed === undefined || whole(-2_147_483_648, 2_147_483_648)(seed);
  return isSeed ? null : "Invalid value at 'generation_config.seed' (TYPE_INT32)";
}

/** Tokens that the server counts for one picture. */
export const MOCK_PICTURE = { prompt: 9, inputImage: 258, picture: 1_120, thoughts: 50 } as const;

/** One picture; words in its place where the behaviour has a text, a draft before it where it has thoughts. */
export function imageText(behaviour: AnswerBehaviour, body: GenerateBody, model: string, sequence: number): string {
  const tail = { modelVersion: model, responseId: `mock-response-${sequence}` };
  if (behaviour.blockReason !== undefined) {
    return JSON.stringify({ promptFeedback: { blockReason: behaviour.blockReason }, ...tail });
  }
  const isStopped = behaviour.finishReason !== undefined && behaviour.finishReason !== "STOP";
  const said = behaviour.text === undefined || behaviour.text === "" ? [] : [{ text: behaviour.text }];
  const picture = {
    inlineData: { mimeType: "image/png", data: pngOf(32, 16).toString("base64") },
    thoughtSignature: "c2ln",
  };
  const draft = { inlineData: { mimeType: "image/png", data: pngOf(8, 8).toString("base64") }, thought: true };
  const parts = [
    ...(behaviour.thoughts === undefined ? [] : [{ text: behaviour.thoughts, thought: true }, draft]),
    ...said,
    ...(isStopped || said.length > 0 ? [] : [picture]),
  ];
  const content = parts.length > 0 ? { content: { parts, role: "model" } } : {};
  const candidates = [{ ...content, finishReason: behaviour.finishReason ?? "STOP", index: 0 }];
  return JSON.stringify({ candidates, ...usageOf(behaviour, body), ...tail });
}

function usageOf({ usage, thoughts }: AnswerBehaviour, { contents }: GenerateBody): Members {
  if (usage === "missing") return {};
  if (typeof usage === "object") return { usageMetadata: usage };
  const images = contents.flatMap(({ parts }) => parts).filter(({ inlineData }) => inlineData).length;
  const { prompt, inputImage, picture } = MOCK_PICTURE;
  const thought = thoughts === undefined ? 0 : MOCK_PICTURE.thoughts;
  return {
    usageMetadata: {
      promptTokenCount: prompt + images * inputImage,
      candidatesTokenCount: picture,
      totalTokenCount: prompt + images * inputImage + picture + thought,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: prompt },
        ...(images > 0 ? [{ modality: "IMAGE", tokenCount: images * inputImage }] : []),
      ],
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: picture }],
      ...(thought > 0 ? { thoughtsTokenCount: thought } : {}),
    },
  };
}
