/** What is done differently for one kind of job than for another. */

/**
 * Work that a provider which queues it may have been paid for although its answer was lost: it is worth waiting for a verdict.
 * Text and speech leave nothing to ask for later.
 */
const ASKED_LATER: ReadonlySet<string> = new Set(["images", "image_edits", "video", "music", "mesh"]);

export function mayBePaidUnseen(kind: string): boolean {
  return ASKED_LATER.has(kind);
}
