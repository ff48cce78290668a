import { MediaError } from "#shared/children/media-error.ts";

import { choice, number } from "../params.ts";
import { audioCapability, type AudioOperation } from "./operation.ts";
import { silencesOf } from "./silences.ts";

const params = {
  threshold: number("Level below which audio counts as silence.", { min: -90, max: -10, unit: "dB", default: -40 }),
  min_silence: number("Minimum duration of a silence in seconds; shorter ones are kept.", {
    min: 0.05,
    max: 10,
    unit: "s",
    default: 0.5,
  }),
  keep: number("Seconds of each silence to keep.", { min: 0, max: 1, unit: "s", default: 0.1 }),
  where: choice("Remove all silences, or only those at the start and the end.", ["all", "edges"], { default: "all" }),
};

export const operation: AudioOperation<typeof params> = {
  params,
  async apply(before, { threshold, min_silence: least, keep, where }) {
    const { seconds } = before;
    const silences = await silencesOf(before, threshold, least);
    const wanted =
      where === "all" ? silences : silences.filter(({ start, end }) => start < 0.05 || end > seconds - 0.05);
    const cuts = wanted
      .map(({ start, end }) => ({
        start: start < 0.05 ? 0 : start + keep / 2,
        end: end > seconds - 0.05 ? seconds : end - keep / 2,
      }))
      .filter(({ start, end }) => end > start);
    if (cuts.length === 0) return { filters: [], seconds };
    const gone = cuts.reduce((sum, { start, end }) => sum + end - start, 0);
    if (seconds > 0 && gone >= seconds) {
      throw new MediaError(
        "invalid",
        `Expected audio louder than params.threshold somewhere, got none above ${threshold} dB.`,
      );
    }
    const silent = cuts.map(({ start, end }) => `between(t\\,${start.toFixed(4)}\\,${end.toFixed(4)})`).join("+");
    return {
      filters: ["asetnsamples=n=256", `aselect=not(${silent})`, "asetpts=N/SR/TB"],
      seconds: Math.max(0, seconds - gone),
    };
  },
};

export default audioCapability(operation, {
  id: "audio.remove_silence",
  display_name: "Remove silence",
  description: "Removes or shortens silent passages.",
  examples: [
    { title: "All silences of half a second and more", params: {} },
    { title: "At the start and the end only", params: { where: "edges", keep: 0 } },
  ],
});
