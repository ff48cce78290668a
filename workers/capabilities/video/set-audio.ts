import { MediaError } from "#shared/children/media-error.ts";
import { fileSource } from "#workers/children/file-source.ts";

import { type AudioFacts, probeAudio, shapeFilters } from "../audio/graph.ts";
import { choice, flag, number, type ParamsOf } from "../params.ts";

import { videoCapability, type VideoOperation } from "./operation.ts";
import { muted, onAudio, onVideo, secondsOf, withSound } from "./scene.ts";

const params = {
  mode: choice("Handling of the video's own audio.", ["replace", "mix", "mute"], {
    default: "replace",
    labels: { replace: "Replace", mix: "Mix", mute: "Mute" },
  }),
  volume: number("Gain of the added audio in dB; negative values make it quieter.", {
    min: -60,
    max: 20,
    unit: "dB",
    default: 0,
  }),
  loop: flag("Repeat the added audio until the video ends.", false),
  length: choice(
    "Duration of the result: that of the video (padded with silence), or of the shorter input.",
    ["video", "shortest"],
    {
      default: "video",
    },
  ),
};

const RATE = 48_000;

export const operation: VideoOperation<typeof params> = {
  params,
  keepsDepth: () => true,
  second: {
    member: "audio",
    kind: "audio",
    description: "The audio. Not used with `mode: mute`.",
    isOptional: true,
    sample: { file_id: "file-sample-tune" },
  },
  async apply({ scene, second }, wanted) {
    if (wanted.mode === "mute") return muted(scene);
    if (!second) throw new MediaError("invalid", `Expected input.audio with params.mode ${wanted.mode}, got none.`);
    const audio = await probeAudio(second);
    const all = secondsOf(scene);
    const isCut = wanted.length === "shortest" && !wanted.loop && audio.seconds > 0 && audio.seconds < all;
    const seconds = isCut ? audio.seconds : all;
    const cutScene = isCut ? onVideo(scene, [`trim=end=${seconds}`], { seconds }) : scene;
    const sound = soundOf(audio, wanted, seconds);
    if (wanted.mode === "replace" || cutScene.audio === null) return withSound(cutScene, sound);
    const shaped = onAudio(cutScene, [shapeFilters(cutScene.channels ?? 2, RATE, 2)]);
    const mixed = `amix=inputs=2:duration=longest:normalize=0,alimiter=limit=0.98:level=0,atrim=end=${seconds}`;
    return withSound(shaped, sound, mixed);
  },
};

/**
 * Returns the filters that bring new audio to the length of the video. Longer audio is cut, and shorter audio is repeated or followed by
 * silence.
 */
function soundOf({ source, channels }: AudioFacts, { loop, volume }: ParamsOf<typeof params>, seconds: number): string {
  return [
    fileSource("audio", source, loop ? 0 : 1),
    // Times restart with each repetition of a loop.
    "asetpts=N/SR/TB",
    shapeFilters(channels, RATE, 2),
    ...(volume === 0 ? [] : [`volume=${volume}dB`]),
    `atrim=end=${seconds}`,
    `apad=whole_dur=${seconds}`,
  ].join(",");
}

export default videoCapability(operation, {
  id: "video.set_audio",
  display_name: "Set video audio",
  description: "Replaces the audio of a video, mixes other audio into it, or mutes it.",
  examples: [
    { title: "Other audio", params: {} },
    { title: "Quiet background music in a loop", params: { mode: "mix", volume: -12, loop: true } },
  ],
});
