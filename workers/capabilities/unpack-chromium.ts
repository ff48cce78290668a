/** Unpacks the packaged browser into the folder for temporary files. The worker starts this script with a separate temporary folder. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { inflate } from "@sparticuz/chromium";

const bin = join(dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")), "../bin");
for (const name of ["chromium.br", "swiftshader.tar.br", "al2023.tar.br"]) await inflate(join(bin, name));
