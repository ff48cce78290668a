import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input, type OutputFile } from "../define.ts";
import { checkFiles, PACK, packed } from "../pack.ts";
import { choice, integer, list } from "../params.ts";

import { CLIP, runScene, VIDEO_PRICE } from "./encode.ts";
import { FPS_MIN, probeVideo } from "./facts.ts";
import { even } from "./fit.ts";
import { atRate, onVideo, openScene, type Scene, secondsOf } from "./scene.ts";
import { VIDEO_FPS_MAX } from "./limits.ts";

const USUAL_FPS = 30;
/** Minimum length of a video, in seconds. Playlists of shorter videos would contain no resolutions. */
const SECONDS_MIN = 0.5;

export default defineCapability({
  id: "video.hls",
  display_name: "Package for streaming",
  description:
    "Packages a video as HLS or DASH: segments in one or more sizes, with the playlists for adaptive streaming. The video must last at least 0.5 seconds.",
  output_modality: "archive",
  input: { video: input("video", "The video.") },
  params: {
    protocol: choice("Streaming protocol.", ["hls", "dash"], {
      default: "hls",
      labels: { hls: "HLS", dash: "DASH" },
    }),
    heights: list(
      "Heights of the renditions. Heights above the video's own are skipped; if all are, its own height is used.",
      integer("Height of one rendition.", { min: 144, max: 2_160, unit: "px", required: true }),
      { min: 1, max: 4, default: [720] },
    ),
    segment_seconds: integer("Duration of each segment in seconds.", { min: 2, max: 10, unit: "s", default: 4 }),
    container: choice("Segment format for HLS. DASH always uses fragmented MP4.", ["ts", "fmp4"], {
      default: "fmp4",
      labels: { ts: "MPEG-TS", fmp4: "Fragmented MP4" },
    }),
    pack: PACK,
  },
  sample_input: CLIP,
  examples: [
    { title: "HLS in one size", params: {} },
    { title: "DASH in two sizes", params: { protocol: "dash", heights: [144, 180], segment_seconds: 2 } },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder, progress }) {
    const facts = await probeVideo(inputs.video);
    const whole = openScene(facts);
    const seconds = secondsOf(whole);
    if (seconds < SECONDS_MIN) {
      throw new MediaError("invalid", `Expected video of at least ${SECONDS_MIN} s, got ${seconds}.`);
    }
    const own = facts.isUneven ? Math.max(FPS_MIN, facts.fps) : facts.fps;
    const fps = Math.min(VIDEO_FPS_MAX, facts.fps > 0 ? own : USUAL_FPS);
    const heights = heightsOf(params.heights, facts.height);
    checkFiles(params.pack, heights.length * Math.ceil(seconds / params.segment_seconds) + 2 * heights.length + 1);
    const isDash = params.protocol === "dash";
    // DASH has one audio stream, HLS one for each size.
    const scene = sizes(onVideo(whole, asLong(whole, fps)), heights, isDash ? 1 : heights.length);
    const gop = `${Math.round(fps * params.segment_seconds)}`;
    const picture = {
      crf: "23",
      preset: "veryfast",
      "x264-params": "mbtree=0",
      g: gop,
      keyint_min: gop,
      sc_threshold: "0",
    };
    const pictures = heights.map((height, at) => ({
      label: `v_${at}`,
      ...(scene.color === undefined ? {} : { color: scene.color }),
      encoder: "libx264",
      options: picture,
      // Rounded sides change the aspect ratio slightly, and DASH rejects sizes with different ratios.
      ...(isDash ? { pixelAspect: [scene.width * height, scene.height * widthOf(scene, height)] as const } : {}),
    }));
    const sounds =
      scene.audio === null
        ? []
        : (isDash ? [0] : heights.keys().toArray()).map((at) => ({
            label: `a_${at}`,
            encoder: "aac",
            options: { b: "128k" },
          }));
    await runScene({
      scene,
      streams: isDash ? [...pictures, ...sounds] : pictures.flatMap((one, at) => [one, ...sounds.slice(at, at + 1)]),
      output: isDash
        ? dash(folder, params.segment_seconds, sounds.length > 0)
        : hls(folder, params, heights, sounds.length > 0),
      onSeconds: (at) => progress(Math.min(0.99, at / seconds)),
    });
    const files = await listFiles(folder);
    const output = { playlist: isDash ? "index.mpd" : "index.m3u8", heights, files: files.length };
    return { output, files: await packed(folder, files, params.pack, "stream.zip"), notes: scene.notes };
  },
});

/** Returns filters that repeat the last frame until the audio ends. Without them, players would stop at the end of the video track. */
function asLong(whole: Scene, fps: number): string[] {
  const frames = Math.max(1, Math.round(whole.seconds * fps));
  return [...atRate(whole, fps), "tpad=stop=-1:stop_mode=clone", `trim=end_frame=${frames}`];
}

/**
 * Returns the heights of the output videos in descending order. Heights above the input's height are omitted. If no requested height
 * remains, the input's height is used.
 */
function heightsOf(wanted: readonly number[], own: number): number[] {
  const fitting = [...new Set(wanted.map(even))]
    .filter((height) => height <= own)
    .toSorted((one, other) => other - one);
  return fitting.length === 0 ? [even(own)] : fitting;
}

function widthOf(scene: Scene, height: number): number {
  return even((scene.width * height) / scene.height);
}

/** Adds one video output per height, labelled `v_0` and up, and copies of the audio, labelled `a_0` and up. */
function sizes(scene: Scene, heights: readonly number[], sounds: number): Scene {
  const labels = (kind: string, count: number): string =>
    Array.from({ length: count }, (_, at) => `[${kind}${at}]`).join("");
  const scaled = heights.map((height, at) => `[p${at}]scale=${widthOf(scene, height)}:${height}[v_${at}]`);
  const chains = [
    ...scene.chains,
    `[${scene.video}]split=${heights.length}${labels("p", heights.length)}`,
    ...scaled,
    ...(scene.audio === null
      ? []
      : [`[${scene.audio}]aformat=channel_layouts=mono|stereo,asplit=${sounds}${labels("a_", sounds)}`]),
  ];
  return { ...scene, chains };
}

function hls(
  folder: string,
  { segment_seconds: seconds, container }: { readonly segment_seconds: number; readonly container: "ts" | "fmp4" },
  heights: readonly number[],
  hasAudio: boolean,
) {
  const variants = heights.map((height, at) => `v:${at}${hasAudio ? `,a:${at}` : ""},name:${height}p`);
  return {
    path: join(folder, "stream-%v.m3u8"),
    muxer: "hls",
    options: {
      hls_time: `${seconds}`,
      hls_playlist_type: "vod",
      hls_segment_type: container === "ts" ? "mpegts" : "fmp4",
      hls_segment_filename: join(folder, `stream-%v-%04d.${container === "ts" ? "ts" : "m4s"}`),
      hls_fmp4_init_filename: "stream-%v-init.mp4",
      hls_flags: "independent_segments",
      master_pl_name: "index.m3u8",
      var_stream_map: variants.join(" "),
    },
  };
}

function dash(folder: string, seconds: number, hasAudio: boolean) {
  return {
    path: join(folder, "index.mpd"),
    muxer: "dash",
    options: {
      seg_duration: `${seconds}`,
      use_template: "1",
      use_timeline: "1",
      init_seg_name: "stream-$RepresentationID$-init.mp4",
      media_seg_name: "stream-$RepresentationID$-$Number%04d$.m4s",
      adaptation_sets: hasAudio ? "id=0,streams=v id=1,streams=a" : "id=0,streams=v",
    },
  };
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  m3u8: "application/vnd.apple.mpegurl",
  mpd: "application/dash+xml",
  ts: "video/mp2t",
  m4s: "video/iso.segment",
  mp4: "video/mp4",
};

/** Returns all files of the HLS output, the main playlist first. */
async function listFiles(folder: string): Promise<OutputFile[]> {
  const names = (await readdir(folder)).filter((name) => /^(?:index|stream-).*\.(?:m3u8|mpd|ts|m4s|mp4)$/.test(name));
  return names
    .toSorted(
      (one, other) =>
        Number(other.startsWith("index")) - Number(one.startsWith("index")) || one.localeCompare(other, "en"),
    )
    .map((name) => ({ path: join(folder, name), name, mediaType: MEDIA_TYPES[name.split(".").at(-1) ?? ""] ?? "" }));
}
