/** One running service for all that is heard: speech, transcriptions, music. */
import { type Bench, startBench } from "../bench.ts";

let started: Promise<Bench> | undefined;

export function sharedBench(): Promise<Bench> {
  started ??= startBench({ pools: ["audio", "image"] });
  return started;
}
