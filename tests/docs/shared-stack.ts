/** One running service for the pages whose examples are run. */
import { startStack, type Stack } from "#tests/support/stack.ts";

let started: Promise<Stack> | undefined;

export function sharedStack(): Promise<Stack> {
  started ??= startStack({ pools: ["chat", "image", "audio", "video", "3d", "capability", "workflow"] });
  return started;
}
