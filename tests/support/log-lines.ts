/** Captures and parses the output of a logger. */
import { expect } from "bun:test";

import { createLogger, type Logger } from "#shared/base/logger.ts";

export type Line = Record<string, unknown> & { err?: Record<string, unknown> };

/** Runs `act` with a logger and returns the parsed lines. Fails if a line is not one JSON object. */
export function logged(act: (log: Logger) => void, secrets: readonly string[] = []): Line[] {
  const lines: string[] = [];
  act(createLogger({ level: "trace", role: "test", write: (line) => lines.push(line), secrets }));
  return lines.map((line) => {
    expect(line.endsWith("\n")).toBe(true);
    expect(line.trimEnd()).not.toContain("\n");
    return JSON.parse(line) as Line;
  });
}

/** Returns the only line that `act` writes. */
export function one(act: (log: Logger) => void, secrets: readonly string[] = []): Line {
  const lines = logged(act, secrets);
  expect(lines).toHaveLength(1);
  return lines[0] ?? {};
}
