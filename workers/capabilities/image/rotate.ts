import { choice, color, flag, number } from "../params.ts";
import { imageCapability, type ImageOperation, settled } from "./operation.ts";
import { checkColor } from "./sharp.ts";

const params = {
  angle: number("Clockwise rotation in degrees.", { min: -360, max: 360, unit: "deg", default: 0 }),
  flip: choice("Mirror the image after rotating it.", ["none", "horizontal", "vertical", "both"], { default: "none" }),
  auto_orient: flag("Apply the EXIF orientation first.", true),
  background: color("Colour of the corners when the angle is not a multiple of 90.", { default: "transparent" }),
};

export const operation: ImageOperation<typeof params> = {
  params,
  keepsDepth: ({ angle }) => angle % 90 === 0,
  asStored: ({ auto_orient: isUpright }) => !isUpright,
  async apply({ image, format, hasAlpha, deep }, { angle, flip, background }) {
    checkColor("params.background", background);
    const isQuarter = angle % 90 === 0;
    const open = isQuarter || hasAlpha ? image : image.ensureAlpha();
    const turned = angle === 0 ? open : open.rotate(angle, { background });
    if (flip === "none" && isQuarter) return turned;
    // Rendered first, because sharp fills the background of a JPEG before it adds corners.
    const { image: still } = await settled(turned, format, 1, deep);
    if (flip === "none") return still;
    const across = flip === "vertical" ? still : still.flop();
    return flip === "horizontal" ? across : across.flip();
  },
};

export default imageCapability(operation, {
  id: "image.rotate",
  display_name: "Rotate image",
  description: "Rotates an image by any angle and mirrors it.",
  examples: [
    { title: "90 degrees clockwise", params: { angle: 90 } },
    {
      title: "Slightly rotated on white, and mirrored",
      params: { angle: -7.5, flip: "horizontal", background: "white" },
    },
  ],
});
