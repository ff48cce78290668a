/** One running service for all stories of this folder, whose workspaces are their own. */
import { type Bed, startBed } from "#tests/faults/bed.ts";

let started: Promise<Bed> | undefined;

export function sharedBed(): Promise<Bed> {
  started ??= startBed({
    apart: false,
    ingress: 2,
    pools: ["chat", "workflow"],
    behaviours: ["stall", "server-error"],
    models: [{ slug: "dear", sources: ["openai/upstream"], outputPrice: 2_000 }],
    presets: { narrow: [4, 1_000_000], thirty: [30, null] },
  });
  return started;
}
