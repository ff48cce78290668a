/** One running service for the pages whose examples are tried. */
import { startStack, type Stack } from "#tests/support/stack.ts";

let started: Promise<Stack> | undefined;

export function sharedStack(): Promise<Stack> {
  started ??= startStack();
  return started;
}
