/** Child process that probes media and documents. It isolates the service from untrusted bytes. */
import { serveTasks } from "#shared/children/serve-tasks.ts";

import { countPdfPages } from "./pdf.ts";
import { probeAudio } from "./probe.ts";
import { probeVideo } from "./video.ts";

/**
 * Returns the bytes of an input. A file is mapped from disk and uses no memory. Bytes in memory are the first binary part of the task's
 * message.
 */
function bytesOf(input: unknown, [part]: readonly Uint8Array[]): Uint8Array {
  return part ?? Bun.mmap((input as { readonly path: string }).path);
}

await serveTasks({
  audio: (input, parts) => Promise.resolve({ output: probeAudio(bytesOf(input, parts)) }),
  video: (input, parts) => Promise.resolve({ output: probeVideo(bytesOf(input, parts)) }),
  "pdf pages": (input, [bytes = new Uint8Array()]) =>
    Promise.resolve({ output: countPdfPages(bytes, (input as { readonly pagesMax: number }).pagesMax) }),
});
