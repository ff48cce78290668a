import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";
import { filterText } from "#workers/children/filter-graph.ts";
import type { SubtitleCue, SubtitleTrack } from "#workers/children/subtitle-track.ts";

import { defineCapability, input, type InputFile } from "../define.ts";
import { checkLetters } from "../fonts.ts";
import { choice, color, integer, text } from "../params.ts";
import { textOf } from "../text.ts";
import { colorOf } from "./color.ts";
import { copyRules, copyVideo } from "./copy.ts";
import { CLIP, OUTPUT, outputRules, VIDEO_PRICE, type VideoFormat } from "./encode.ts";
import { probeVideo, type VideoFacts } from "./facts.ts";
import { runOperation, type VideoOperation } from "./operation.ts";
import { onVideo, steady } from "./scene.ts";

const params = {
  size: integer("Font size in pixels when burning in. Default: video height divided by 18.", {
    min: 8,
    max: 200,
    unit: "px",
  }),
  color: color("Text colour when burning in.", { default: "white" }),
};

const DESCRIPTION = "The subtitles, in SRT or WebVTT.";

/** Operation that draws subtitles into the frames. */
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
    checkLetters("input.subtitles", cues.map(({ text: cueText }) => cueText).join("\n"));
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

/** Adds subtitles as a separate track. Video and audio are copied without encoding. */
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
  const copied = await copyVideo({ ...run, facts: noted, format, mode: "soft", subtitles: track });
  const { start: _, ...output } = copied.output ?? {};
  return { ...copied, output: { ...output, subtitles: cues.length, language } };
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

// Parses subtitles in SRT or WebVTT within limits. Files that are written later contain only parsed text.

/** Maximum number of subtitles in one file, and of characters in one subtitle. */
const SUBTITLES_MAX = 10_000;
const SUBTITLE_CHARACTERS_MAX = 1_000;

/** Pattern of a time in either format. SRT uses a comma before the milliseconds, and WebVTT may omit the hours. */
const TIME = String.raw`(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[,.](\d{1,3})`;
const TIMES = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s|$)`);

const BEGINNINGS = new RegExp(String.raw`\n(?:\d{1,9}[ \t]*\n)?(?=[ \t]*${TIME}[ \t]*-->)`, "g");

interface ParsedSubtitles {
  /** Subtitles as plain text, in order of their start. */
  readonly cues: readonly SubtitleCue[];
  /** Sentences for the caller about subtitles that were dropped. */
  readonly notes: readonly string[];
}

/** Maximum characters of an invalid time that a note quotes. */
const QUOTED_CHARACTERS_MAX = 60;

/**
 * Parses SRT or WebVTT subtitles. Subtitles with an unreadable time, or an end at or before the start, are dropped with a note.
 * @throws MediaError corrupt if no subtitle remains; too_large for too many or too long subtitles
 */
function parseSubtitles(text: string): ParsedSubtitles {
  const isVtt = text.startsWith("WEBVTT");
  const cues: SubtitleCue[] = [];
  const notes: string[] = [];
  let count = 0;
  /** Subtitle of the previous block. Undefined if that block was dropped; text that follows is then dropped too. */
  let last: SubtitleCue | undefined;
  for (const block of blocksOf(text)) {
    const lines = block.split("\n");
    const at = lines.slice(0, 3).findIndex((line) => line.includes("-->"));
    if (at === -1) {
      // Text of SRT may contain empty lines. Blocks of WebVTT without a time are comments and styles.
      const more = isVtt || /^\s*\d*\s*$/.test(block) ? "" : plain(block, false);
      if (last && more !== "") {
        last = { ...last, text: `${last.text}\n${more}` };
        if (last.text.length > SUBTITLE_CHARACTERS_MAX) throw tooLong(last.text.length);
        cues[cues.length - 1] = last;
      }
      continue;
    }
    last = undefined;
    count += 1;
    const times = TIMES.exec(lines[at] ?? "");
    if (!times) {
      const quoted = plain((lines[at] ?? "").slice(0, QUOTED_CHARACTERS_MAX), false);
      notes.push(`Subtitle ${count} was dropped, because its time cannot be read: ${JSON.stringify(quoted)}.`);
      continue;
    }
    const cueText = plain(lines.slice(at + 1).join("\n"), isVtt);
    const [startMs, endMs] = [millisecondsOf(times.slice(1, 5)), millisecondsOf(times.slice(5, 9))];
    if (cueText === "") continue;
    if (endMs <= startMs) {
      notes.push(`Subtitle ${count} was dropped, because it ends at or before its start.`);
      continue;
    }
    if (cueText.length > SUBTITLE_CHARACTERS_MAX) throw tooLong(cueText.length);
    last = { startMs, endMs, text: cueText };
    cues.push(last);
    if (cues.length > SUBTITLES_MAX) throw tooMany();
  }
  if (cues.length === 0) {
    const [why] = notes;
    throw new MediaError("corrupt", `Expected subtitles in SRT or WebVTT, got none.${why ? ` ${why}` : ""}`);
  }
  return { cues: cues.toSorted((one, other) => one.startMs - other.startMs), notes };
}

/**
 * Splits a subtitle file into blocks. It also handles spaces in empty lines, and a missing empty line before a time, which are both common.
 */
function blocksOf(text: string): string[] {
  const lines = text.replaceAll(/\r\n?/g, "\n").replaceAll(/^[ \t]+$/gm, "");
  return lines.replaceAll(BEGINNINGS, "\n$&").split(/\n{2,}/);
}

function millisecondsOf([hours, minutes, seconds, part]: readonly (string | undefined)[]): number {
  const whole = (Number(hours ?? 0) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1_000 + Number((part ?? "").padEnd(3, "0"));
}

const STYLES = /<\/?(?:b|i|u|s|c|v|font|lang|ruby|rt)(?:[ .][^<>]{0,200})?>|<\d[\d:.]{0,20}>|\{\\[^{}]{0,200}\}/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&nbsp;": " ",
  "&lrm;": "",
  "&rlm;": "",
};

function plain(text: string, isVtt: boolean): string {
  const bare = text.replaceAll(STYLES, "");
  const read = isVtt ? bare.replaceAll(/&[a-z]{2,4};/g, (entity) => ENTITIES[entity] ?? entity) : bare;
  const lines = read.split("\n").map((line) => line.replaceAll(/\p{Cc}/gu, " ").trim());
  return lines.filter((line) => line !== "").join("\n");
}

function tooLong(got: number): MediaError {
  return new MediaError(
    "too_large",
    `Expected subtitles of at most ${SUBTITLE_CHARACTERS_MAX} characters each, got ${got}.`,
  );
}

function tooMany(): MediaError {
  return new MediaError("too_large", `Expected at most ${SUBTITLES_MAX} subtitles, got more.`);
}

/**
 * Cuts subtitles at the end of the video, because a subtitle track would otherwise extend the video. @throws MediaError invalid if none
 * remain
 */
function within(cues: readonly SubtitleCue[], seconds: number): SubtitleCue[] {
  const end = seconds > 0 ? Math.floor(seconds * 1_000) : Infinity;
  const visible = cues.filter(({ startMs }) => startMs < end);
  if (visible.length > 0) return visible.map((cue) => ({ ...cue, endMs: Math.min(cue.endMs, end) }));
  const first = (cues[0]?.startMs ?? 0) / 1_000;
  throw new MediaError("invalid", `Expected input.subtitles that begin before the end at ${seconds} s, got ${first}.`);
}

/** Merges subtitles that are shown at the same time into one subtitle with several lines. */
function flattened(cues: readonly SubtitleCue[]): SubtitleCue[] {
  const edges = [...new Set(cues.flatMap(({ startMs, endMs }) => [startMs, endMs]))].toSorted(
    (one, other) => one - other,
  );
  const flat: SubtitleCue[] = [];
  let open: SubtitleCue[] = [];
  let next = 0;
  for (const [at, startMs] of edges.entries()) {
    open = open.filter(({ endMs }) => endMs > startMs);
    for (let cue = cues[next]; cue !== undefined && cue.startMs <= startMs; cue = cues[++next]) open.push(cue);
    const endMs = edges[at + 1];
    if (open.length === 0 || endMs === undefined) continue;
    flat.push({ startMs, endMs, text: open.map(({ text }) => text).join("\n") });
  }
  return flat;
}

interface SubtitleStyle {
  readonly width: number;
  readonly height: number;
  /** Font size in pixels of the video frame. */
  readonly size: number;
  /** Red, green, blue and opacity, from 0 to 255. */
  readonly rgba: readonly [number, number, number, number];
}

/** Returns subtitles as a SubStation Alpha file with font size and colour, which FFmpeg can draw. */
function subStation(cues: readonly SubtitleCue[], style: SubtitleStyle): string {
  const { width, height, size, rgba } = style;
  const [red, green, blue, opacity] = rgba;
  const color = [255 - opacity, blue, green, red]
    .map((part) => Math.round(part).toString(16).padStart(2, "0"))
    .join("");
  const margin = Math.round(height / 20);
  const edge = Math.max(1, Math.round(size / 14));
  const styleFields = `&H${color},&H${color},&H00000000,&H00000000,0,0,0,0,100,100,0,0,1,${edge},0,2,${margin},${margin},${margin},-1`;
  return [
    "[Script Info]",
    "ScriptType: v4.00+",
    `PlayResX: ${width}`,
    `PlayResY: ${height}`,
    "ScaledBorderAndShadow: yes",
    // Prevents a colour conversion: FFmpeg would assume colours made for BT.601.
    "YCbCr Matrix: None",
    "",
    "[V4+ Styles]",
    "Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding",
    `Style: Default,DejaVu Sans,${size},${styleFields}`,
    "",
    "[Events]",
    "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text",
    ...cues.map(
      ({ startMs, endMs, text }) => `Dialogue: 0,${clock(startMs)},${clock(endMs)},Default,,0,0,0,,${bare(text)}`,
    ),
    "",
  ].join("\n");
}

/**
 * Escapes a text for SubStation Alpha, in which braces and backslashes have a special meaning. Braces are escaped, and a backslash is
 * separated from the next letter.
 */
function bare(text: string): string {
  return text
    .replaceAll("\\", "\\\u{2060}")
    .replaceAll("{", "\\{")
    .replaceAll("}", "\\}")
    .replaceAll("\n", String.raw`\N`);
}

/** Formats milliseconds as `0:01:02.34`. */
function clock(ms: number): string {
  const padded = (value: number): string => String(value).padStart(2, "0");
  const hundredths = Math.round(ms / 10);
  const seconds = Math.floor(hundredths / 100);
  const minutes = Math.floor(seconds / 60);
  return `${Math.floor(minutes / 60)}:${padded(minutes % 60)}:${padded(seconds % 60)}.${padded(hundredths % 100)}`;
}
