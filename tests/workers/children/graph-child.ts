/** Prints a hash of one small H.264 file: a process of its own, so that a test can say what its fresh memory holds. */
import { H264, MP4 } from "#workers/children/filter-graph.ts";

import { written } from "#tests/providers/sandbox/media/video-footage.ts";

const bytes = await written({
  graph: "testsrc2=s=426x240:r=24:d=1,format=yuv420p[v]",
  streams: [{ label: "v", ...H264 }],
  output: MP4,
  secondsMax: 1,
});
process.stdout.write(String(Bun.hash(bytes)));
process.exit(0);
