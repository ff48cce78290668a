/** A video: begun, asked after until it is done, collected. */
import { setTimeout as delay } from "node:timers/promises";

import type { Job } from "#schemas/generated/types.ts";
import { parseCredits } from "#shared/money.ts";

import type { Call, Stage } from "../call.ts";

const VIDEO = "a sailing boat passes a lighthouse at sunset";
const PAUSE_MS = 500;
/** Providers' slowest models need some ten minutes. */
const DONE_WITHIN_MS = 20 * 60_000;

export const video: Call = {
  name: "video",
  title: "Video",
  model: "sandbox-video",
  async run(stage) {
    const body = { model: stage.model, prompt: VIDEO, duration: 4, resolution: "720p", seed: 7 };
    const { id } = await stage.client.sdk.post<Job>("/videos/generations", { body });
    const job = await endOf(stage, id);
    const fileId = job.data?.[0]?.["file_id"];
    if (job.status !== "completed" || typeof fileId !== "string" || job.credits_used === undefined) {
      throw new Error(`the video is ${job.status}: ${job.error?.code ?? ""} ${job.error?.message ?? ""}`);
    }
    return {
      receipts: [{ id, credits: parseCredits(String(job.credits_used)) }],
      artifacts: [{ file: "video.mp4", bytes: await stage.client.download(fileId) }],
      fileId,
      text: VIDEO,
    };
  },
};

async function endOf({ client, tell }: Stage, id: string): Promise<Job> {
  for (const began = Date.now(); Date.now() - began < DONE_WITHIN_MS; await delay(PAUSE_MS)) {
    const job = await client.sdk.get<Job>(`/videos/generations/${id}`);
    if (job.status !== "queued" && job.status !== "processing") return job;
    tell(`${job.status}, ${Math.round(job.progress * 100)} %`);
  }
  throw new Error(`the video is not done after ${DONE_WITHIN_MS / 60_000} minutes; it goes on as job ${id}`);
}
