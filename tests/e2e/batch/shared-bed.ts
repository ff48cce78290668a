/** One running service for all stories of this folder, whose workspaces are their own. */
import { type Bed, startBed } from "#tests/faults/bed.ts";

let started: Promise<Bed> | undefined;

export function sharedBed(): Promise<Bed> {
  started ??= startBed({
    apart: false,
    ingress: 2,
    pools: ["chat", "image", "audio", "video", "3d"],
    behaviours: ["tokens-20000", "unauthorized", "delay-60000", "delay-2000", "refusal", "rate-limit"],
    // Messages may take half of a window.
    presets: { six: [6, null], few: [1, null] },
    env: { SLUICE_SANDBOX: "on", SLUICE_WORKER_SLOTS: "32" },
  });
  return started;
}
