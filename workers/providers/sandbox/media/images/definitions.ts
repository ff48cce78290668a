/** Gradients and outlines that the painters name; all are there, whether a picture uses them or not. */
import { darker, hsl, mix } from "./colours.ts";
import { cloudOutlines, skyColours, type Stage } from "./sky.ts";
import { radialGradient, verticalGradient } from "./svg.ts";

export function definitions(stage: Stage): string {
  const { palette, random, motif } = stage;
  const [top, middle, low] = skyColours(stage);
  const hue = random.below(360);
  return [
    verticalGradient("sky", [
      [0, top],
      [0.55, middle],
      [1, low],
    ]),
    verticalGradient("water", [
      [0, mix(low, palette.shades[2], 0.5)],
      [1, darker(palette.shades[1], 0.3)],
    ]),
    verticalGradient("wall", [
      [0, palette.shades[3]],
      [0.74, palette.shades[4]],
      [1, palette.shades[3]],
    ]),
    verticalGradient("floor", [
      [0, mix(palette.shades[3], palette.shades[2], 0.6)],
      [1, palette.shades[3]],
    ]),
    verticalGradient("deep", [
      [0, "#070a1c"],
      [0.6, mix("#141a3d", palette.shades[1], 0.45)],
      [1, "#0b0d22"],
    ]),
    verticalGradient("depths", [
      [0, mix(motif.light === "night" ? "#123a6b" : "#58c3e0", palette.shades[3], 0.2)],
      [1, motif.light === "night" ? "#06122f" : "#0b3a6b"],
    ]),
    cloudOutlines(),
    radialGradient("glow", [
      [0, "#ffffff", 0.75],
      [1, "#ffffff", 0],
    ]),
    radialGradient("nebulaA", [
      [0, palette.accent, 0.4],
      [1, palette.accent, 0],
    ]),
    radialGradient("nebulaB", [
      [0, palette.shades[2], 0.5],
      [1, palette.shades[2], 0],
    ]),
    verticalGradient("planet", [
      [0, hsl(hue, 65, 68)],
      [0.5, palette.shades[2]],
      [1, darker(palette.shades[1], 0.5)],
    ]),
  ].join("");
}
