/** Encodes the outputs of a filter graph, and interleaves them in one file. For child processes only. */
import type {
  AVColorPrimaries,
  AVColorTransferCharacteristic,
  AVPacketSideDataType,
  FFEncoderCodec,
} from "node-av/constants";
import type { Codec, CodecContext, FilterContext, FilterGraph, FormatContext, Frame, Stream } from "node-av/lib";

import { MediaError } from "#shared/children/media-error.ts";

import type { loadFfmpeg } from "./ffmpeg.ts";

export type Ffmpeg = Awaited<ReturnType<typeof loadFfmpeg>>;
/** Options as on FFmpeg's command line, without the dash, such as `crf`, `b` and `g`. */
export type FfmpegOptions = Readonly<Record<string, string>>;

export interface StreamPlan {
  /** Label of the output in the graph, without brackets. */
  readonly label: string;
  /** FFmpeg's name of the encoder, such as `libx264`. */
  readonly encoder: string;
  readonly options?: FfmpegOptions;
  /** Pixel format of video; default 4:2:0, since few players support others. */
  readonly pixelFormat?: string;
  /** Time at which the video must end, in seconds. A last frame that lasts longer is shortened. */
  readonly endsAt?: number;
  /** Ratio of a pixel's width to its height. Default: square. */
  readonly pixelAspect?: readonly [number, number];
  /**
   * True for an output that is not written to the file. Its timestamps only report the progress, and the other outputs wait until it has
   * ended.
   */
  readonly isClock?: boolean;
  /** Colour properties of a video's samples. */
  readonly color?: StreamColor;
  /** Four-character code of the codec in the file; set only if players need a different one than FFmpeg's default. */
  readonly tag?: string;
}

/**
 * Colour properties of a video that FFmpeg's filter graph does not pass on, except matrix and range. Values are code points of ITU-T H.273.
 */
export interface StreamColor {
  readonly primaries: number;
  readonly transfer: number;
  /** HDR metadata that a container stores beside the stream: mastering display and content light level. */
  readonly sideData?: readonly { readonly type: AVPacketSideDataType; readonly data: Buffer }[];
}

export interface OpenStream {
  readonly label: string;
  readonly sink: FilterContext;
  readonly encoder: CodecContext;
  /** Output stream in the file; null for a stream with `isClock`, which is not written. */
  readonly stream: Stream | null;
  /** Default duration of a video frame, in the encoder's time base. */
  readonly frameDuration: bigint;
  readonly endsAt: number;
  /** End time of the last encoded frame, in seconds; Infinity after the stream has ended. */
  seconds: number;
  frames: number;
}

/** Largest number in a pixel aspect ratio. It is sufficient for a ratio of video sides, which FFmpeg's default would round. */
const ASPECT_MAX = 10_000_000;

/** Returns the filters that convert a stream to a format of its encoder. */
export function sinkText(
  ffmpeg: Ffmpeg,
  { label, encoder, pixelFormat = "yuv420p", pixelAspect = [1, 1] }: StreamPlan,
): string {
  const { type, sampleFormats, supportedSamplerates } = findEncoder(ffmpeg, encoder);
  if (type === ffmpeg.constants.AVMEDIA_TYPE_VIDEO)
    return `[${label}]format=${pixelFormat},setsar=${pixelAspect.join("/")}:max=${ASPECT_MAX},buffersink@${label}`;
  const formats = (sampleFormats ?? []).map((format) => ffmpeg.lib.avGetSampleFmtName(format)).join("|");
  const rates = supportedSamplerates === null ? "" : `:sample_rates=${supportedSamplerates.join("|")}`;
  // The clock counts samples: in the ticks of some containers, two frames of an encoder would have the same time.
  return `[${label}]aformat=sample_fmts=${formats}${rates},asettb=1/sr,asetnsamples@${label}=p=0,abuffersink@${label}`;
}

function findEncoder({ lib }: Ffmpeg, name: string): Codec {
  const codec = lib.Codec.findEncoderByName(name as FFEncoderCodec);
  if (codec === null) throw new MediaError("failed", `FFmpeg has no encoder ${name}`);
  return codec;
}

export function openStream(ffmpeg: Ffmpeg, graph: FilterGraph, file: FormatContext, plan: StreamPlan): OpenStream {
  const { lib, constants } = ffmpeg;
  const { label } = plan;
  const codec = findEncoder(ffmpeg, plan.encoder);
  const isVideo = codec.type === constants.AVMEDIA_TYPE_VIDEO;
  const sink = graph.getFilter(`${isVideo ? "buffersink" : "abuffersink"}@${label}`);
  if (sink === null) throw new MediaError("failed", `the filter graph has no end ${label}`);
  const encoder = new lib.CodecContext();
  encoder.allocContext3(codec);
  encoder.timeBase = sink.buffersinkGetTimeBase();
  if (isVideo) describeVideo(encoder, sink, plan.color);
  else describeAudio(encoder, sink);
  // Not passed as a dictionary to `open2`: the binding frees the dictionary twice, which crashes at its collection (measured).
  setOptions(ffmpeg, encoder, { threads: "1", flags: "+bitexact+global_header+frame_duration", ...plan.options });
  check(ffmpeg, encoder.open2Sync(codec, null), `the encoder ${plan.encoder}`);
  // Some encoders accept frames of one length only, which is known once they are open.
  if (!isVideo && encoder.frameSize > 0) graph.sendCommand(`asetnsamples@${label}`, "n", `${encoder.frameSize}`);
  const stream = plan.isClock === true ? null : newStream(ffmpeg, file, encoder, plan);
  const { num, den } = sink.buffersinkGetFrameRate();
  // Matroska stores the frame rate, which readers cannot derive from a few frames.
  if (stream !== null && isVideo && num > 0) stream.avgFrameRate = sink.buffersinkGetFrameRate();
  const ticks = isVideo && num > 0 ? den / num / (encoder.timeBase.num / encoder.timeBase.den) : 0;
  const frameDuration = BigInt(Math.round(ticks));
  return { label, sink, encoder, stream, frameDuration, endsAt: plan.endsAt ?? Infinity, seconds: 0, frames: 0 };
}

function newStream(
  ffmpeg: Ffmpeg,
  file: FormatContext,
  encoder: CodecContext,
  { tag, pixelAspect, color }: StreamPlan,
): Stream {
  const stream = file.newStream(null);
  check(ffmpeg, stream.codecpar.fromContext(encoder), "the parameters of a stream");
  if (tag !== undefined) stream.codecpar.codecTag = tag;
  for (const { type, data } of color?.sideData ?? []) stream.codecpar.addCodedSideData(type, data);
  stream.timeBase = encoder.timeBase;
  if (pixelAspect !== undefined) stream.sampleAspectRatio = encoder.sampleAspectRatio;
  return stream;
}

function describeVideo(encoder: CodecContext, sink: FilterContext, color: StreamColor | undefined): void {
  const rate = sink.buffersinkGetFrameRate();
  if (rate.num > 0) encoder.framerate = rate;
  encoder.width = sink.buffersinkGetWidth();
  encoder.height = sink.buffersinkGetHeight();
  encoder.pixelFormat = sink.buffersinkGetFormat() as CodecContext["pixelFormat"];
  encoder.sampleAspectRatio = sink.buffersinkGetSampleAspectRatio();
  encoder.colorSpace = sink.buffersinkGetColorspace();
  encoder.colorRange = sink.buffersinkGetColorRange();
  if (color === undefined) return;
  encoder.colorPrimaries = color.primaries as AVColorPrimaries;
  encoder.colorTrc = color.transfer as AVColorTransferCharacteristic;
}

function describeAudio(encoder: CodecContext, sink: FilterContext): void {
  encoder.sampleRate = sink.buffersinkGetSampleRate();
  encoder.sampleFormat = sink.buffersinkGetFormat() as CodecContext["sampleFormat"];
  encoder.channelLayout = sink.buffersinkGetChannelLayout();
}

/**
 * Encodes frames until all streams have ended. The next frame always belongs to the stream with the earliest position, so that the file is
 * interleaved.
 * @param onSeconds called before each frame with the position of its stream, in seconds
 * @throws MediaError failed; corrupt for a stream without a frame; too_large for a stream longer than `secondsMax`
 */
export function writeStreams(
  ffmpeg: Ffmpeg,
  file: FormatContext,
  streams: readonly OpenStream[],
  secondsMax: number,
  onSeconds: (seconds: number) => void,
): void {
  const [frame, packet] = [new ffmpeg.lib.Frame(), new ffmpeg.lib.Packet()];
  frame.alloc();
  packet.alloc();
  for (;;) {
    const clock = streams.find(({ stream, seconds }) => stream === null && seconds < Infinity);
    const next = clock ?? streams.toSorted((one, other) => one.seconds - other.seconds)[0];
    if (next === undefined || next.seconds === Infinity) break;
    onSeconds(next.seconds);
    encodeNext(ffmpeg, next, frame);
    if (next.seconds !== Infinity && next.seconds > secondsMax + SECONDS_TOLERANCE) {
      throw new MediaError("too_large", `The result is longer than the limit of ${secondsMax} seconds.`);
    }
    while (next.encoder.receivePacketSync(packet) >= 0) {
      if (next.stream === null) continue;
      packet.streamIndex = next.stream.index;
      packet.rescaleTs(next.encoder.timeBase, next.stream.timeBase);
      check(ffmpeg, file.interleavedWriteFrameSync(packet), "a packet");
    }
  }
  frame.free();
  packet.free();
}

/** Tolerance in seconds when times are compared, because times are rounded to a stream's time base. */
const SECONDS_TOLERANCE = 0.001;

/** Maximum time in seconds by which a frame may exceed `endsAt` without being cut. Frames at a constant rate may slightly exceed it. */
const OVER_SECONDS_MAX = 0.05;

function encodeNext(ffmpeg: Ffmpeg, stream: OpenStream, frame: Frame): void {
  const { constants } = ffmpeg;
  const { encoder, sink, label, endsAt } = stream;
  const code = sink.buffersinkGetFrameSync(frame);
  if (code === constants.AVERROR_EOF) {
    if (stream.frames === 0) throw new MediaError("corrupt", `The stream ${label} has no frame.`);
    stream.seconds = Infinity;
    check(ffmpeg, encoder.sendFrameSync(null), "an encoder's end");
    return;
  }
  check(ffmpeg, code, "the filter graph");
  // Some filters omit the duration, and the muxer would then drop the last frame.
  if (frame.duration <= 0n) frame.duration = stream.frameDuration;
  // The frame type of the decoder must not force that of the encoder.
  frame.pictType = constants.AV_PICTURE_TYPE_NONE;
  stream.frames += 1;
  const { num, den } = encoder.timeBase;
  const over = ((Number(frame.pts) + Number(frame.duration)) * num) / den - endsAt;
  if (over > OVER_SECONDS_MAX) frame.duration -= BigInt(Math.round((over * den) / num));
  const ticks = Number(frame.pts) + (frame.nbSamples > 0 ? 0 : Number(frame.duration));
  stream.seconds = (ticks * num) / den + (frame.nbSamples > 0 ? frame.nbSamples / encoder.sampleRate : 0);
  check(ffmpeg, encoder.sendFrameSync(frame), "an encoder");
  frame.unref();
}

export function setOptions(
  ffmpeg: Ffmpeg,
  target: Pick<CodecContext | FormatContext, "setOption">,
  options: FfmpegOptions,
): void {
  const { AV_OPT_TYPE_STRING, AV_OPT_SEARCH_CHILDREN } = ffmpeg.constants;
  for (const [name, value] of Object.entries(options)) {
    check(ffmpeg, target.setOption(name, value, AV_OPT_TYPE_STRING, AV_OPT_SEARCH_CHILDREN), `the option ${name}`);
  }
}

export function check({ lib }: Ffmpeg, code: number, what: string): void {
  if (code < 0) throw new MediaError("failed", `FFmpeg fails at ${what}: ${lib.FFmpegError.strerror(code)}`);
}
