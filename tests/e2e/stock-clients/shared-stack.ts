/** One running service for all stories of this folder: starting one for each takes longer than most of them. */
import { startStack, type Stack } from "#tests/support/stack.ts";

let started: Promise<Stack> | undefined;

export function sharedStack(): Promise<Stack> {
  started ??= startStack({ janitor: false });
  return started;
}
