// @ts-check
/**
 * Ends this process when the one that started it is gone: the parent holds the other end of stdin, so the pipe closes
 * with it, whatever it died of.
 */
export function endWithParent() {
  const end = () => process.exit(0);
  process.stdin.on("end", end);
  process.stdin.on("close", end);
  process.stdin.on("error", end);
  process.stdin.resume();
}
