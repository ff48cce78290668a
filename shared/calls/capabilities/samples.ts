/**
 * Small sample files that every workspace can read. They count towards no storage quota, and the examples in the list of capabilities use
 * them.
 */
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

interface Sample {
  readonly mediaType: string;
  readonly name: string;
}

/** Sample files by id. deploy/samples.ts generates the files. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  "file-sample-photo": { mediaType: "image/jpeg", name: "photo.jpg" },
  "file-sample-chart": { mediaType: "image/png", name: "chart.png" },
  "file-sample-clip": { mediaType: "video/mp4", name: "clip.mp4" },
  "file-sample-tune": { mediaType: "audio/mpeg", name: "tune.mp3" },
  "file-sample-bundle": { mediaType: "application/zip", name: "bundle.zip" },
  "file-sample-scan": { mediaType: "image/png", name: "scan.png" },
  "file-sample-report": { mediaType: "application/pdf", name: "report.pdf" },
  "file-sample-letter": {
    mediaType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    name: "letter.docx",
  },
  "file-sample-sheet": {
    mediaType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    name: "sheet.xlsx",
  },
};

export const SAMPLES_CREATED = new Date(Date.UTC(2026, 10, 23));

/** Ids of the samples. */
export const SAMPLE_FILES: readonly string[] = Object.keys(SAMPLES);

export interface SampleFile extends Sample {
  readonly bytes: number;
  readonly read: () => Uint8Array<ArrayBuffer>;
}

export function isSampleFile(id: string): boolean {
  return Object.hasOwn(SAMPLES, id);
}

/** Returns a sample file with its bytes; undefined if no sample has the id. */
export function sampleFile(id: string): SampleFile | undefined {
  const sample = isSampleFile(id) ? SAMPLES[id] : undefined;
  if (!sample) return undefined;
  const path = fileURLToPath(new URL(`samples/${sample.name}`, import.meta.url));
  return { ...sample, bytes: statSync(path).size, read: () => readFileSync(path) };
}
