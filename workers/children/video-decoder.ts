/**
 * Foreign video as frames of one size and rate, through FFmpeg (node-av). The container is the one that was sniffed, never
 * FFmpeg's own guess, and a whitelist besides: playlists and other formats that open further files cannot be reached.
 * Bytes are handed over in memory, so there is no name a file could refer to. For child processes only.
 */
import type { FilterContext, FilterGraph, Frame } from "node-av/lib";

import { loadFfmpeg } from "./ffmpeg.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";
import type { VideoFacts } from "#shared/media/probe/video.ts";
import type { VideoShape } from "./video-encoder.ts";

const DEMUXERS = { mp4: "mov", webm: "matroska" } as const;
const WHITELISTS = { protocol_whitelist: "", format_whitelist: "mov,matroska,webm" } as const;

/** Decoders for what cameras, browsers and other makers write. */
const CODECS = /^(?:h264|hevc|vp8|vp9|libvpx|libvpx-vp9|av1|libdav1d|mpeg4|mjpeg)$/;

/**
 * Turned upright, scaled and cut at the edges to fill the shape, at its frame rate; YUV 4:2:0 after BT.709. Damaged
 * pictures are left out, and so are those that are suddenly of another size.
 * @param facts as probed from the same bytes
 * @throws MediaError too_large, corrupt, or unsupported for a codec that is not on the list
 */
export async function* decodeVideo(
  bytes: Uint8Array,
  facts: VideoFacts,
  shape: VideoShape,
): AsyncGenerator<Uint8Array, void, void> {
  checkSize(facts);
  const { lib, constants } = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  const demuxer = await Demuxer.open(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
    format: DEMUXERS[facts.format],
    options: WHITELISTS,
  }).catch((error: unknown) => {
    throw new MediaError("corrupt", "The video cannot be read: its container is damaged.", { cause: error });
  });
  const context = new lib.CodecContext();
  const graph = new lib.FilterGraph();
  const [decoded, scaled] = [new lib.Frame(), new lib.Frame()];
  decoded.alloc();
  scaled.alloc();
  let scaler: Scaler | undefined;
  let count = 0;
  try {
    const stream = demuxer.video();
    const codec = stream === undefined ? null : lib.Codec.findDecoder(stream.codecpar.codecId);
    if (stream === undefined || codec === null || !CODECS.test(codec.name ?? "")) {
      throw new MediaError("unsupported", "The video uses a codec that is not known here.");
    }
    context.allocContext3(codec);
    context.parametersToContext(stream.codecpar);
    context.threadCount = 1;
    const pixelsMax = String(MEDIA_LIMITS.sourceVideoPixelsMax);
    context.setOption("max_pixels", pixelsMax, constants.AV_OPT_TYPE_STRING, constants.AV_OPT_SEARCH_CHILDREN);
    if ((await context.open2(codec, null)) < 0) throw new MediaError("corrupt", "The video cannot be decoded.");
    const { timeBase } = stream;
    const drain = function* (): Generator<Uint8Array, void, void> {
      while (context.receiveFrameSync(decoded) >= 0) {
        decoded.pts = decoded.bestEffortTimestamp;
        scaler ??= openScaler(graph, decoded, timeBase, facts, shape);
        if (scaler.accepts(decoded)) scaler.source.buffersrcAddFrameSync(decoded);
        decoded.unref();
        yield* framesOf(scaler, scaled);
      }
    };
    const whole = async function* (): AsyncGenerator<Uint8Array, void, void> {
      for await (const packet of demuxer.packets(stream.index)) {
        if (packet === null) break;
        context.sendPacketSync(packet);
        packet.free();
        yield* drain();
      }
      context.sendPacketSync(null);
      yield* drain();
      scaler?.source.buffersrcAddFrameSync(null);
      if (scaler !== undefined) yield* framesOf(scaler, scaled);
    };
    for await (const frame of whole()) {
      count += 1;
      yield frame;
    }
    if (count === 0) throw new MediaError("corrupt", "The video cannot be decoded.");
  } finally {
    graph.free();
    decoded.free();
    scaled.free();
    context.freeContext();
    await demuxer.close();
  }
}

function checkSize({ width, height }: VideoFacts): void {
  const { sourceVideoPixelsMax, sourceVideoSideMaxPixels } = MEDIA_LIMITS;
  if (width * height <= sourceVideoPixelsMax && Math.max(width, height) <= sourceVideoSideMaxPixels) return;
  throw new MediaError(
    "too_large",
    `The video has ${width} × ${height} pixels; at most ${sourceVideoPixelsMax} pixels and ${sourceVideoSideMaxPixels} a side are taken.`,
  );
}

interface Scaler {
  readonly source: FilterContext;
  readonly sink: FilterContext;
  accepts(frame: Frame): boolean;
}

/** Pixels wider or taller than this are an error of the writer. */
const PIXEL_ASPECT_MAX = 4;

/** The graph's text holds numbers only. */
function openScaler(
  graph: FilterGraph,
  first: Frame,
  timeBase: { readonly num: number; readonly den: number },
  { rotation }: VideoFacts,
  shape: VideoShape,
): Scaler {
  const { width, height, format, colorSpace, colorRange } = first;
  const { num, den } = first.sampleAspectRatio;
  const told = den > 0 ? num / den : 1;
  const shownWidth = width * (told <= PIXEL_ASPECT_MAX && told >= 1 / PIXEL_ASPECT_MAX ? told : 1);
  const isOnItsSide = rotation === 90 || rotation === 270;
  // Before the turn, as all that follows.
  const wanted = isOnItsSide ? [shape.height, shape.width] : [shape.width, shape.height];
  const [wantedWidth = 0, wantedHeight = 0] = wanted;
  const scale = Math.max(wantedWidth / shownWidth, wantedHeight / height);
  const cover = (side: number, least: number): number => Math.max(least, 2 * Math.round((side * scale) / 2));
  const turn = { 0: "null", 90: "transpose=clock", 180: "hflip,vflip", 270: "transpose=cclock" }[rotation];
  const text = [
    `buffer=video_size=${width}x${height}:pix_fmt=${format}:time_base=${timeBase.num}/${timeBase.den}:pixel_aspect=1/1:colorspace=${colorSpace}:range=${colorRange}`,
    "setpts=PTS-STARTPTS",
    `fps=${shape.framesPerSecond}`,
    `scale=${cover(shownWidth, wantedWidth)}:${cover(height, wantedHeight)}:flags=bilinear:out_color_matrix=bt709:out_range=tv`,
    turn,
    `crop=${shape.width}:${shape.height}`,
    "format=yuv420p",
    "buffersink",
  ].join(",");
  graph.alloc();
  graph.nbThreads = 1;
  if (graph.parsePtr(text) < 0 || graph.configSync() < 0) {
    throw new MediaError("unsupported", "The video's pictures are of a kind that is not known here.");
  }
  const source = graph.filters?.find((filter) => filter.isSource());
  const sink = graph.filters?.find((filter) => filter.isSink());
  if (source === undefined || sink === undefined) throw new MediaError("failed", "FFmpeg's graph has no ends");
  return {
    source,
    sink,
    accepts: (frame) => frame.width === width && frame.height === height && frame.format === format,
  };
}

function* framesOf({ sink }: Scaler, scaled: Frame): Generator<Uint8Array, void, void> {
  while (sink.buffersinkGetFrameSync(scaled) >= 0) {
    const frame = scaled.toBuffer();
    scaled.unref();
    yield frame;
  }
}
