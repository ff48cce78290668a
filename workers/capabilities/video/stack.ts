import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, inputs } from "../define.ts";
import { choice, GRAVITIES, integer, number } from "../params.ts";
import { placed } from "../placed.ts";

import { encodeVideo, OUTPUT, outputRules, VIDEO_PRICE } from "./encode.ts";
import { probeVideo, type VideoFacts } from "./facts.ts";
import { even, fitInto, type Size } from "./fit.ts";
import { atRate, muted, notesOfAll, onVideo, openScene, type Scene } from "./scene.ts";
import { VIDEO_FPS_MAX } from "./limits.ts";

const USUAL_FPS = 30;

export default defineCapability({
  id: "video.stack",
  display_name: "Stack videos",
  description: "Shows several videos at once: in a row, a column, a grid, or picture in picture.",
  output_modality: "video",
  input: { videos: inputs("video", "The videos, in layout order.", [2, 9]) },
  params: {
    layout: choice("Layout of the videos.", ["row", "column", "grid", "pip"], {
      default: "row",
      labels: { pip: "Picture in picture" },
    }),
    gap: integer("Gap between the videos in pixels, filled with black.", { min: 0, max: 64, unit: "px", default: 0 }),
    pip_gravity: choice("Position of the second video, for picture in picture.", GRAVITIES, { default: "southeast" }),
    pip_scale: number("Width of the second video as a percentage of the first one's, for picture in picture.", {
      min: 5,
      max: 50,
      unit: "percent",
      default: 25,
    }),
    audio: choice("Audio of the result: the first video's, a mix of all, or none.", ["first", "mix", "none"], {
      default: "first",
    }),
    ...OUTPUT,
  },
  rules: outputRules(),
  sample_input: { videos: [{ file_id: "file-sample-clip" }, { file_id: "file-sample-clip" }] },
  examples: [
    { title: "Side by side", params: {} },
    { title: "Picture in picture, audio mixed", params: { layout: "pip", audio: "mix" } },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs: runInputs, folder, progress }) {
    if (params.layout === "pip" && runInputs.videos.length !== 2) {
      throw new MediaError("invalid", `Expected 2 videos for params.layout pip, got ${runInputs.videos.length}.`);
    }
    const facts: VideoFacts[] = [];
    for (const video of runInputs.videos) facts.push(await probeVideo(video));
    const [first] = facts;
    if (!first) throw new MediaError("invalid", "Expected at least 2 videos, got none.");
    // The highest rate of all videos, so that no frames are dropped.
    const fps = Math.min(VIDEO_FPS_MAX, Math.max(...facts.map((one) => (one.fps > 0 ? one.fps : USUAL_FPS))));
    const cells = cellsOf(facts, params);
    const size = {
      width: even(Math.max(...cells.map(({ left, width }) => left + width))),
      height: even(Math.max(...cells.map(({ top, height }) => top + height))),
    };
    const scenes = facts.map((one, at) =>
      fitted(
        one,
        `s${at}`,
        cells[at] ?? { left: 0, top: 0, ...size },
        fps,
        params.audio !== "none" && (at === 0 || params.audio === "mix"),
      ),
    );
    const scene = joined(scenes, cells, size, fps);
    return encodeVideo({ folder, scene, format: first.format, output: params, progress });
  },
});

interface Cell extends Size {
  readonly left: number;
  readonly top: number;
}

interface Layout {
  readonly layout: "row" | "column" | "grid" | "pip";
  readonly gap: number;
  readonly pip_gravity: (typeof GRAVITIES)[number];
  readonly pip_scale: number;
}

/**
 * Returns the position and size of each video. Videos in a row have equal heights, and videos in a column equal widths. Videos in a grid
 * have the first video's size.
 */
function cellsOf(all: readonly VideoFacts[], { layout, gap, pip_gravity: gravity, pip_scale: scale }: Layout): Cell[] {
  const [first = { width: 2, height: 2 }] = all;
  const [width, height] = [even(first.width), even(first.height)];
  if (layout === "pip") {
    const inner = scaledTo(all[1] ?? first, { width: even((width * scale) / 100) });
    return [
      { left: 0, top: 0, width, height },
      { ...placed(gravity, { width, height }, inner, Math.max(gap, 16)), ...inner },
    ];
  }
  if (layout === "grid") {
    const columns = Math.ceil(Math.sqrt(all.length));
    return all.map((_, at) => ({
      left: (at % columns) * (width + gap),
      top: Math.floor(at / columns) * (height + gap),
      width,
      height,
    }));
  }
  let next = 0;
  return all.map((one) => {
    const size = scaledTo(one, layout === "row" ? { height } : { width });
    const at = next;
    next += gap + (layout === "row" ? size.width : size.height);
    return layout === "row" ? { left: at, top: 0, ...size } : { left: 0, top: at, ...size };
  });
}

function scaledTo(from: Size, to: { readonly width?: number; readonly height?: number }): Size {
  const factor = (to.width ?? 0) > 0 ? (to.width ?? 0) / from.width : (to.height ?? 0) / from.height;
  return { width: to.width ?? even(from.width * factor), height: to.height ?? even(from.height * factor) };
}

function fitted(facts: VideoFacts, name: string, { width, height }: Cell, fps: number, isAudible: boolean): Scene {
  const open = openScene(facts, name);
  const { filters } = fitInto(open, { width, height }, "contain", "black");
  const fittedScene = onVideo(open, [...filters, "setsar=1", ...atRate(open, fps), "format=yuv420p"], {
    width,
    height,
  });
  return isAudible ? fittedScene : muted(fittedScene);
}

/** Places the videos on a background. The last frame of a video that ends early remains visible. */
function joined(scenes: readonly Scene[], cells: readonly Cell[], size: Size, fps: number): Scene {
  const seconds = Math.max(...scenes.map((scene) => scene.seconds));
  const chains = scenes.flatMap((scene) => scene.chains);
  // A video of unknown length is shown completely.
  const held = scenes.map((scene, at) => {
    const more = scene.seconds > 0 ? Math.max(0, seconds - scene.seconds) : 0;
    return `[${scene.video}]tpad=stop_mode=clone:stop_duration=${more.toFixed(3)}[h${at}]`;
  });
  const length = Math.max(seconds, 1 / fps).toFixed(3);
  const base = `color=c=black:s=${size.width}x${size.height}:r=${fps}:d=${length},format=yuv420p[c0]`;
  const laid = scenes.map((_, at) => {
    const { left, top } = cells[at] ?? { left: 0, top: 0 };
    return `[c${at}][h${at}]overlay=x=${left}:y=${top}:shortest=0:eof_action=repeat[c${at + 1}]`;
  });
  const audioLabels = scenes.flatMap(({ audio }) => (audio === null ? [] : [audio]));
  const mix =
    audioLabels.length > 1
      ? [`${audioLabels.map((label) => `[${label}]`).join("")}amix=inputs=${audioLabels.length}:duration=longest[mix]`]
      : [];
  const audio = audioLabels.length > 1 ? "mix" : (audioLabels[0] ?? null);
  return {
    chains: [...chains, ...held, base, ...laid, ...mix],
    video: `c${scenes.length}`,
    audio,
    ...size,
    notes: notesOfAll(scenes),
    origin: undefined,
    fps,
    seconds,
  };
}
