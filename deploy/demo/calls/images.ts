/** An image, and the same image with a part of it repainted. */
import sharp from "sharp";

import type { MediaResults } from "#schemas/generated/types.ts";

import { artifactOf, type Call } from "../call.ts";
import type { Answer } from "../client.ts";

const IMAGE = "a lighthouse by the sea at sunset";
const EDIT = "add a red hot air balloon";

export const image: Call = {
  name: "image",
  title: "Image",
  model: "sandbox-image",
  async run({ model, client }) {
    const body = { model, prompt: IMAGE, size: "1024x1024", seed: 3, response_format: "b64_json" };
    const { receipt, fileId, bytes } = onlyOne(await client.post<MediaResults>("/images/generations", body));
    return { receipts: [receipt], artifacts: [await named("image", bytes)], fileId, text: IMAGE };
  },
};

export const imageEdit: Call = {
  name: "image-edit",
  title: "Image edit with a mask",
  model: "sandbox-image",
  async run(stage) {
    const source = artifactOf(stage, "image").bytes;
    const mask = await maskOf(source);
    const { receipt, fileId, bytes } = onlyOne(
      await stage.client.post<MediaResults>("/images/edits", {
        model: stage.model,
        prompt: EDIT,
        image_base64: Buffer.from(source).toString("base64"),
        mask_base64: mask.toString("base64"),
        strength: 1,
        response_format: "b64_json",
      }),
    );
    const artifacts = [
      { ...(await named("image-edit", bytes)), caption: `The picture above, edited: ${EDIT}` },
      { file: "image-edit-mask.png", bytes: mask, caption: "The mask: what is grey stays, and the hole was repainted" },
    ];
    return { receipts: [receipt], artifacts, fileId };
  },
};

/** Opaque but for a rectangle at the top left, in the sky, which is to be repainted. Grey shows on a page of any colour. */
async function maskOf(source: Uint8Array): Promise<Buffer> {
  const { width, height } = await sharp(source).metadata();
  const hole = await sharp({
    create: {
      width: Math.round(width * 0.4),
      height: Math.round(height * 0.3),
      channels: 4,
      background: "#000f",
    },
  })
    .png()
    .toBuffer();
  return sharp({ create: { width, height, channels: 4, background: "#777f" } })
    .composite([{ input: hole, left: Math.round(width * 0.05), top: Math.round(height * 0.05), blend: "dest-out" }])
    .png()
    .toBuffer();
}

function onlyOne({ body, receipt }: Answer<MediaResults>) {
  const [made] = body.data;
  if (made?.b64_json === undefined || made.file_id === undefined) throw new Error("the answer holds no image");
  return { receipt, fileId: made.file_id, bytes: new Uint8Array(Buffer.from(made.b64_json, "base64")) };
}

/** Some models choose the format themselves. */
async function named(name: string, bytes: Uint8Array) {
  const { format } = await sharp(bytes).metadata();
  return { file: `${name}.${format === "jpeg" ? "jpg" : format}`, bytes };
}
