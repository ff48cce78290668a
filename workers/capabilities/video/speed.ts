import { MediaError } from "#shared/children/media-error.ts";

import { tempo } from "../audio/tempo.ts";
import { flag, number } from "../params.ts";

import { FPS_MIN } from "./facts.ts";
import { type Before, videoCapability, type VideoOperation } from "./operation.ts";
import { atRate, onAudio, onVideo, type Scene, secondsOf } from "./scene.ts";
import { VIDEO_FPS_MAX, VIDEO_HELD_BYTES_MAX } from "./limits.ts";

const params = {
  rate: number("Speed factor: 2 is twice as fast, 0.5 half as fast.", { min: 0.25, max: 4, default: 1 }),
  reverse: flag("Play the video backwards.", false),
  keep_pitch: flag("Keep the pitch of the audio. If false, the pitch changes with the speed.", true),
};

export const operation: VideoOperation<typeof params> = {
  params,
  keepsDepth: ({ reverse }) => !reverse,
  apply({ scene, facts }, { rate, reverse, keep_pitch: keepsPitch }) {
    const sampleRate = facts.audio?.sampleRate ?? 48_000;
    const seconds = scene.seconds / rate;
    // The frame rate stays the same: frames are dropped or repeated. Animations contain short and long frames, and their average rate would
    // drop the short ones.
    const fps = Math.max(FPS_MIN, scene.fps);
    const videoFilters = scene.fps > 0 ? atRate(scene, fps, rate) : [`setpts=PTS/${rate}`];
    const higher = [`aresample=${sampleRate}`, `asetrate=${Math.round(sampleRate * rate)}`, `aresample=${sampleRate}`];
    const audioFilters = rate === 1 ? [] : keepsPitch ? tempo(rate) : higher;
    const changed = onAudio(
      onVideo(scene, rate === 1 ? [] : videoFilters, rate === 1 ? {} : { seconds, fps, origin: undefined }),
      audioFilters,
    );
    return reverse ? reversed(changed, facts) : changed;
  },
};

/**
 * Reverses a video and its audio. All frames are buffered in memory.
 * @throws MediaError too_large
 */
function reversed(scene: Scene, { audio }: Before["facts"]): Scene {
  const [seconds, fps] = [secondsOf(scene), scene.fps > 0 ? Math.max(FPS_MIN, scene.fps) : VIDEO_FPS_MAX];
  const pictures = seconds * fps * scene.width * scene.height * 1.5;
  const sound = audio === null ? 0 : seconds * audio.sampleRate * audio.channels * 4;
  if (pictures + sound > VIDEO_HELD_BYTES_MAX) {
    const most = Math.floor((seconds * VIDEO_HELD_BYTES_MAX) / (pictures + sound));
    const got = `${scene.width} × ${scene.height} pixels, got ${Math.ceil(seconds)} s`;
    throw new MediaError("too_large", `Expected at most ${most} s to be played backwards of ${got}.`);
  }
  // A file may contain more frames than it states: these filters limit them to the checked number. Frames that begin late or end early are
  // held, so that they stay in sync with the audio.
  const whole = [...atRate(scene, fps), "tpad=stop=-1:stop_mode=clone", `trim=end=${seconds}`];
  const reversedVideo = onVideo(scene, [...whole, "format=yuv420p", "reverse"], { fps, origin: undefined });
  return onAudio(reversedVideo, [`apad=whole_dur=${seconds}`, `atrim=end=${seconds}`, "areverse"]);
}

export default videoCapability(operation, {
  id: "video.speed",
  display_name: "Change video speed",
  description: "Makes a video faster, slower or reversed, including its audio.",
  examples: [
    { title: "Reversed", params: { reverse: true } },
    { title: "Twice as fast, with a higher pitch", params: { rate: 2, keep_pitch: false } },
  ],
});
