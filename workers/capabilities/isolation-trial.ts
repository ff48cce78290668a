/** Whether a child can do its work here: load its code, and write into the folder that it is given. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder = ""] = process.argv.slice(2);
process.chdir(folder);
writeFileSync(join(folder, "written"), "yes");
await import("./list.ts");
