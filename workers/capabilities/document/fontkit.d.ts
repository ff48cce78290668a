/** Type declarations for the part of fontkit that pdf-lib needs. The package itself has no types. */
declare module "fontkit" {
  import type { Fontkit } from "@cantoo/pdf-lib";

  export const create: Fontkit["create"];
}
