/** Processes that are led to each failpoint, and die there. */
import type { Failpoint } from "#shared/base/failpoint.ts";

/** Process that dies, and the work at which it does. */
type Scene =
  | "image worker"
  | "chat worker"
  | "ingress, image"
  | "ingress, chat"
  | "ingress, upload"
  | "ingress, failed upload"
  | "webhook worker"
  | "workflow worker"
  | "step worker"
  | "ingress, run"
  | "ingress, response"
  | "response worker"
  | "ingress, batch"
  | "janitor";

/** Every failpoint there is: one that is new does not compile until it stands here. */
const SCENES: Readonly<Record<Failpoint, readonly Scene[]>> = {
  "request.stored": ["ingress, image", "ingress, chat"],
  "call.admitted": ["ingress, chat"],
  "call.dispatched": ["ingress, chat"],
  "call.served": ["chat worker"],
  "call.answered": ["chat worker"],
  "call.taken": ["ingress, chat"],
  "call.settled": ["chat worker"],
  "job.admitted": ["ingress, image"],
  "job.dispatched": ["ingress, image", "janitor"],
  "job.claimed": ["image worker"],
  "job.intended": ["image worker"],
  "job.begun": ["image worker"],
  "job.noted": ["image worker"],
  "job.made": ["image worker"],
  "artifact.fetched": ["image worker"],
  "artifact.kept": ["image worker"],
  "job.served": ["image worker"],
  "job.ended": ["image worker"],
  "job.told": ["image worker"],
  "job.acknowledged": ["image worker"],
  "job.collected": ["ingress, image"],
  "job.concluded": ["janitor"],
  "job.recorded": ["janitor"],
  "response.kept": ["ingress, response"],
  "response.answered": ["response worker"],
  "run.inserted": ["ingress, run"],
  "run.saved": ["workflow worker"],
  "step.started": ["workflow worker"],
  "step.continued": ["step worker"],
  "run.ended": ["workflow worker"],
  "batch.taken": ["ingress, batch"],
  "batch.stored": ["ingress, batch"],
  "batch.written": ["ingress, batch"],
  "delivery.claimed": ["webhook worker"],
  "delivery.sent": ["webhook worker"],
  "delivery.ended": ["webhook worker"],
  "upload.begun": ["ingress, upload", "image worker"],
  "upload.reserved": ["ingress, upload", "image worker"],
  "upload.stored": ["ingress, upload", "image worker"],
  "upload.finished": ["ingress, upload", "image worker"],
  "upload.ended": ["ingress, failed upload"],
  "bytes.erased": ["ingress, failed upload", "janitor"],
};

export function failpointsOf(scene: Scene): Failpoint[] {
  return (Object.keys(SCENES) as Failpoint[]).filter((name) => SCENES[name].includes(scene));
}
