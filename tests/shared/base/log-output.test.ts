import { expect, test } from "bun:test";

import { createLogOutput, hotLine } from "#shared/base/log-output.ts";
import { createLogger } from "#shared/base/logger.ts";

function linesOf(level: "info" | "warn") {
  const lines: string[] = [];
  const log = createLogger({ level, role: "test", write: (line) => lines.push(line) }).child({ pool: "chat" });
  return { log, lines };
}

test("a preformatted line equals any other line of its logger, character for character", () => {
  const { log, lines } = linesOf("info");
  const members = { request_id: "01a2", ms: 1.5, route: '/v1/"x"' };
  log.info(members, 'it\'s "served"');
  hotLine(log, 'it\'s "served"')(members);
  const [usual, hot] = lines.map((line) => line.replace(/"time":"[^"]+"/, '"time":""'));
  expect(hot).toBe(usual as string);
  expect(Math.abs(Date.parse((JSON.parse(lines[1] ?? "") as { time: string }).time) - Date.now())).toBeLessThan(60_000);
});

test("a preformatted line is not written below its logger's level", () => {
  const { log, lines } = linesOf("warn");
  hotLine(log, "served")({ ms: 1 });
  expect(lines).toEqual([]);
});

test.each([
  ["ENOSPC", ["later\n"]],
  ["EIO", ["later\n"]],
  ["EPIPE", []],
])("bytes that a write failing with %s did not accept are lost, and later ones are %j", (code, later) => {
  const written: string[] = [];
  let isFull = true;
  const output = createLogOutput((bytes) => {
    if (isFull) throw Object.assign(new Error(code), { code });
    return written.push(Buffer.from(bytes).toString()) && bytes.length;
  });
  output.write("earlier\n");
  output.flush();
  isFull = false;
  output.write("later\n");
  output.flush();
  expect(written).toEqual(later);
});
