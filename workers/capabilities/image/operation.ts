/**
 * Operations on pictures: each is a capability of its own and a step of `image.pipeline`. A step sees exactly the pixels that the
 * one before it made.
 */
import type { Sharp } from "sharp";

import type { CapabilityModality, Rule } from "#shared/capabilities/entry.ts";

import { defineCapability, type DefinedCapability, input, type InputFile, type Member } from "../define.ts";
import type { Params, ParamsOf } from "../params.ts";
import { openPicture, OUTPUT, type Output, type Picture, writePicture } from "./sharp.ts";

/** Second pictures, by name. */
export type Assets = Readonly<Record<string, InputFile | undefined>>;

export interface ImageOperation<P extends Params> {
  readonly params: P;
  readonly rules?: readonly Rule[];
  /** Frames of an animation are kept by it. */
  readonly takesFrames?: true;
  /** The picture is taken as it is stored, not as its camera says it is to be turned. */
  readonly asStored?: (params: ParamsOf<P>) => boolean;
  /** @throws MediaError `invalid`, `too_large` */
  apply(picture: Picture, params: ParamsOf<P>, assets: Assets): Promise<Sharp> | Sharp;
}

interface Definition<P extends Params> extends ImageOperation<P> {
  readonly id: string;
  readonly display_name: string;
  readonly description: string;
  readonly assets?: Readonly<Record<string, Member<InputFile | undefined>>>;
  readonly sample_input?: Readonly<Record<string, unknown>>;
  readonly examples: readonly { readonly title: string; readonly params: Readonly<Record<string, unknown>> }[];
}

export const MEGAPIXEL_PRICE = { unit: "per_megapixel", megapixel_price: "0.02" } as const;
const IMAGE: CapabilityModality = "image";

/** The capability of an operation: one picture in, one out. */
export function imageCapability<const P extends Params>(definition: Definition<P>): DefinedCapability {
  const { params, assets = {}, sample_input = { image: { file_id: "file-sample-photo" } }, ...rest } = definition;
  return defineCapability({
    ...published(rest),
    output_modality: IMAGE,
    input: { image: input("image", "The picture."), ...assets },
    params: { ...params, ...OUTPUT },
    rules: definition.rules ?? [],
    sample_input,
    price: MEGAPIXEL_PRICE,
    engine: "sharp",
    async run({ params: all, inputs, folder }) {
      const own = all as unknown as ParamsOf<P> & Output;
      const { image, ...others } = inputs as unknown as { readonly image: InputFile } & Assets;
      const frames =
        definition.takesFrames === true && (own.format === undefined || own.format === "gif" || own.format === "webp");
      const asStored = definition.asStored?.(own) === true;
      const picture = await openPicture(image, { frames, asStored });
      return writePicture(folder, await definition.apply(picture, own, others), picture, own);
    },
  });
}

function published({
  id,
  display_name,
  description,
  examples,
}: Pick<Definition<Params>, "id" | "display_name" | "description" | "examples">) {
  return { id, display_name, description, examples };
}
