/** The examples of capabilities that the gate leaves out. */
import { beforeAll } from "bun:test";

import { testExamples } from "./examples.ts";
import { tools } from "./in-folder.ts";

// The first worker of a machine unpacks its browser, which takes a minute where all cores are busy.
beforeAll(() => tools(), 90_000);

testExamples("verify");
