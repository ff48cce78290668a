/**
 * Loaded into Portkey's process before its own code. Portkey 1.15.2 adds headers to the upstream's answer; with the
 * version of @hono/node-server its range installs today that fails for every stream ("TypeError: immutable", 500).
 * Giving streams headers that may be changed lets the comparison include them; plain answers pass untouched.
 */
const fetchOfNode = globalThis.fetch;

globalThis.fetch = async (...args) => {
  const answer = await fetchOfNode(...args);
  if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) return answer;
  return new Response(answer.body, { status: answer.status, headers: new Headers(answer.headers) });
};
