import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";
import { filterText } from "#workers/children/filter-graph.ts";
import type { SubtitleTrack } from "#workers/children/subtitle-track.ts";

import { defineCapability, input, type InputFile } from "../define.ts";
import { checkLetters } from "../fonts.ts";
import { choice, color, integer, text } from "../params.ts";
import { textOf } from "../text.ts";

import { colorOf } from "./color.ts";
import { copyRules, copyVideo } from "./copy.ts";
import { CLIP, OUTPUT, outputRules, VIDEO_PRICE, type VideoFormat } from "./encode.ts";
import { type VideoFacts, probeVideo } from "./facts.ts";
import { runOperation, type VideoOperation } from "./operation.ts";
import { onVideo, steady } from "./scene.ts";
import { flattened, parseSubtitles, subStation, within } from "./subtitles.ts";

const params = {
  size: integer("Font size in pixels when burning in. Default: video height divided by 18.", {
    min: 8,
    max: 200,
    unit: "px",
  }),
  color: color("Text colour when burning in.", { default: "white" }),
};

const DESCRIPTION = "The subtitles, in SRT or WebVTT.";

/** Burns subtitles into the frames. */
export const operation: VideoOperation<typeof params> = {
  params,
  second: { member: "subtitles", kind: "text", description: DESCRIPTION, sample: {} },
  async apply({ scene: before, facts, second, folder, at }, { size, color: fill }) {
    if (!second) throw new MediaError("invalid", "Expected input.subtitles, got none.");
    const scene = steady(before, facts);
    const { width, height } = scene;
    const { rgba } = colorOf("params.color", fill);
    const style = { width, height, rgba, size: size ?? Math.max(8, Math.round(height / 18)) };
    const path = join(folder, `subtitles-${at}.ass`);
    const { cues: all, notes } = parseSubtitles(await textOf(second));
    const cues = within(all, scene.seconds);
    checkLetters("input.subtitles", cues.map(({ text: words }) => words).join("\n"));
    await Bun.write(path, subStation(cues, style));
    const drawn = filterText("subtitles", { filename: path });
    // Drawn in the encode's pixel format, so that a single operation and a pipeline give the same result.
    return { ...onVideo(scene, ["format=yuv420p", drawn]), notes: [...scene.notes, ...notes] };
  },
};

const TRACKS: Readonly<Record<VideoFormat, SubtitleTrack["codec"]>> = {
  mp4: "mov_text",
  mov: "mov_text",
  mkv: "subrip",
  webm: "webvtt",
};

/** Adds subtitles as a track; video and audio are copied. */
async function soft(
  facts: VideoFacts,
  subtitles: InputFile,
  format: VideoFormat,
  language: string,
  run: { readonly folder: string; readonly progress: (share: number) => void },
) {
  const codec = TRACKS[format];
  const parsed = parseSubtitles(await textOf(subtitles));
  const cues = within(parsed.cues, facts.seconds);
  const track = { codec, language, cues: codec === "mov_text" ? flattened(cues) : cues };
  const noted = { ...facts, dropped: [...facts.dropped, ...parsed.notes] };
  const made = await copyVideo({ ...run, facts: noted, format, mode: "soft", subtitles: track });
  const { start: _, ...output } = made.output ?? {};
  return { ...made, output: { ...output, subtitles: cues.length, language } };
}

const SAMPLE = "1\n00:00:00,000 --> 00:00:01,500\nThree boxes\n\n2\n00:00:01,500 --> 00:00:03,000\nof tea.\n";

export default defineCapability({
  id: "video.subtitle",
  display_name: "Subtitle video",
  description: "Burns subtitles into a video, or adds them as a track that players can switch on and off.",
  long_description:
    "`burn` draws the subtitles into the picture and re-encodes it. `soft` copies video and audio unchanged and adds a subtitle track: timed " +
    "text in MP4 and QuickTime, SRT in Matroska, WebVTT in WebM. `soft` ignores `size`, `color` and the encoding params. Styles and positions " +
    "in the subtitle file are dropped in both modes. Subtitles whose times cannot be read are dropped, and named in `output.notes`.",
  output_modality: "video",
  input: { video: input("video", "The video."), subtitles: input("text", DESCRIPTION) },
  params: {
    mode: choice("`burn` draws the subtitles into the picture; `soft` adds a subtitle track.", ["burn", "soft"], {
      default: "burn",
      labels: { burn: "Burnt into the picture", soft: "As a track" },
    }),
    language: text("Language of the track as a three-letter ISO 639-2 code.", {
      min: 3,
      max: 3,
      pattern: "^[a-z]{3}$",
      default: "und",
    }),
    ...params,
    ...OUTPUT,
  },
  rules: [...outputRules(), ...copyRules("soft")],
  sample_input: { ...CLIP, subtitles: { text: SAMPLE } },
  examples: [
    { title: "Burnt into the picture", params: {} },
    { title: "As an English track", params: { mode: "soft", language: "eng" } },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run(run) {
    const { params: own, inputs } = run;
    if (own.mode === "burn") return runOperation(operation, run);
    const facts = await probeVideo(inputs.video);
    return soft(facts, inputs.subtitles, own.format ?? facts.format, own.language, run);
  },
});
