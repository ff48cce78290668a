/** One running service, with all that the document describes, for the stories of this folder. */
import { startStack, type Stack } from "#tests/support/stack.ts";

export const OPERATOR_TOKEN = "an_operator_of_the_test";

let started: Promise<Stack> | undefined;

export function sharedStack(): Promise<Stack> {
  started ??= startStack({
    // Stories stop workers and janitors for a moment.
    apart: true,
    pools: ["chat", "image", "audio", "video", "3d", "capability", "workflow", "webhook"],
    env: { SLUICE_WORKER_SLOTS: "24", SLUICE_OUTBOUND_ALLOW: "127.0.0.1", SLUICE_OPERATOR_TOKEN: OPERATOR_TOKEN },
  });
  return started;
}
