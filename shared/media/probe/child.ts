/** A child that looks at media and documents: what a stranger's bytes make it do stays in it. */
import { serveTasks } from "#shared/children/serve-tasks.ts";

import { countPdfPages } from "./pdf.ts";
import { probeAudio } from "./probe.ts";
import { probeVideo } from "./video.ts";

/** A file is mapped, so it costs no memory; other bytes come as the one part. */
function bytesOf(input: unknown, [part]: readonly Uint8Array[]): Uint8Array {
  return part ?? Bun.mmap((input as { readonly path: string }).path);
}

await serveTasks({
  audio: (input, parts) => Promise.resolve({ output: probeAudio(bytesOf(input, parts)) }),
  video: (input, parts) => Promise.resolve({ output: probeVideo(bytesOf(input, parts)) }),
  "pdf pages": (input, [bytes = new Uint8Array()]) =>
    Promise.resolve({ output: countPdfPages(bytes, (input as { readonly pagesMax: number }).pagesMax) }),
});
